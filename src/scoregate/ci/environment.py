"""Prepare the Python environment that suites run in."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from time import perf_counter

from scoregate import __version__
from scoregate.ci.interpreter import Interpreter, find_interpreter
from scoregate.ci.process import ChildExit, ChildProcess, OutputTail, run_child, visible_environment
from scoregate.ci.secrets import Redactor
from scoregate.ci.settings import Settings
from scoregate.ci.user_ids import Identity
from scoregate.errors import InstallError

AUTO, NONE = "auto", "none"
LOCK, PROJECT = "uv.lock", "pyproject.toml"
REQUIREMENTS = ("requirements.txt", "evals/requirements.txt")
_PYTHON = ("--python", "{python}")


# uv reads its own variables only; a workflow that sets pip's expects both to use them.
_PIP_TO_UV = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "PIP_CERT": "SSL_CERT_FILE"}
_QUIET = {"UV_NO_PROGRESS": "1", "NO_COLOR": "1"}


_IMPORT_SDK = "import scoregate.testing.run"
_LONGEST_COMMAND = 200
_ADVICE = (
    "Try the same command on your machine. To install in another way, set `install` to uv-sync, requirements, none, or "
    "a command. To use another Python, set `python_version`."
)


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """Commands to run in the root, one after the other, and the reason for them.

    In the commands, `{uv}`, `{venv}` and `{python}` are replaced by uv, the environment's folder and its interpreter.
    """

    steps: tuple[tuple[str, ...], ...]
    why: str


Words = tuple[str, ...]
PlanInstall = Callable[[Path, Words], InstallPlan | None]


@dataclass(frozen=True, slots=True)
class VenvSpec:
    """Where an environment is made.

    Args:
        root: the project.
        scratch: a folder outside of it, in which the environment is made.
        environ: the environment of the commands.
        redact: removes known secrets from what is printed.
        say: prints a line.
        identity: the user that makes it; None for the host's own.
        automatic: whether `install = "auto"` makes one.
        own: whether scoregate's own interpreter is the only alternative.
    """

    root: Path
    scratch: Path
    environ: Mapping[str, str]
    redact: Redactor
    say: Callable[[str], None]
    identity: Identity | None = None
    automatic: bool = False
    own: bool = False

    @property
    def venv(self) -> Path:
        """The environment's folder."""
        return self.scratch / "suites" / "venv"

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / "bin" / "python"

    def uv(self) -> str:
        """The uv that was installed with scoregate, else the one on PATH.

        Raises:
            InstallError: there is none.
        """
        beside = os.pathsep.join((str(Path(sys.executable).parent), self.environ.get("PATH", os.defpath)))
        if (found := shutil.which("uv", path=beside)) is None:
            raise InstallError(
                "uv is not installed, which makes the environment of the suites",
                advice="Install it (`pip install uv`), or set `install` to none.",
            )
        return found

    def environment(self) -> dict[str, str]:
        """The variables of the commands: the visible ones, the environment to fill, and pip's indexes for uv."""
        seen = visible_environment(self.environ)
        indexes = {ours: seen[theirs] for theirs, ours in _PIP_TO_UV.items() if theirs in seen}
        return {**indexes, "UV_LINK_MODE": "copy", **seen, **_QUIET, **self.activated()}

    def activated(self) -> dict[str, str]:
        """The variables with which programs find the environment."""
        path = f"{self.venv / 'bin'}{os.pathsep}{self.environ.get('PATH', os.defpath)}"
        return {"UV_PROJECT_ENVIRONMENT": str(self.venv), "VIRTUAL_ENV": str(self.venv), "PATH": path}

    def open(self) -> None:
        """Create the folder that holds the environment, for the users that fill it and use it."""
        folder = self.venv.parent
        folder.mkdir(mode=0o700, exist_ok=True)
        if self.identity is not None:
            self.identity.share(folder)


async def prepare_environment(site: VenvSpec, settings: Settings, *, dry: bool = False) -> Interpreter:
    """Make the suites' environment if the settings ask for one, and find the interpreter that runs them.

    A named interpreter (`python`) is used, and then `install = "auto"` makes nothing.

    Args:
        site: where the environment is made.
        settings: of the project.
        dry: make nothing, only find what would run.

    Raises:
        InstallError: the environment can't be made.
        SettingsError: the named interpreter does not exist.
    """
    recipe = _choose_plan(site, settings)
    if recipe is not None and not dry:
        await create_environment(recipe, site, settings)
    if recipe is None or settings.python is not None:
        return _find_existing(site, settings)
    return Interpreter((str(site.python),), f"an environment made from {recipe.why}", site.activated())


def _choose_plan(site: VenvSpec, settings: Settings) -> InstallPlan | None:
    if settings.install == AUTO and not _is_automatic(site, settings):
        return None
    return find_install_plan(site.root, settings)


def _is_automatic(site: VenvSpec, settings: Settings) -> bool:
    """Whether `auto` makes one: in the action, if no interpreter is named and no earlier step made one."""
    if not site.automatic or settings.python is not None:
        return False
    return site.own or find_interpreter(site.root, {**site.environ, "PATH": ""}).argv == (sys.executable,)


def _find_existing(site: VenvSpec, settings: Settings) -> Interpreter:
    if settings.python is None and site.own:
        path = f"{Path(sys.executable).parent}{os.pathsep}{site.environ.get('PATH', os.defpath)}"
        return Interpreter((sys.executable,), "scoregate's own, because there is nothing to install", {"PATH": path})
    return find_interpreter(site.root, site.environ, named=settings.python, origin=settings.origin("python"))


