"""Scorers of trajectories: which tools an agent called, how often, and what it changed."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from scoregate.grading.grade import PASS_AT_ONE
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.json_io import to_plain
from scoregate.kernel.types.relative_paths import matches_path
from scoregate.kernel.types.shell_operators import find_shell_operator
from scoregate.kernel.types.text import is_positive_number, is_whole_number
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import ToolCall, strip_server
from scoregate.scorers.check import NO_TRAJECTORY, Check, pass_or_fail, require_all_steps
from scoregate.scorers.commands import run_command
from scoregate.scorers.tool_matching import (
    ExpectedCall,
    Matcher,
    make_matcher,
    match_any_order,
    match_in_order,
    names_tool,
    read_expected,
)

Mode = Literal["exact", "in_order", "any_order", "subset", "superset"]
_MODES = ("exact", "in_order", "any_order", "subset", "superset")
_MOST_NAMES = 10


@dataclass(frozen=True)
class TrajectoryCheck(Check):
    """A scorer of the trajectory: `evaluate` records what the task does, or the task returns a `Trajectory`."""

    def __call__(
        self, trajectory: Trajectory | None, expected: Any = None, expected_tool_calls: Any = None
    ) -> Evaluation | None:
        """Score a trajectory.

        Args:
            trajectory: what the agent did.
            expected: the field `expected` of the case.
            expected_tool_calls: the field `expected_tool_calls` of the case, which `tool_calls` prefers.

        Raises:
            ValueError: there is no trajectory, it may lack tool calls, or the case lacks what the scorer needs.
        """
        if trajectory is None:
            raise ValueError(NO_TRAJECTORY.format(name=self.name))
        if self.check not in (_check_files, _check_command):  # these two look at files, not at steps
            require_all_steps(trajectory, self.name, "tool calls")
        wanted = expected if expected_tool_calls is None else expected_tool_calls
        return self.check(trajectory, wanted, **self.parameters)


def tool_calls(
    expected: Any = None,
    *,
    mode: Mode = "exact",
    args: str | Callable[[Any, Mapping[str, Any]], Any] = "equal",
    optional: Iterable[str] = (),
    threshold: Threshold | float | None = PASS_AT_ONE,
    name: str | None = None,
) -> TrajectoryCheck:
    """Compares the tool calls with the expected ones. The score is the share that matches; the reason names the first
    difference.

    Args:
        expected: the calls: names, pairs such as `("search", {"q": "hours"})`, or dicts with `name` and `arguments`; a
            call without arguments may have any. Default: the case's `expected_tool_calls`, otherwise its `expected`.
        mode: "exact": these calls in this order. "in_order": these calls in this order, with others between them.
            "any_order": these calls and no others, in any order. "superset": at least these calls, in any order.
            "subset": no other calls than these.
        args: "equal": all arguments are equal. "subset": the call has at least the expected arguments. "ignore": only
            names count. "regex": each expected text is a pattern that the argument contains. "callable": each expected
            value is a function of the argument. Or a function of the expected and the given arguments.
        optional: globs of names of tools whose calls don't count unless they are expected.
        threshold: where a score passes; None only compares.
        name: the scorer's name; default: "tool_calls".

    Raises:
        ValueError: the mode or the way to compare arguments is unknown.
        TypeError: an expected call has no name.
    """
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r:.60}")
    make_matcher(args)
    if expected is not None:
        read_expected(expected)
    parameters = {"wanted": expected, "mode": mode, "args": args, "optional": _list_globs(optional, "optional")}
    return TrajectoryCheck(name or "tool_calls", _check_tool_calls, parameters, threshold)


def called(
    tool: str,
    times: int | tuple[int, int] | None = None,
    *,
    args: Mapping[str, Any] | Callable[[Mapping[str, Any]], Any] | None = None,
    name: str | None = None,
) -> TrajectoryCheck:
    """Passes if a tool was called.

    Args:
        tool: a glob of the tool's name.
        times: how often, as a number or as the least and the most; default: at least once.
        args: arguments that the calls have, or a function of the arguments; other calls don't count.
        name: the scorer's name; default: "called" with the tool.

    Raises:
        ValueError: `times` is neither a number of at least 0 nor a pair of them.
    """
    bounds = (times, times) if is_whole_number(times, 0) else times
    is_pair = isinstance(bounds, tuple) and len(bounds) == 2 and all(is_whole_number(each, 0) for each in bounds)
    if bounds is not None and not is_pair:
        raise ValueError(f"times must be a number of at least 0, or the least and the most, not {times!r:.60}")
    parameters = {"tool": tool, "times": bounds, "args": args}
    return TrajectoryCheck(name or f"called {tool}", _check_called, parameters)


def never_called(*tools: str, name: str | None = None) -> TrajectoryCheck:
    """Passes if none of these tools was called.

    Args:
        tools: globs of names.
        name: the scorer's name; default: "never_called" with the tools.

    Raises:
        TypeError: no tool is named.
    """
    globs = _list_globs(tools, "tools")
    if not globs:
        raise TypeError("never_called needs at least one tool: never_called('delete_*')")
    return TrajectoryCheck(name or f"never_called {', '.join(globs)}", _check_never_called, {"tools": globs})


def max_steps(most: int, *, name: str | None = None) -> TrajectoryCheck:
    """Passes if the agent called tools at most so many times.

    Args:
        most: the number of calls.
        name: the scorer's name; default: "max_steps".

    Raises:
        ValueError: the number is no whole number of at least 0.
    """
    if not is_whole_number(most, 0):
        raise ValueError(f"max_steps needs a whole number of at least 0, not {most!r:.60}")
    return TrajectoryCheck(name or "max_steps", _check_max_steps, {"most": most})


def no_repeated_calls(*, ignore: Iterable[str] = (), name: str | None = None) -> TrajectoryCheck:
    """Passes if no tool was called twice with the same arguments after a call that succeeded.

    Args:
        ignore: globs of names of tools that may be, such as those that wait.
        name: the scorer's name; default: "no_repeated_calls".
    """
    parameters = {"ignore": _list_globs(ignore, "ignore")}
    return TrajectoryCheck(name or "no_repeated_calls", _check_repeated_calls, parameters)


def recovered_from_errors(
    *, threshold: Threshold | float | None = PASS_AT_ONE, name: str | None = None
) -> TrajectoryCheck:
    """The share of failed tool calls after which the same tool succeeded; 1 if no call failed.

    Args:
        threshold: where a score passes; None only compares.
        name: the scorer's name; default: "recovered_from_errors".
    """
    return TrajectoryCheck(name or "recovered_from_errors", _check_recovery, {}, threshold, version=2)


def files_changed(
    expected: Iterable[str] | None = None, *, optional: Iterable[str] = (), name: str | None = None
) -> TrajectoryCheck:
    """Compares the changed files with the expected ones. The score is the share of files and globs that match.

    Files in `.git` and `__pycache__` don't count.

    Args:
        expected: globs of paths, each of which at least one changed file matches; default: the case's `expected`. `*`
            stays within a folder, and `**` does not.
        optional: globs of files that may change, too.
        name: the scorer's name; default: "files_changed".
    """
    wanted = None if expected is None else _list_globs(expected, "expected")
    parameters = {"wanted": wanted, "optional": _list_globs(optional, "optional")}
    return TrajectoryCheck(name or "files_changed", _check_files, parameters, PASS_AT_ONE, version=2)


def command_passes(command: str | Sequence[str], *, timeout: float = 60.0, name: str | None = None) -> TrajectoryCheck:
    """Passes if a command exits with 0 in the workspace of the agent, as in `command_passes("pytest -q")`.

    Args:
        command: the program and its arguments, as a text or a list. There is no shell: write `["sh", "-c", "a && b"]`.
        timeout: seconds until the command and everything that it started are killed; then the check fails. It also
            fails if the command prints more than 64 MB.
        name: the scorer's name; default: the command.

    Raises:
        ValueError: the command is empty, has an open quote or an operator of a shell, or the timeout is no positive
            number.
    """
    if isinstance(command, str) and (shell_operator := find_shell_operator(command)):
        operator, position = shell_operator
        raise ValueError(
            f"command_passes: the command has the shell operator {operator!r} at position {position}, and there is no "
            f'shell; write it as ["sh", "-c", "…"], or quote it: {command!r:.200}'
        )
    arguments = shlex.split(command) if isinstance(command, str) else list(command)
    if not all(isinstance(each, str) for each in arguments) or not arguments or not is_positive_number(timeout):
        raise ValueError(f"command_passes needs a command and a timeout over 0, not {command!r:.60}, {timeout!r:.60}")
    parameters = {"arguments": arguments, "timeout": float(timeout)}
    shown = command if isinstance(command, str) else shlex.join(arguments)
    return TrajectoryCheck(name or shown, _check_command, parameters)


def _list_globs(globs: Iterable[str], name: str) -> list[str]:
    if isinstance(globs, str):
        raise TypeError(f"{name} must be a list of texts: [{globs!r:.60}]")
    return [str(glob) for glob in globs]


def _matches_any(tool: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs for name in (tool, strip_server(tool)))


def _check_tool_calls(
    trajectory: Trajectory, given: Any, *, wanted: Any, mode: str, args: Any, optional: list[str]
) -> Evaluation:
    required = given if wanted is None else wanted
    if required is None:
        raise ValueError(
            "tool_calls compares with `expected_tool_calls` or `expected`, which this case lacks; "
            "add one of them, or write tool_calls([…])"
        )
    matches = make_matcher(args)
    expected = read_expected(required)
    calls = [_plain_call(call) for call in trajectory.tool_calls]
    is_ordered = mode in ("exact", "in_order")
    pairs = (match_in_order if is_ordered else match_any_order)(expected, calls, matches)
    used = set(pairs.values())
    # An optional call that matches nothing doesn't count.
    extra = [index for index, call in enumerate(calls) if index not in used and not _matches_any(call.name, optional)]
    missing = [index for index in range(len(expected)) if index not in pairs]
    allows_extra, allows_missing = mode in ("in_order", "superset"), mode == "subset"
    wrong_extra = [] if allows_extra else extra
    wrong_missing = [] if allows_missing else missing
    # A wrong call in the place of a missing one counts once.
    total = len(pairs) + max(len(wrong_extra), len(wrong_missing))
    score = len(pairs) / total if total else 1.0
    if not wrong_extra and not wrong_missing:
        return Evaluation(1.0)
    shown_extra = extra if is_ordered or not allows_extra else []
    reason = _describe_difference(expected, calls, wrong_missing[:1], (wrong_extra or shown_extra)[:1], matches)
    return Evaluation(score, metadata={"reason": reason})


def _describe_difference(
    expected: list[ExpectedCall], calls: list[ToolCall], missing: list[int], extra: list[int], matches: Matcher
) -> str:
    """The first difference. A wrong call next to a missing one of the same tool is shown as one difference."""
    if not missing:
        return f"call {extra[0] + 1}, {calls[extra[0]]}, is not expected"
    wanted = expected[missing[0]]
    same_tool = next((call for index in extra if names_tool(wanted.name, call := calls[index])), None)
    same_tool = same_tool or next(
        (call for call in calls if names_tool(wanted.name, call) and not any(matches(each, call) for each in expected)),
        None,
    )
    if same_tool is not None and not matches(wanted, same_tool):
        return f"expected {wanted}, the call was {same_tool}"
    if any(matches(wanted, call) for call in calls):
        return f"expected call {missing[0] + 1}, {wanted}, comes at another place or too rarely"
    instead = f"; instead there is {calls[extra[0]]}" if extra else ""
    return f"expected call {missing[0] + 1}, {wanted}, is missing{instead}"


def _check_called(
    trajectory: Trajectory, _expected: Any, *, tool: str, times: tuple[int, int] | None, args: Any
) -> Evaluation:
    matches = make_matcher("subset")
    matching = [call for call in trajectory.tool_calls if _matches_any(call.name, [tool])]
    if args is not None:
        matching = [call for call in matching if matches(read_expected([(call.name, args)])[0], _plain_call(call))]
    least, most = (1, None) if times is None else times
    passed = len(matching) >= least and (most is None or len(matching) <= most)
    wanted = "at least once" if most is None else f"{least} times" if least == most else f"{least} to {most} times"
    return pass_or_fail(passed, f"{tool} was called {len(matching)} times, expected {wanted}")


def _plain_call(call: ToolCall) -> ToolCall:
    return replace(call, arguments=to_plain(dict(call.arguments)))


def _check_never_called(trajectory: Trajectory, _expected: Any, *, tools: list[str]) -> Evaluation:
    for number, call in enumerate(trajectory.tool_calls, 1):
        if _matches_any(call.name, tools):
            return pass_or_fail(False, f"call {number} is {call}")
    return pass_or_fail(True, "")


def _check_max_steps(trajectory: Trajectory, _expected: Any, *, most: int) -> Evaluation:
    count = len(trajectory.tool_calls)
    return pass_or_fail(count <= most, f"{count} tool calls, at most {most} expected")


def _check_repeated_calls(trajectory: Trajectory, _expected: Any, *, ignore: list[str]) -> Evaluation:
    succeeded: Counter[tuple[str, str, str]] = Counter()
    for number, call in enumerate(trajectory.tool_calls, 1):
        if _matches_any(call.name, ignore):
            continue
        key = (call.agent, call.name, json.dumps(to_plain(dict(call.arguments)), sort_keys=True))
        if succeeded[key]:
            return pass_or_fail(False, f"call {number} repeats {call}")
        succeeded[key] += call.error is None
    return pass_or_fail(True, "")


def _check_recovery(trajectory: Trajectory, _expected: Any) -> Evaluation:
    calls = trajectory.tool_calls
    failed = [(index, call) for index, call in enumerate(calls) if call.error is not None]
    if not failed:
        # Not None: an agent that no longer makes errors would lose its scores, and the run would be unmeasurable.
        return Evaluation(1)
    lost = [
        call
        for index, call in failed
        if not any(later.name == call.name and later.error is None for later in calls[index + 1 :])
    ]
    reason = f"no call of the tool succeeds after {lost[0]}: {lost[0].error}" if lost else None
    return Evaluation(1 - len(lost) / len(failed), metadata=None if reason is None else {"reason": reason[:1_000]})


def _check_files(trajectory: Trajectory, given: Any, *, wanted: list[str] | None, optional: list[str]) -> Evaluation:
    if trajectory.changed_files is None:
        raise ValueError("files_changed needs the changed files, and this trajectory has none recorded")
    globs = wanted if wanted is not None else [given] if isinstance(given, str) else given
    if globs is None or not isinstance(globs, list | tuple):
        raise ValueError("files_changed compares with globs in `expected`, which this case lacks")
    files = [str(path) for path in trajectory.changed_files]
    missing = [glob for glob in globs if not any(_names_path(glob, path) for path in files)]
    extra = [path for path in files if not any(_names_path(glob, path) for glob in (*globs, *optional))]
    matched = len(globs) - len(missing)
    total = len(globs) + len(extra)
    reasons = [f"not changed: {_join(missing)}"] if missing else []
    reasons += [f"not expected: {_join(extra)}"] if extra else []
    score = matched / total if total else 1.0
    return Evaluation(score, metadata={"reason": "; ".join(reasons)} if reasons else None)


def _names_path(glob: str, path: str) -> bool:
    """Whether it is the path itself, which may have brackets, or a glob that matches it."""
    return glob == path or matches_path(path, glob)


def _check_command(trajectory: Trajectory, _expected: Any, *, arguments: list[str], timeout: float) -> Evaluation:
    if trajectory.workspace is None or not Path(trajectory.workspace).is_dir():
        raise ValueError("command_passes needs the workspace of the agent: Trajectory(…, workspace=folder)")
    code, reason = run_command(arguments, trajectory.workspace, timeout)
    return pass_or_fail(code == 0, reason)


def _join(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"
