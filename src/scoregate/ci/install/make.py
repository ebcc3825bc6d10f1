"""Follow a recipe, and add our SDK where the project does not bring it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from importlib.metadata import distribution
from time import perf_counter

from scoregate import __version__
from scoregate.ci.child import Child, End, Tail, run_child
from scoregate.ci.install.recipes import Recipe
from scoregate.ci.install.site import Site
from scoregate.ci.settings import Settings
from scoregate.errors import InstallError

_SDK = "import scoregate.testing.run"
_LONGEST_WORD = 200
_ADVICE = (
    "Try the same command on your machine. `install` chooses another way: uv-sync, requirements, none, or a command; "
    "`python_version` another Python."
)


async def make(recipe: Recipe, site: Site, settings: Settings) -> None:
    """Make the environment.

    Raises:
        InstallError: a step failed, or took longer than a suite may.
    """
    started = perf_counter()
    site.open()
    uv, python = site.uv(), str(site.python)
    for step in recipe.steps:
        words = tuple(_filled(word, {"{uv}": uv, "{venv}": str(site.venv), "{python}": python}) for word in step)
        await _step(words, recipe, site, settings)
    if (await _run((python, "-I", "-c", _SDK), site, settings, hear=_nothing)).exit_code:
        await _step((uv, "pip", "install", "--python", python, sdk_requirement()), recipe, site, settings)
    site.say(site.redact.text(f"environment made from {recipe.why} in {perf_counter() - started:.1f} s"))


def _filled(word: str, places: dict[str, str]) -> str:
    return places.get(word, word)


def _nothing(_line: str) -> None:
    return None


async def _step(words: tuple[str, ...], recipe: Recipe, site: Site, settings: Settings) -> None:
    named = shlex.join(("uv", *words[1:]) if words[0].endswith("/uv") else words)
    command = site.redact.text(named)[:_LONGEST_WORD]
    tail = Tail()

    def hear(line: str) -> None:
        tail.add(line)
        site.say(line)

    site.say(f"$ {command}")
    try:
        end = await _run(words, site, settings, hear=hear)
    except OSError as error:
        raise InstallError(f"cannot start {words[0]!r}: {error.strerror}", advice=_ADVICE) from None
    if end.exit_code or end.timed_out:
        how = f"took more than {settings.timeout:g} s" if end.timed_out else f"ended with exit code {end.exit_code}"
        whence = f"install = {settings.install!r} ({settings.origin('install')}), made from {recipe.why}"
        said = "\n".join(f"  | {line}" for line in str(tail).splitlines())
        told = f"the suites' environment cannot be made: `{command}` {how}; {whence}\n{said}"
        raise InstallError(site.redact.text(told), advice=_ADVICE)


async def _run(words: tuple[str, ...], site: Site, settings: Settings, *, hear: Callable[[str], None]) -> End:
    child = Child(words, site.root, site.environment(), str(site.venv), site.identity, settings.timeout)
    return await run_child(child, hear, site.redact)


def sdk_requirement() -> str:
    """Our own distribution, as pip and uv name it: from where we were installed ourselves, so that versions agree."""
    told = distribution("scoregate").read_text("direct_url.json")
    if told is None:
        return f"scoregate=={__version__}"
    origin = json.loads(told)
    if vcs := origin.get("vcs_info"):
        return f"scoregate @ {vcs['vcs']}+{origin['url']}@{vcs['commit_id']}"
    return f"scoregate @ {origin['url']}"
