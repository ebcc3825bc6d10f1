"""The checks of other tools' formats, by the scorers that mean the same."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.json_io import to_text
from scoregate.kernel.types.records import record
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import ToolCall
from scoregate.scorers import (
    called,
    command_passes,
    contains,
    contains_any,
    json_schema,
    length,
    max_steps,
    regex,
    tool_calls,
)
from scoregate.scorers.check import pass_or_fail
from scoregate.scorers.pattern_search import search_pattern
from scoregate.skills.loading import list_loaded_skills

_MOST_BYTES = 16 * 1024 * 1024
_MOST_FILES = 40_000
_ARGUMENTS = {"command_pattern": ("command",), "skill_pattern": ("skill",), "path_pattern": ("path", "file_path")}
_RUN = 'cd "$1" && output=$2 && shift 2 && exec "$@" <"$output"'
_EVALUATE = """
import re, sys
names = {each.__name__: each for each in (len, any, all, str, int, float, bool, list, dict)}
names |= {"re": re, "output": open(sys.argv[2], encoding="utf-8", newline="").read(), "duration_ms": int(sys.argv[3])}
sys.exit(not eval(sys.argv[1], {"__builtins__": {}}, names))
"""
_PYTHON_TIMEOUT = 30


@record
class Trial:
    """What a check looks at.

    Attributes:
        output: the final answer.
        trajectory: what the agent did.
        duration_s: how long the trial took, in seconds.
        hidden: files and folders of the workspace that no check sees, such as that of the skill.
    """

    output: Any
    trajectory: Trajectory
    duration_s: float
    hidden: Sequence[str] = ()


def run_grader(grader: Mapping[str, Any], trial: Trial) -> tuple[str, bool, str]:
    """Run one check.

    Args:
        grader: its kind, its label and its options, as a row of the suite has them.
        trial: what it looks at.

    Returns:
        The label, whether it holds, and the reason.

    Raises:
        ValueError: it can't be measured.
        MissingExtra: a package is not installed.
    """
    options = dict(grader)
    label, kind, is_negated = options.pop("label"), options.pop("kind"), options.pop("negated", False)
    evaluation = _KINDS[kind](trial, **options)
    holds = evaluation.score >= 1
    if is_negated:
        return label, not holds, "" if not holds else "it is so, and must not be"
    return label, holds, str((evaluation.metadata or {}).get("reason", ""))


def _check_contains(trial: Trial, *, text: str, ignore_case: bool = False) -> Evaluation:
    return _need(contains(text, ignore_case=ignore_case)(trial.output))


def _check_any(trial: Trial, *, texts: list[str], ignore_case: bool = False) -> Evaluation:
    return _need(contains_any(texts, ignore_case=ignore_case)(trial.output))


def _check_pattern(trial: Trial, *, pattern: str, ignore_case: bool = False) -> Evaluation:
    return _need(regex(pattern, flags=re.IGNORECASE if ignore_case else 0)(trial.output))


def _check_not_empty(trial: Trial) -> Evaluation:
    return _need(length(min=1)(trial.output))


def _check_schema(trial: Trial, *, schema: Mapping[str, Any]) -> Evaluation:
    return _need(json_schema(schema)(trial.output))


def _check_duration(trial: Trial, *, most_ms: int) -> Evaluation:
    duration_ms = round(trial.duration_s * 1_000)
    return pass_or_fail(duration_ms <= most_ms, f"it took {duration_ms:,} ms, at most {most_ms:,} expected")


def _check_file(
    trial: Trial, *, glob: str | None = None, path: str | None = None, is_regular: bool = False
) -> Evaluation:
    file = next(_list_files(trial, glob, path), None)
    if is_regular and file is not None and not file.is_file():
        return pass_or_fail(False, f"{path} is not a file")
    return pass_or_fail(file is not None, f"there is no {glob or path}")


def _check_content(
    trial: Trial, *, glob: str | None = None, path: str | None = None, text: str = "", pattern: str | None = None
) -> Evaluation:
    files = list(_list_files(trial, glob, path))
    contents = (_read(file, trial) for file in files if file.is_file())
    holds = any(text in each if pattern is None else search_pattern(pattern, each) for each in contents)
    reason = f"no file {glob or path} has it" if files else f"there is no {glob or path}"
    return pass_or_fail(holds, reason)


def _check_equal(trial: Trial, *, path: str, source: str) -> Evaluation:
    file = next(_list_files(trial, None, path), None)
    if file is None or not file.is_file():
        return pass_or_fail(False, f"there is no file {path}")
    return pass_or_fail(_read(file, trial) == Path(source).read_text("utf-8"), f"{path} differs from {source}")


def _check_called(trial: Trial, *, tool: str) -> Evaluation:
    return _need(called(escape(tool))(trial.trajectory))


def _check_most(trial: Trial, *, most: int) -> Evaluation:
    return _need(max_steps(most)(trial.trajectory))


def _check_sequence(trial: Trial, *, expected: list[str], mode: Any) -> Evaluation:
    return _need(tool_calls(expected, mode=mode, args="ignore")(trial.trajectory))


def _check_tool(trial: Trial, *, patterns: Mapping[str, str]) -> Evaluation:
    def matches(call: ToolCall) -> bool:
        if not search_pattern(patterns["tool"], call.name, flags=re.IGNORECASE):
            return False
        return all(
            any(
                search_pattern(patterns[key], to_text(call.arguments[name]), flags=re.IGNORECASE)
                for name in names
                if name in call.arguments
            )
            for key, names in _ARGUMENTS.items()
            if key in patterns
        )

    steps = [call for call in trial.trajectory.tool_calls if matches(call)]
    evaluation = _need(called("*")(replace(trial.trajectory, steps=steps)))
    return evaluation if evaluation.score >= 1 else pass_or_fail(False, "no tool call matches")


def _check_skills(trial: Trial, *, expected: list[str], mode: Any) -> Evaluation:
    steps = [ToolCall(name) for call in trial.trajectory.tool_calls for name in list_loaded_skills(call)]
    return _need(tool_calls(expected, mode=mode, args="ignore")(replace(trial.trajectory, steps=steps)))


def _run_program(trial: Trial, *, command: list[str], folder: str, timeout: int) -> Evaluation:
    """Run a program next to the cases. It reads the answer, and finds the workspace in a variable."""
    words = ["sh", "-c", f'export WAZA_WORKSPACE_DIR="$PWD"; {_RUN}', "sh", str(Path(folder).absolute())]
    return _run_with_output(trial, lambda file: [*words, file, *command], timeout)


def _run_python(trial: Trial, *, expression: str) -> Evaluation:
    duration_ms = str(round(trial.duration_s * 1_000))
    start = [sys.executable, "-I", "-S", "-c", _EVALUATE, expression]
    return _run_with_output(trial, lambda file: [*start, file, duration_ms], _PYTHON_TIMEOUT)


def _run_with_output(trial: Trial, make: Callable[[str], list[str]], timeout: float) -> Evaluation:
    """Run a command that reads the answer from a file, which is not in the workspace."""
    with tempfile.TemporaryDirectory(prefix="scoregate-answer-") as folder:
        file = Path(folder, "answer.txt")
        file.write_text(to_text(trial.output), "utf-8", newline="")
        return _need(command_passes(make(str(file)), timeout=timeout)(trial.trajectory))


def _need(evaluation: Evaluation | None) -> Evaluation:
    if evaluation is None:
        raise ValueError("it has no score")
    return evaluation


def _list_files(trial: Trial, glob: str | None, path: str | None) -> Iterator[Path]:
    """The files that a glob matches, or the file or folder with a path. None of them leads out of the workspace."""
    if trial.trajectory.workspace is None:
        raise ValueError("files are checked in the workspace of the agent, and there is none")
    top = Path(trial.trajectory.workspace)
    if path is not None:
        given = top / path
        is_hidden = any(Path(path).is_relative_to(each) for each in trial.hidden)
        if not is_hidden and given.exists() and given.resolve().is_relative_to(top.resolve()):
            yield given
        return
    matches = re.compile(_translate_glob(glob or "")).fullmatch
    count = 0
    for folder, folders, files in os.walk(top):
        below = os.path.relpath(folder, top)
        folders[:] = [each for each in folders if os.path.normpath(Path(below, each)) not in trial.hidden]
        for name in sorted(each for each in files if os.path.normpath(Path(below, each)) not in trial.hidden):
            count += 1
            if count > _MOST_FILES:
                raise ValueError(f"the workspace has more than {_MOST_FILES:,} files")
            file = Path(folder, name)
            if matches(os.path.normpath(Path(below, name))) and file.resolve().is_relative_to(top.resolve()):
                yield file


def _translate_glob(glob: str) -> str:
    """The pattern of a glob in which `*` matches within a folder, and `**` across folders; case doesn't count."""
    parts = os.path.normpath(glob).split("/")
    pattern = ""
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        if part == "**":
            pattern += ".*" if is_last else "(?:.*/)?"
        else:
            pattern += re.escape(part).replace(r"\*", "[^/]*") + ("" if is_last else "/")
    return f"(?is:{pattern})"


def _read(file: Path, trial: Trial) -> str:
    with file.open("rb") as opened:
        data = opened.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        name = os.path.relpath(file, trial.trajectory.workspace)
        raise ValueError(f"the file {name:.200} has more than {_MOST_BYTES >> 20} MB")
    return data.decode("utf-8", "replace")


_KINDS: Mapping[str, Callable[..., Evaluation]] = {
    "contains": _check_contains,
    "contains_any": _check_any,
    "matches": _check_pattern,
    "not_empty": _check_not_empty,
    "json_schema": _check_schema,
    "duration": _check_duration,
    "file_exists": _check_file,
    "file_contains": _check_content,
    "file_equals": _check_equal,
    "called": _check_called,
    "max_tool_calls": _check_most,
    "tool_calls": _check_sequence,
    "tool_matches": _check_tool,
    "skills": _check_skills,
    "program": _run_program,
    "python": _run_python,
}
