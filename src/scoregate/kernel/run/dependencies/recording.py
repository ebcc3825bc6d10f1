"""Record what scripts depend on while they run, and put it together at the end of the run."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.run.dependencies.file_uses import LOG, FileUses, describe_uses, read_uses
from scoregate.kernel.run.dependencies.shared_files import digest_shared_files
from scoregate.kernel.run.dependencies.tree import NODE_MODULES, Tree
from scoregate.kernel.run.plan import Launch, SourceKind, list_import_folders
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.dependencies import Dependency, RunDependencies, ScriptDependencies

_SOURCE = Path(__file__).with_name("python_recorder.py")
_RULES = Path(__file__).with_name("recorder_rules.py")
_RULES_IMPORT = re.compile(r"^from scoregate\.\S+\.recorder_rules import \(.*?^\)$", re.DOTALL | re.MULTILINE)
_FUTURE = "from __future__ import annotations\n"
_VARIABLE = "SCOREGATE_DEPENDENCIES"
_NODE_SOURCE = Path(__file__).with_name("node_recorder.cjs")
_FIRST_BYTES = 4096
_FIRST_LINE = re.compile(rb"#!\s*(\S*/)?(env\s+(-S\s+)?)?(\S*/)?node\s*")
# pnpm writes shell scripts that only start Node.js.
_SHIM = re.compile(rb'#!/bin/sh\nbasedir=\$\(dirname .*exec (?:"\$basedir/)?node', re.DOTALL)
_ELF, _MACH_O = b"\x7fELF", (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
# Node.js starts a shell itself with the first, and reads no file of NODE_OPTIONS with the others.
_UNSEEN = re.compile(r"--(run|permission|experimental-permission)\b.*")
_FOLDER, _MODULE = "recorder", "sitecustomize.py"
_BOOT = """\
import sys
import time
exec(compile(sys.argv[1], "<string>", "exec"), {"__name__": "scoregate_recorder"})
sys.argv[:] = sys.argv[3:]
import runpy
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
# They differ between runs, but not what a suite measures.
_OF_RUN = {
    *("SCOREGATE_ROOT", "SCOREGATE_REPORT", "SCOREGATE_TEST_RUN_MESSAGE", "SCOREGATE_CACHE", "SCOREGATE_CHAMPIONS"),
    *(
        "SCOREGATE_PARTS",
        "SCOREGATE_REUSE",
        "SCOREGATE_SPENT",
        "SCOREGATE_MAX_COST",
        "SCOREGATE_MAX_TOKENS",
        "PYTHONPATH",
    ),
}
STDLIB = frozenset(sys.stdlib_module_names)
_NO_INPUTS = "it is a command without `inputs`"


