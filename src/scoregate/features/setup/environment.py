"""Prepare the Python environment that suites run in."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from scoregate import __version__
from scoregate.errors import InstallError
from scoregate.features.setup.declare import INSTALL, INSTALL_GROUPS, PYTHON
from scoregate.features.setup.install import AUTO
from scoregate.features.setup.install.python_project import WantedGroups
from scoregate.features.setup.interpreter import find_interpreter
from scoregate.kernel.host.file_access import create_file
from scoregate.kernel.host.process import ChildExit, ChildProcess, OutputTail, run_child, visible_environment
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import mark_output

if TYPE_CHECKING:
    from scoregate.features.setup.install.plan import InstallPlan, Words

# uv reads its own variables only; a workflow that sets pip's expects both to use them.
_PIP_TO_UV = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "PIP_CERT": "SSL_CERT_FILE"}
_QUIET = {"UV_NO_PROGRESS": "1", "NO_COLOR": "1", "PDM_CHECK_UPDATE": "0", "PDM_IGNORE_SAVED_PYTHON": "1"}
_IMPORT_SDK = "import scoregate.testing.run"
_LONGEST_COMMAND = 200
_MOST_SHOWN = 10
_ADVICE = (
    "Try the same command on your machine. To install in another way, set `install` to a keyword of the settings "
    "reference, such as requirements or none, or to a command. To use another Python, set `python_version`."
)
_NOT_INSTALLED = (
    "The project itself could not be installed. Suites import its code from its folder and from src/; its entry points "
    "and its metadata are missing."
)


@record
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
    def requirements(self) -> Path:
        """The file with requirements that are made from the project's files."""
        return self.venv.with_name("requirements.txt")

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

    def open(self, requirements: str | None) -> None:
        """Create the folder that holds the environment, for the users that fill it and use it.

        Args:
            requirements: the content of the file with requirements; None for no file.
        """
        folder = self.venv.parent
        folder.mkdir(mode=0o700, exist_ok=True)
        # Once the folder is shared, other users can place links in it.
        if requirements is not None:
            create_file(self.requirements, requirements)
        if self.identity is not None:
            if requirements is not None:
                self.identity.share(self.requirements)
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
    makes_one = INSTALL.of(settings) != AUTO
    if not makes_one and spec.automatic and PYTHON.of(settings) is None:
        # `auto` makes one in the action, unless an earlier step made one.
        own_python = (sys.executable,)
        makes_one = (
            spec.host_python_is_fallback or find_interpreter(spec.root, {**spec.environ, "PATH": ""}).argv == own_python
        )
    plan = _find_plan(spec, settings) if makes_one else None
    if plan is not None and not dry:
        await create_environment(plan, spec, settings)
    if plan is not None and PYTHON.of(settings) is None:
        why = "; ".join((f"an environment made from {plan.why}", *(plan.notes if dry else ())))
        return Interpreter((str(spec.python),), why, spec.activated())
    interpreter = _find_interpreter(spec, settings)
    notes = () if plan is not None else tuple(_describe_unused(spec, settings, interpreter))
    if dry:
        return replace(interpreter, notes=notes)
    for note in notes:
        spec.print_line(spec.redact.text(note))
    return interpreter


def _find_plan(spec: VenvSpec, settings: Settings) -> InstallPlan | None:
    from scoregate.features.setup.install.plans import find_install_plan

    return find_install_plan(spec.root, settings)


def _find_interpreter(spec: VenvSpec, settings: Settings) -> Interpreter:
    if PYTHON.of(settings) is None and spec.host_python_is_fallback:
        path = f"{Path(sys.executable).parent}{os.pathsep}{spec.environ.get('PATH', os.defpath)}"
        return Interpreter((sys.executable,), "scoregate's own, because there is nothing to install", {"PATH": path})
    groups = WantedGroups(INSTALL_GROUPS.of(settings), settings.origin("install_groups"))
    named, origin = PYTHON.of(settings), settings.origin("python")
    return find_interpreter(spec.root, spec.environ, named=named, origin=origin, groups=groups)


def _describe_unused(spec: VenvSpec, settings: Settings, interpreter: Interpreter) -> Iterator[str]:
    """What is not used, although it could be meant to be, if no environment is made."""
    groups = f"install_groups ({settings.origin('install_groups')}) is ignored"
    install, python = INSTALL.of(settings), PYTHON.of(settings)
    if not INSTALL_GROUPS.of(settings):
        if spec.host_python_is_fallback and python is None and install == AUTO:
            from scoregate.features.setup.install.requirements import find_group_requirements

            files = tuple(find_group_requirements(spec.root).values())[:_MOST_SHOWN]
            if files:
                yield f"ignored: {', '.join(files)}; `install_groups` installs such files"
    elif python is not None:
        yield f"{groups}: `python` ({settings.origin('python')}) names the interpreter"
    elif install != AUTO:
        yield f"{groups}: `install` ({settings.origin('install')}) is {install}"
    elif spec.automatic:
        yield f"{groups}: {interpreter.why} is used"


async def create_environment(plan: InstallPlan, spec: VenvSpec, settings: Settings) -> None:
    """Make the environment.

    Raises:
        InstallError: a step failed, or took longer than a suite may.
    """
    started = perf_counter()
    for note in plan.notes:
        spec.print_line(spec.redact.text(note))
    spec.open(plan.requirements)
    uv, python = spec.uv(), str(spec.python)
    places = {"{uv}": uv, "{venv}": str(spec.venv), "{python}": python, "{requirements}": str(spec.requirements)}
    for step in plan.steps:
        await _run_step(_fill_in(step, places), plan, spec, settings)
    if plan.project_step:
        try:
            await _run_step(_fill_in(plan.project_step, places), plan, spec, settings)
        except InstallError:
            spec.print_line(_NOT_INSTALLED)
    if (await _run((python, "-I", "-c", _IMPORT_SDK), spec, settings, on_line=lambda _: None)).exit_code:
        await _run_step((uv, "pip", "install", "--python", python, sdk_requirement()), plan, spec, settings)
    spec.print_line(spec.redact.text(f"environment made from {plan.why} in {perf_counter() - started:.1f} s"))


def _fill_in(step: Words, places: Mapping[str, str]) -> Words:
    return tuple(places.get(word, word) for word in step)


async def _run_step(words: tuple[str, ...], plan: InstallPlan, spec: VenvSpec, settings: Settings) -> None:
    text = shlex.join(("uv", *words[1:]) if words[0].endswith("/uv") else words)
    command = spec.redact.text(text)[:_LONGEST_COMMAND]
    tail = OutputTail()

    def on_line(line: str) -> None:
        tail.add(line)
        spec.print_line(mark_output(line))

    spec.print_line(f"$ {command}")
    try:
        end = await _run(words, spec, settings, on_line=on_line)
    except OSError as error:
        raise InstallError(f"can't start {words[0]!r}: {error.strerror}", advice=_ADVICE) from None
    if end.exit_code or end.timed_out:
        outcome = f"took more than {settings.timeout:g} s" if end.timed_out else f"ended with exit code {end.exit_code}"
        origin = f"install = {INSTALL.of(settings)!r} ({settings.origin('install')}), made from {plan.why}"
        output = "\n".join(map(mark_output, str(tail).splitlines()))
        message = f"the suites' environment can't be made: `{command}` {outcome}; {origin}\n{output}"
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
