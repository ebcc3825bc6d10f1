"""Scorers of skills: whether expectations hold, and whether the skill was loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.json_io import to_text
from scoregate.kernel.types.relative_paths import is_below
from scoregate.kernel.types.runs.arms import EXPECTATIONS, NOT_TRIGGERED, TRIGGERED
from scoregate.kernel.types.text import truncate_middle
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.scorers import command_passes, judge
from scoregate.scorers.check import require_all_steps
from scoregate.skills.graders import Trial, run_grader
from scoregate.skills.loading import loads_skill

PASS_AT_ONE = Threshold(gte=1)
_EXPECTED = "The output achieves what the expected output describes."
_QUESTION = (
    "The output is the final answer of an agent, followed by the files that it changed. "
    "Yes: it is evidence that this statement is true. The statement: "
)
_LONGEST_FILE, _LONGEST_FILES, _MOST_FILES = 20_000, 60_000, 50
_MOST_SHOWN = 20


@dataclass(frozen=True)
class ExpectationsScorer:
    """The share of checks and expectations of a case that hold. Checks run first; a model grades each expectation.

    The model sees the prompt, the final answer and the changed files. It sees neither the steps nor the skill, so it
    can't know which arm it grades.

    Attributes:
        hidden: folders in the workspace whose files the model doesn't see.
        asks_model: whether any case has expectations.
        threshold: where a case passes; None in the arm without the skill, which only is compared.
        name: the name of the scorer.
        max_concurrency: how many cases are graded at once.
        version: changes with the meaning of the scores.
    """

    hidden: tuple[str, ...] = ()
    asks_model: bool = True
    threshold: Threshold | None = PASS_AT_ONE
    name: str = EXPECTATIONS
    max_concurrency: int = 4
    version: int = 2
    higher_is_better = True

    async def __call__(
        self,
        output: Any,
        trajectory: Trajectory | None,
        input: Any = None,  # noqa: A002
        expected: Any = None,
        expectations: Sequence[str] = (),
        checks: Sequence[str] = (),
        graders: Sequence[Mapping[str, Any]] = (),
        duration_s: float = 0.0,
    ) -> Evaluation | None:
        """Grade one trial.

        Args:
            output: the final answer.
            trajectory: what the agent did.
            input: the prompt.
            expected: the expected output; graded itself if there are no checks and no expectations.
            expectations: the statements.
            checks: the command lines that must exit with 0 in the workspace; `sh` runs them.
            graders: the checks of another tool's format.
            duration_s: how long the agent took, in seconds.

        Raises:
            ModelError: the model gives no answer.
            MissingExtra: a package is not installed.
            ValueError: there is no trajectory, it has no workspace, or a check can't be measured.
        """
        statements = list_statements(expectations, (*checks, *graders), expected)
        if not statements and not checks and not graders:
            return None
        if trajectory is None:
            raise ValueError("the agent left no trajectory")
        results = [(check, *await _run_check(check, trajectory)) for check in checks]
        trial = Trial(output, trajectory, duration_s, self.hidden)
        results += [await anyio.to_thread.run_sync(run_grader, each, trial) for each in graders]
        if statements:
            shown = await anyio.to_thread.run_sync(self._show, output, trajectory)
            results += await _grade(statements, shown, input, expected)
        passed = sum(holds for _, holds, _ in results)
        failed = [f"{text}: {reason}" for text, holds, reason in results if not holds]
        reason = f"{passed} of {len(results)} hold" + "".join(f"; {each}" for each in failed[:_MOST_SHOWN])
        return Evaluation(passed / len(results), metadata={"reason": reason})

    def _show(self, output: Any, trajectory: Trajectory) -> str:
        return "\n\n".join((to_text(output), *_show_files(trajectory, self.hidden)))

    def _model_and_prompt(self) -> tuple[str | None, str | None]:
        """The model and a digest of the question, for the fingerprint."""
        return judge(_QUESTION)._model_and_prompt() if self.asks_model else (None, None)


def list_statements(expectations: Sequence[str], checks: Sequence[Any], expected: Any) -> list[str]:
    """The statements that a model grades: the expectations; without them and without checks, the expected output."""
    return list(expectations) or ([_EXPECTED] if expected and not checks else [])


async def _run_check(check: str, trajectory: Trajectory) -> tuple[bool, str]:
    evaluation = await anyio.to_thread.run_sync(command_passes(["sh", "-c", check], name=check), trajectory)
    holds = evaluation is not None and evaluation.score >= 1
    return holds, "" if evaluation is None else str((evaluation.metadata or {}).get("reason", ""))


async def _grade(statements: Sequence[str], shown: str, prompt: Any, expected: Any) -> list[tuple[str, bool, str]]:
    """The grade of each statement, in their order; each has a question of its own."""
    grades: dict[int, tuple[str, bool, str]] = {}

    async def grade(number: int, statement: str) -> None:
        answer = await judge(f"{_QUESTION}{statement}", name=EXPECTATIONS)(shown, prompt, expected)
        grades[number] = statement, answer.score >= 1, str((answer.metadata or {}).get("reason", ""))

    try:
        async with anyio.create_task_group() as tasks:
            for number, statement in enumerate(statements):
                tasks.start_soon(partial(grade, number, statement))
    except BaseExceptionGroup as group:
        raise _find_first(group) from None
    return [grades[number] for number in range(len(statements))]


def _find_first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _find_first(first) if isinstance(first, BaseExceptionGroup) else first


def _show_files(trajectory: Trajectory, hidden: Sequence[str]) -> Iterator[str]:
    """The changed files as text. A link or a folder that leads out of the workspace is not followed."""
    if trajectory.workspace is None:
        return
    top = os.path.realpath(trajectory.workspace)
    left = _LONGEST_FILES
    names = [name for name in trajectory.changed_files or () if not any(is_below(name, each) for each in hidden)]
    for name in names[:_MOST_FILES]:
        text = _read_inside(Path(top, name), top)
        shown = truncate_middle(text, max(100, min(_LONGEST_FILE, left)))
        left -= len(shown)
        yield f"File {name}:\n{shown}"
    if len(names) > _MOST_FILES:
        yield f"{len(names) - _MOST_FILES:,} more files changed."


def _read_inside(path: Path, top: str) -> str:
    real = Path(os.path.realpath(path))
    if not path.exists() and not path.is_symlink():
        return "(deleted)"
    if path.is_symlink() or not real.is_relative_to(top) or not real.is_file():
        return "(a link, which is not followed)" if path.is_symlink() else "(no regular file)"
    try:
        with real.open("rb") as file:
            data = file.read(4 * _LONGEST_FILE)
    except OSError as error:
        return f"(can't be read: {error.strerror})"
    return f"({real.stat().st_size:,} bytes, no text)" if b"\0" in data else data.decode("utf-8", "replace")


@dataclass(frozen=True)
class TriggerScorer:
    """Whether the agent loaded a skill exactly if it should: by a tool for skills, or by reading its SKILL.md.

    Attributes:
        skill: the name of the skill.
        folder: the name of its folder in the workspace.
        wanted: whether it scores the cases in which the skill should be loaded, or the others.
    """

    skill: str
    folder: str
    wanted: bool
    version: int = 2
    higher_is_better = True

    @property
    def name(self) -> str:
        """The name of the scorer."""
        return TRIGGERED if self.wanted else NOT_TRIGGERED

    def __call__(self, trajectory: Trajectory | None, should_trigger: bool | None = None) -> Evaluation | None:
        """Score one trial; None for a case of the other kind.

        Args:
            trajectory: what the agent did.
            should_trigger: whether the skill should be loaded. A case that doesn't say is expected to load it, and
                only compares: it neither passes nor fails by that.

        Raises:
            ValueError: there is no trajectory, or tool calls may be missing in it.
        """
        if (should_trigger is not False) is not self.wanted:
            return None
        if trajectory is None:
            raise ValueError("the agent left no trajectory")
        require_all_steps(trajectory, self.name, "tool calls")
        call = next((each for each in trajectory.tool_calls if loads_skill(each, self.skill, self.folder)), None)
        reason = f"{call} loads the skill" if call is not None else "no tool call loads the skill"
        score = float((call is not None) is self.wanted)
        return Evaluation(score, None if should_trigger is None else PASS_AT_ONE, {"reason": reason})
