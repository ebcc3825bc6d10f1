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

AUTO, NONE, NODE = "auto", "none", "node"
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
        print_line: prints a line.
        identity: the user that makes it; None for the host's own.
        automatic: whether `install = "auto"` makes one.
        host_python_is_fallback: whether scoregate's own interpreter is the only alternative.
    """

    root: Path
    scratch: Path
    environ: Mapping[str, str]
    redact: Redactor
    print_line: Callable[[str], None]
    identity: Identity | None = None
    automatic: bool = False
    host_python_is_fallback: bool = False

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
        path = os.pathsep.join((str(Path(sys.executable).parent), self.environ.get("PATH", os.defpath)))
        if (program := shutil.which("uv", path=path)) is None:
            raise InstallError(
                "scoregate needs uv to create the environment of the suites, but uv is not installed",
                advice="Install it (`pip install uv`), or set `install` to none.",
            )
        return program

    def environment(self) -> dict[str, str]:
        """The variables of the commands: the visible ones, the environment to fill, and pip's indexes for uv."""
        visible = visible_environment(self.environ)
        indexes = {uv_name: visible[pip_name] for pip_name, uv_name in _PIP_TO_UV.items() if pip_name in visible}
        return {**indexes, "UV_LINK_MODE": "copy", **visible, **_QUIET, **self.activated()}

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


async def prepare_environment(spec: VenvSpec, settings: Settings, *, dry: bool = False) -> Interpreter:
    """Make the suites' environment if the settings ask for one, and find the interpreter that runs them.

    A named interpreter (`python`) is used, and then `install = "auto"` makes nothing.

    Args:
        spec: where the environment is made.
        settings: the settings of the project.
        dry: make nothing, only find what would run.

    Raises:
        InstallError: the environment can't be made.
        SettingsError: the named interpreter does not exist.
    """
    makes_one = settings.install != AUTO
    if not makes_one and spec.automatic and settings.python is None:
        # `auto` makes one in the action, unless an earlier step made one.
        own_python = (sys.executable,)
        makes_one = (
            spec.host_python_is_fallback or find_interpreter(spec.root, {**spec.environ, "PATH": ""}).argv == own_python
        )
    plan = find_install_plan(spec.root, settings) if makes_one else None
    if plan is not None and not dry:
        await create_environment(plan, spec, settings)
    if plan is not None and settings.python is None:
        return Interpreter((str(spec.python),), f"an environment made from {plan.why}", spec.activated())
    if settings.python is None and spec.host_python_is_fallback:
        path = f"{Path(sys.executable).parent}{os.pathsep}{spec.environ.get('PATH', os.defpath)}"
        return Interpreter((sys.executable,), "scoregate's own, because there is nothing to install", {"PATH": path})
    return find_interpreter(spec.root, spec.environ, named=settings.python, origin=settings.origin("python"))


async def create_environment(plan: InstallPlan, spec: VenvSpec, settings: Settings) -> None:
    """Make the environment.

    Raises:
        InstallError: a step failed, or took longer than a suite may.
    """
    started = perf_counter()
    spec.open()
    uv, python = spec.uv(), str(spec.python)
    places = {"{uv}": uv, "{venv}": str(spec.venv), "{python}": python}
    for step in plan.steps:
        words = tuple(places.get(word, word) for word in step)
        await _run_step(words, plan, spec, settings)
    if (await _run((python, "-I", "-c", _IMPORT_SDK), spec, settings, on_line=lambda _: None)).exit_code:
        await _run_step((uv, "pip", "install", "--python", python, sdk_requirement()), plan, spec, settings)
    spec.print_line(spec.redact.text(f"environment made from {plan.why} in {perf_counter() - started:.1f} s"))


async def _run_step(words: tuple[str, ...], plan: InstallPlan, spec: VenvSpec, settings: Settings) -> None:
    text = shlex.join(("uv", *words[1:]) if words[0].endswith("/uv") else words)
    command = spec.redact.text(text)[:_LONGEST_COMMAND]
    tail = OutputTail()

    def on_line(line: str) -> None:
        tail.add(line)
        spec.print_line(line)

    spec.print_line(f"$ {command}")
    try:
        end = await _run(words, spec, settings, on_line=on_line)
    except OSError as error:
        raise InstallError(f"can't start {words[0]!r}: {error.strerror}", advice=_ADVICE) from None
    if end.exit_code or end.timed_out:
        how = f"took more than {settings.timeout:g} s" if end.timed_out else f"ended with exit code {end.exit_code}"
        origin = f"install = {settings.install!r} ({settings.origin('install')}), made from {plan.why}"
        output = "\n".join(f"  | {line}" for line in str(tail).splitlines())
        message = f"the suites' environment can't be made: `{command}` {how}; {origin}\n{output}"
        raise InstallError(spec.redact.text(message), advice=_ADVICE)


async def _run(
    words: tuple[str, ...], spec: VenvSpec, settings: Settings, *, on_line: Callable[[str], None]
) -> ChildExit:
    child = ChildProcess(words, spec.root, spec.environment(), str(spec.venv), spec.identity, settings.timeout)
    return await run_child(child, on_line, spec.redact)


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
        for make_plan in (_plan_uv_sync, _plan_requirements, _plan_project):
            if (plan := make_plan(root, version)) is not None:
                return plan
        return InstallPlan((_venv_command(version),), f"Python {version[-1]} alone") if version else None
    if settings.install in (NONE, NODE):
        return None
    if is_shell_command(settings.install):
        return InstallPlan((_venv_command(version, "--seed"), ("sh", "-ec", settings.install)), f"`{settings.install}`")
    if (plan := _INSTALLERS[settings.install](root, version)) is None:
        files = _REQUIRED_FILES[settings.install]
        raise InstallError(
            f"install = {settings.install!r} ({settings.origin('install')}), but {root} has no {files}",
            advice="Add it, name another folder with `working_directory`, or set `install` to auto.",
        )
    return plan


def is_shell_command(install: str) -> bool:
    """Whether the setting `install` is a shell command."""
    return install not in (AUTO, NONE, NODE, *_INSTALLERS)


def _plan_uv_sync(root: Path, version: Words) -> InstallPlan | None:
    if not (root / LOCK).is_file():
        return None
    return InstallPlan((("{uv}", "sync", "--frozen", *version),), LOCK)


def _plan_requirements(root: Path, version: Words) -> InstallPlan | None:
    files = [name for name in REQUIREMENTS if (root / name).is_file()]
    if not files:
        return None
    options = [word for name in files for word in ("-r", name)]
    return InstallPlan((_venv_command(version), ("{uv}", "pip", "install", *_PYTHON, *options)), " and ".join(files))


def _plan_project(root: Path, version: Words) -> InstallPlan | None:
    try:
        has_project = "project" in tomllib.loads((root / PROJECT).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None
    install = ("{uv}", "pip", "install", *_PYTHON, "-r", PROJECT)
    return InstallPlan((_venv_command(version), install), PROJECT) if has_project else None


def _venv_command(version: Words, *more: str) -> Words:
    return ("{uv}", "venv", *version, *more, "{venv}")


_INSTALLERS: Mapping[str, PlanInstall] = {"uv-sync": _plan_uv_sync, "requirements": _plan_requirements}
_REQUIRED_FILES = {"uv-sync": LOCK, "requirements": " or ".join(REQUIREMENTS)}
