"""Prepare what suites run in: Python, Node.js, and the packages of both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.errors import InstallError
from scoregate.features.setup.declare import INSTALL
from scoregate.features.setup.environment import VenvSpec, prepare_environment
from scoregate.features.setup.install import NODE, NONE
from scoregate.kernel.host.runner import find_workspace
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import SuiteSource

if TYPE_CHECKING:
    from scoregate.features.setup.javascript import JavaScript


async def prepare_suites(
    spec: VenvSpec, settings: Settings, sources: Sequence[SuiteSource], *, dry: bool = False
) -> Interpreter:
    """Make the environment of the suites, and find the Python that runs them.

    Args:
        spec: where the environment is made.
        settings: the settings of the project.
        sources: the suites.
        dry: make nothing, only find what would run.

    Raises:
        InstallError: the environment can't be made.
        SettingsError: the named interpreter does not exist.
    """
    javascript = _find_javascript(spec, settings, sources)
    if javascript is None:
        return await prepare_environment(spec, settings, dry=dry)
    if dry:
        interpreter = await prepare_environment(spec, settings, dry=True)
        return replace(interpreter, notes=(*interpreter.notes, *javascript.describe()))
    from scoregate.features.setup.javascript import Installer

    installer = Installer(
        spec.scratch,
        spec.environment(),
        spec.redact,
        spec.print_line,
        spec.identity,
        settings.timeout,
        f"install = {INSTALL.of(settings)!r} ({settings.origin('install')})",
    )
    base = path = spec.environ.get("PATH", os.defpath)
    # Node.js comes first: an `install` command may use it.
    try:
        node_bin = await javascript.node.provide(installer, spec.uv, spec.root)
    except InstallError as error:
        if javascript.is_needed:
            raise
        installer.report(f"going on without Node.js: {error.message}")
        return await prepare_environment(spec, settings)
    if node_bin is not None:
        path = f"{node_bin}{os.pathsep}{base}"
    interpreter = await prepare_environment(replace(spec, environ={**spec.environ, "PATH": path}), settings)
    folders = await javascript.install_packages(installer, node_bin)
    return _add_to_path(interpreter, folders, base=path)


def _find_javascript(spec: VenvSpec, settings: Settings, sources: Sequence[SuiteSource]) -> JavaScript | None:
    """What suites need of JavaScript; None if the settings don't ask for it. `auto` asks for it in the action only."""
    install = INSTALL.of(settings)
    forced = install == NODE
    if install == NONE or not (forced or spec.automatic):
        return None
    from scoregate.features.setup.install.plans import is_shell_command
    from scoregate.features.setup.javascript import find_javascript, names_node

    top, path = find_workspace(spec.environ), spec.environ.get("PATH", os.defpath)
    is_command = is_shell_command(install)
    uses_node = is_command and names_node(install)
    return find_javascript(
        spec.root, top, sources, path=path, with_packages=not is_command, forced=forced, needs_node=uses_node
    )


def _add_to_path(interpreter: Interpreter, folders: Sequence[Path], *, base: str) -> Interpreter:
    """Put folders before `base`, and after the folder of the Python environment."""
    own = interpreter.environment.get("PATH", base).removesuffix(base)
    path = own + os.pathsep.join((*map(str, folders), base))
    return replace(interpreter, environment={**interpreter.environment, "PATH": path})