async def create_environment(recipe: InstallPlan, site: VenvSpec, settings: Settings) -> None:
    """Make the environment.

    Raises:
        InstallError: a step failed, or took longer than a suite may.
    """
    started = perf_counter()
    site.open()
    uv, python = site.uv(), str(site.python)
    places = {"{uv}": uv, "{venv}": str(site.venv), "{python}": python}
    for step in recipe.steps:
        words = tuple(places.get(word, word) for word in step)
        await _run_step(words, recipe, site, settings)
    if (await _run((python, "-I", "-c", _IMPORT_SDK), site, settings, on_line=lambda _: None)).exit_code:
        await _run_step((uv, "pip", "install", "--python", python, sdk_requirement()), recipe, site, settings)
    site.say(site.redact.text(f"environment made from {recipe.why} in {perf_counter() - started:.1f} s"))


async def _run_step(words: tuple[str, ...], recipe: InstallPlan, site: VenvSpec, settings: Settings) -> None:
    named = shlex.join(("uv", *words[1:]) if words[0].endswith("/uv") else words)
    command = site.redact.text(named)[:_LONGEST_COMMAND]
    tail = OutputTail()

    def on_line(line: str) -> None:
        tail.add(line)
        site.say(line)

    site.say(f"$ {command}")
    try:
        end = await _run(words, site, settings, on_line=on_line)
    except OSError as error:
        raise InstallError(f"cannot start {words[0]!r}: {error.strerror}", advice=_ADVICE) from None
    if end.exit_code or end.timed_out:
        how = f"took more than {settings.timeout:g} s" if end.timed_out else f"ended with exit code {end.exit_code}"
        origin = f"install = {settings.install!r} ({settings.origin('install')}), made from {recipe.why}"
        output = "\n".join(f"  | {line}" for line in str(tail).splitlines())
        message = f"the suites' environment can't be made: `{command}` {how}; {origin}\n{output}"
        raise InstallError(site.redact.text(message), advice=_ADVICE)


async def _run(
    words: tuple[str, ...], site: VenvSpec, settings: Settings, *, on_line: Callable[[str], None]
) -> ChildExit:
    child = ChildProcess(words, site.root, site.environment(), str(site.venv), site.identity, settings.timeout)
    return await run_child(child, on_line, site.redact)


def sdk_requirement() -> str:
    """The requirement of scoregate for pip and uv, from the source that it was installed from itself."""
    direct_url = distribution("scoregate").read_text("direct_url.json")
    if direct_url is None:
        return f"scoregate=={__version__}"
    origin = json.loads(direct_url)
    if vcs := origin.get("vcs_info"):
        return f"scoregate @ {vcs['vcs']}+{origin['url']}@{vcs['commit_id']}"
    return f"scoregate @ {origin['url']}"


def find_install_plan(root: Path, settings: Settings) -> InstallPlan | None:
    """The plan that the settings name, or with `auto` the first that fits the project; None if none does.

    Raises:
        InstallError: the project does not have the files of the plan that is named.
    """
    version = ("--python", settings.python_version) if settings.python_version else ()
    if settings.install == AUTO:
        ways = (_plan_uv_sync, _plan_requirements, _plan_project, _plan_bare_python if version else _plan_nothing)
        return next((recipe for way in ways if (recipe := way(root, version)) is not None), None)
    if settings.install == NONE:
        return None
    if settings.install not in _INSTALLERS:
        return InstallPlan((_venv_command(version, "--seed"), ("sh", "-ec", settings.install)), f"`{settings.install}`")
    if (recipe := _INSTALLERS[settings.install](root, version)) is None:
        sought = _REQUIRED_FILES[settings.install]
        raise InstallError(
            f"install = {settings.install!r} ({settings.origin('install')}), but {root} has no {sought}",
            advice="Add it, name another folder with `working_directory`, or set `install` to auto.",
        )
    return recipe


def _plan_uv_sync(root: Path, version: Words) -> InstallPlan | None:
    if not (root / LOCK).is_file():
        return None
    return InstallPlan((("{uv}", "sync", "--frozen", *version),), LOCK)


def _plan_requirements(root: Path, version: Words) -> InstallPlan | None:
    there = [name for name in REQUIREMENTS if (root / name).is_file()]
    if not there:
        return None
    files = [word for name in there for word in ("-r", name)]
    return InstallPlan((_venv_command(version), ("{uv}", "pip", "install", *_PYTHON, *files)), " and ".join(there))


def _plan_project(root: Path, version: Words) -> InstallPlan | None:
    try:
        named = "project" in tomllib.loads((root / PROJECT).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None
    install = ("{uv}", "pip", "install", *_PYTHON, "-r", PROJECT)
    return InstallPlan((_venv_command(version), install), PROJECT) if named else None


def _plan_bare_python(_root: Path, version: Words) -> InstallPlan:
    return InstallPlan((_venv_command(version),), f"Python {version[-1]} alone")


def _plan_nothing(_root: Path, _version: Words) -> None:
    return None


def _venv_command(version: Words, *more: str) -> Words:
    return ("{uv}", "venv", *version, *more, "{venv}")


_INSTALLERS: Mapping[str, PlanInstall] = {"uv-sync": _plan_uv_sync, "requirements": _plan_requirements}
_REQUIRED_FILES = {"uv-sync": LOCK, "requirements": " or ".join(REQUIREMENTS)}
