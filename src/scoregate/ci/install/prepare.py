"""The interpreter of the suites: that of an environment made for them, or one that is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from scoregate.ci.install.make import make
from scoregate.ci.install.recipes import AUTO, Recipe, find_recipe
from scoregate.ci.install.site import Site
from scoregate.ci.interpreter import Interpreter, find_interpreter
from scoregate.ci.settings import Settings


async def prepare(site: Site, settings: Settings, *, dry: bool = False) -> Interpreter:
    """Make the suites' environment where the settings want one, and say which interpreter runs them.

    A named interpreter (`python`) wins, and with `install = "auto"` then nothing is made.

    Args:
        dry: make nothing, say only what would be.

    Raises:
        InstallError: the environment cannot be made.
        SettingsError: the named interpreter does not exist.
    """
    recipe = _wanted(site, settings)
    if recipe is not None and not dry:
        await make(recipe, site, settings)
    if recipe is None or settings.python is not None:
        return _there(site, settings)
    return Interpreter((str(site.python),), f"an environment made from {recipe.why}", site.activated())


def _wanted(site: Site, settings: Settings) -> Recipe | None:
    if settings.install == AUTO and not _automatic(site, settings):
        return None
    return find_recipe(site.root, settings)


def _automatic(site: Site, settings: Settings) -> bool:
    """Whether `auto` means to make one: in CI's action, where nobody named one and no earlier step made one for us."""
    if not site.automatic or settings.python is not None:
        return False
    return site.own or find_interpreter(site.root, {**site.environ, "PATH": ""}).argv == (sys.executable,)


def _there(site: Site, settings: Settings) -> Interpreter:
    if settings.python is None and site.own:
        path = f"{Path(sys.executable).parent}{os.pathsep}{site.environ.get('PATH', os.defpath)}"
        return Interpreter((sys.executable,), "scoregate's own, since there is nothing to install", {"PATH": path})
    return find_interpreter(site.root, site.environ, named=settings.python, origin=settings.origin("python"))