@dataclass(slots=True)
class UseRecorder:
    """Records what the scripts of one run use.

    Args:
        tree: the files of the repository before the run.
        folder: the project's folder in it.
    """

    tree: Tree
    folder: str = ""
    _started: dict[str, float] = field(default_factory=dict)
    _scripts: dict[str, tuple[Launch, FileUses]] = field(default_factory=dict)
    _node: set[str] = field(default_factory=set)

    def open_log(
        self, launch: Launch, environment: Mapping[str, str], folder: Path, identity: Identity | None
    ) -> dict[str, str]:
        """Create the log of a script, and the module that writes it, in a folder of the host.

        Returns:
            The variables of the script's process.
        """
        log, module = folder / LOG, folder / _FOLDER / _MODULE
        log.touch(mode=0o600)
        if identity is not None:
            identity.give(log)
        module.parent.mkdir()
        module.parent.chmod(0o755)
        module.write_text(read_python_recorder(), encoding="utf-8")
        module.chmod(0o644)
        self._started[launch.name] = time.time()
        path = os.pathsep.join(filter(None, (str(module.parent), environment.get("PYTHONPATH", ""))))
        variables = {**environment, "PYTHONPATH": path, _VARIABLE: f"{self.tree.top}\n{log}"}
        if launch.kind is SourceKind.COMMAND and not launch.source.inputs and runs_node(launch, environment):
            self._node.add(launch.name)
            program = write_node_recorder(module.parent)
            variables["NODE_OPTIONS"] = add_node_option(program, environment.get("NODE_OPTIONS", ""))
        return variables

    def add_boot(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The arguments of Python that record an isolated process too: it ignores PYTHONPATH."""
        if tuple(argv[1:3]) != ("-I", "-m"):
            return tuple(argv)
        return (*argv[:2], "-c", _BOOT, read_python_recorder(), *argv[2:])

    def close_log(self, launch: Launch, folder: Path) -> ErrorInfo | None:
        """Read the log of a script that ended. Its results always count."""
        uses = read_uses(folder / LOG, self.tree)
        source = f"{self.folder}/{launch.source.path}".lstrip("/")
        if launch.kind in (SourceKind.PYTHON, SourceKind.PYTEST) and source not in uses.looked_up:
            uses.unknown = uses.unknown or "its own file is missing in its record"
        if launch.kind is SourceKind.COMMAND and not launch.source.inputs and not runs_python(launch):
            if launch.name not in self._node:
                uses.unknown = _NO_INPUTS
            elif any(NODE_MODULES in path.split("/") for path in self.tree.tracked):
                uses.unknown = uses.unknown or "git tracks files in node_modules"
        self._scripts[launch.name] = launch, uses
        return None

    def collect(self) -> RunDependencies:
        """The dependencies of all scripts, after the last one ended; it reads the files."""
        table: dict[Dependency, int] = {}
        scripts = []
        for name, (launch, uses) in sorted(self._scripts.items()):
            described = list(describe_uses(uses, self.tree, since=self._started[name], stdlib=STDLIB))
            unknown, native = uses.unknown, uses.native
            if launch.kind is SourceKind.COMMAND and launch.source.inputs:
                # What a part of it was seen to use is added to what its settings name.
                unknown = native = ""
                described += list_inputs(launch.source.inputs, self.tree, self.folder)
                described += _list_named_files(launch, self.tree, self.folder)
            # What it was seen to use is true also where it may have used more.
            places = tuple(table.setdefault(each, len(table)) for each in described)
            modules = tuple(sorted(uses.modules - STDLIB)) if places and not unknown else ()
            scripts.append(ScriptDependencies(name, digest_launch(launch), places, modules, native, unknown))
        shared, data = digest_shared_files(self.tree, self.folder), self.tree.digest_data()
        return RunDependencies(tuple(table), tuple(scripts), as_texts(shared), as_texts(data))


def read_python_recorder() -> str:
    """The code that records a Python process, as one text."""
    rules = _RULES.read_text(encoding="utf-8").replace(_FUTURE, "")
    return _RULES_IMPORT.sub(lambda _: rules, _SOURCE.read_text(encoding="utf-8"))


def follow_children(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a recorded process, for which the Python processes that it starts are recorded, too."""
    return {**variables, _VARIABLE: f"{variables[_VARIABLE]}\nchildren"}


def list_inputs(inputs: Iterable[str], tree: Tree, folder: str) -> list[Dependency]:
    """The dependencies that the settings of a command name.

    Args:
        inputs: globs, relative to the project.
        tree: the files of the repository.
        folder: the project's folder in it.
    """
    patterns = [f"{folder}/{each}".lstrip("/") for each in inputs]
    return [Dependency("inputs", each, tree.digest_tree([each])) for each in patterns]


def _list_named_files(launch: Launch, tree: Tree, folder: str) -> list[Dependency]:
    """The files that the words of a command name, such as its program."""
    words = (os.path.normpath(f"{folder}/{launch.source.cwd}/{word}").lstrip("/") for word in launch.argv)
    known = {*tree.tracked, *tree.others}
    return [Dependency("file", path, tree.digest_file(path)) for path in sorted({*words} & known)]


def digest_launch(launch: Launch) -> str:
    """The digest of how a script is started: its command, and the settings that reach its process."""
    source, root = launch.source, launch.environment.get("SCOREGATE_ROOT", "")
    program, *arguments = _find_command(launch)
    data = {
        "kind": launch.kind,
        "argv": [Path(program).name if launch.kind is SourceKind.COMMAND else "", *arguments],
        "cwd": source.cwd,
        "inputs": source.inputs,
        "imports": [asdict(each) for each in source.imports],
        "folders": list_import_folders(Path(root), source.import_folders),
        "environment": {
            name: value
            for name, value in sorted(launch.environment.items())
            if name not in _OF_RUN and name.startswith("SCOREGATE_")
        },
    }
    text = json.dumps(data)
    if root:
        text = text.replace(json.dumps(root)[1:-1], "")  # a checkout elsewhere has the same digest
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=10).hexdigest()


def _find_command(launch: Launch) -> tuple[str, ...]:
    """The words of a script's command, without `uv run` before them."""
    is_command = launch.kind is SourceKind.COMMAND
    return launch.argv[-len(launch.source.argv) :] if is_command and launch.source.argv else launch.argv


def runs_python(launch: Launch) -> bool:
    """Whether a command is Python itself, whose process is recorded as a whole."""
    name = Path(_find_command(launch)[0]).name
    return name.startswith("python") and not name.removeprefix("python").strip("0123456789.")


def runs_node(launch: Launch, environment: Mapping[str, str]) -> bool:
    """Whether a command is Node.js, so that NODE_OPTIONS can record its process as a whole.

    Args:
        launch: the command.
        environment: the variables of its process.
    """
    name, *arguments = _find_command(launch)
    if any(_UNSEEN.fullmatch(word) for word in (*arguments, *environment.get("NODE_OPTIONS", "").split())):
        return False
    location = str(launch.cwd / name) if "/" in name else shutil.which(name, path=environment.get("PATH"))
    if location is None:
        return False
    try:
        with Path(location).open("rb") as file:
            start = file.read(_FIRST_BYTES)
    except OSError:
        return False
    is_program = start.startswith((_ELF, *_MACH_O)) and Path(name).name == "node"
    is_shim = "/node_modules/" in location and _SHIM.match(start) is not None
    return is_program or is_shim or _FIRST_LINE.fullmatch(start.split(b"\n")[0]) is not None


def add_node_option(program: Path, options: str) -> str:
    """The value of NODE_OPTIONS that loads a file first, and keeps the other options.

    Args:
        program: the path of the file.
        options: the value so far.
    """
    path = str(program).replace("\\", "\\\\").replace('"', '\\"')
    return " ".join(filter(None, (f'--require "{path}"', options)))


def write_node_recorder(folder: Path) -> Path:
    """Write what records a process of Node.js into a folder, readable by all users."""
    program = folder / _NODE_SOURCE.name
    program.write_text(_NODE_SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    program.chmod(0o644)
    return program


def as_texts(digests: Mapping[str, str]) -> dict[str, str]:
    """The same with names that JSON can hold."""
    return {os.fsencode(name).decode("utf-8", "backslashreplace"): digest for name, digest in digests.items()}
