"""The progress of each suite, and its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeAlias

from rich.text import Text

from scoregate.kernel.job.github.commands import harmless, harmless_marks
from scoregate.kernel.report.excerpts import format_score
from scoregate.kernel.report.text import display_name, excerpt, one_line
from scoregate.kernel.run.recording import Observer, Recording
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.model_calls import CallTotals
from scoregate.kernel.types.runs.tally import Tally
from scoregate.kernel.types.text import mark_output

_EVALUATORS = 4
STATES = {Status.PASSED: ("passed", "green"), Status.FAILED: ("failed", "red"), Status.ERRORED: ("errors", "yellow")}


@record
class SuiteProgress:
    """The progress of one suite; `started` is when its first event arrived, by the monotonic clock."""

    script: str
    tally: Tally
    started: float

    @property
    def time(self) -> str:
        """How long it took or has been running; empty if unknown."""
        if not self.tally.finished:
            return format_clock(monotonic() - self.started)
        return "" if self.tally.duration_s is None else number_format.duration(self.tally.duration_s)


@dataclass(slots=True)
class RunProgress:
    """The progress of all suites in the order of their first events.

    Attributes:
        launches: the number of scripts.
        began: how many of them started.
        ended: how many ended.
        calls: the calls of models so far; None if they aren't counted.
    """

    launches: int = 0
    began: int = 0
    ended: int = 0
    calls: CallTotals | None = None
    _suites: dict[tuple[str, str, str], SuiteProgress] = field(default_factory=dict)
    _run: Recording | None = None

    def update(self, recording: Recording) -> Iterator[SuiteProgress]:
        """Update from the recording; yield the suites that finished since the last update."""
        now = monotonic()
        for script, tally in recording.tallies():
            key = (script, tally.log, tally.label)
            previous = self._suites.get(key)
            if previous is not None and previous.tally.finished:
                continue
            started = now if previous is None else previous.started
            self._suites[key] = SuiteProgress(script, tally, started)
            if tally.finished:
                yield self._suites[key]

    @property
    def counts_calls(self) -> bool:
        """Whether the calls of models are counted. They change without events, too."""
        return self._run is not None and self._run.count_calls() is not None

    def update_calls(self) -> None:
        """Read how many calls of models were counted so far."""
        if self._run is not None:
            self.calls = self._run.count_calls()

    def begin(self, script: str, recording: Recording) -> None:
        """Count a started script. If it ran before, its suites start again."""
        if recording is not self._run:
            self._run, self.launches, self.began, self.ended = recording, recording.launches, 0, 0
            self.calls = None
        self.began += 1
        self._suites = {key: each for key, each in self._suites.items() if each.script != script}

    def end(self) -> None:
        """Count an ended script."""
        self.ended += 1

    def __iter__(self) -> Iterator[SuiteProgress]:
        return iter(list(self._suites.values()))  # a copy: Rich draws in a thread of its own while events add suites


def format_clock(seconds: float) -> str:
    """Format a running time in whole seconds, so that it does not flicker."""
    # From 59.5 s on, it would be rounded to 60 s.
    return number_format.duration(round(seconds)) if seconds >= 59.5 else f"{seconds:.0f} s"


def format_calls(calls: CallTotals | None, separator: str = ", ") -> str:
    """`models: 120 calls, 54 k tokens, $0.31, 12 cached, waited 4.0 s for limits`; empty before the first call."""
    if calls is None or not calls.calls:
        return ""
    from scoregate.features.gateway.view import describe_totals

    return f"models: {separator.join(describe_totals(calls))}"


def format_suite(suite: SuiteProgress) -> str:
    """`demo: 12 of 53 cases, 10 passed, 2 failed, 83% pass, is-equals 0.830, $0.02, 2.1 s`."""
    return ", ".join(filter(None, (format_counts(suite.tally), suite.time)))


def format_counts(tally: Tally) -> str:
    """As `format_suite`, without the time."""
    parts = [_format_done(tally)]
    for status in Status:
        if count := tally.states.get(status, 0):
            word = STATES[status][0] if status in STATES else str(status)
            parts.append(number_format.count(count, "error") if status is Status.ERRORED else f"{count:,} {word}")
    if tally.pass_rate is not None and tally.states.get(Status.FAILED, 0):
        parts.append(f"{tally.pass_rate:.0%} pass")
    parts += [*format_means(tally), *format_costs(tally)]
    return f"{display_name(tally.label, 80)}: {', '.join(parts)}"


def _format_done(tally: Tally) -> str:
    if tally.planned in (None, tally.done):
        return number_format.trials(tally.cases, tally.done)
    noun = "trial" if tally.cases and tally.cases < tally.done else "case"
    return f"{tally.done:,} of {number_format.count(tally.planned or 0, noun)}"


def format_means(tally: Tally, width: int = 60) -> Iterator[str]:
    """`is-equals 0.830` for the first evaluators. Long names are cut, numbers are not."""
    for evaluator, mean in list(tally.means.items())[:_EVALUATORS]:
        number = f" {mean:.3f}"
        short = Text(display_name(evaluator), end="")
        short.truncate(max(width - len(number), 2), overflow="ellipsis")
        yield short.plain + number
    if (rest := len(tally.means) - _EVALUATORS) > 0:
        yield f"… and {rest:,} more"


def format_costs(tally: Tally) -> Iterator[str]:
    """The cost so far, if it is known."""
    if tally.cost:
        from scoregate.kernel.types.runs import number_format

        yield number_format.cost(tally.cost)


_LONGEST_LINE = 2_000
_SHARE = 20  # updates take at most 1/20 of the time
PrintLine: TypeAlias = Callable[[Text], None]


@record
class ProgressDisplay:
    """`observe` shows events, `print_line` prints a line, `tick` updates the display if it is time."""

    observe: Observer
    print_line: PrintLine
    tick: Callable[[], None]


@dataclass(slots=True)
class RefreshLimit:
    """Limits how often progress is updated: less often if updates take long."""

    every_s: float
    _next: float = 0.0

    def is_due(self) -> bool:
        """Whether the next update is due."""
        return monotonic() >= self._next

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Measure how long an update takes."""
        started = monotonic()
        yield
        now = monotonic()
        self._next = now + max(self.every_s, _SHARE * (now - started))


def format_output_line(line: str) -> Text:
    """Format a line that a script printed, with the mark of such lines.

    It keeps its indentation; terminal sequences are removed.
    """
    return Text(mark_output(harmless_marks(_flatten(line))), style="dim")


def format_own_line(line: str) -> Text:
    """Format a line of scoregate's own, such as the estimate, in which names may be untrusted."""
    return Text(harmless(_flatten(line)), style="dim")


def _flatten(line: str) -> str:
    return excerpt(line, _LONGEST_LINE).replace("\n", " ").expandtabs(4)


_SUITE, _CASE, _EVALUATOR, _ERROR = 60, 120, 40, 160
_MOST_PARTS = 12
_MARKS = {Status.PASSED: ("✓", "green"), Status.FAILED: ("✗", "red"), Status.ERRORED: ("!", "yellow")}


def format_cases(recording: Recording) -> Text:
    """`✓ demo · greeting  is-polite 1, is-brief 0.5  1.2 s`, for each case that the last event finished."""
    return Text("\n").join(_format_case(suite.label, case) for suite, case in recording.finished)


def _format_case(suite: str, case: CaseResult) -> Text:
    text = Text("  ").append(*_MARKS.get(case.status, ("·", "dim"))).append(f" {display_name(suite, _SUITE)} · ", "dim")
    text.append(display_name(case.name or case.hash, _CASE), "default")
    if case.repeat:
        text.append(f" (repeat {case.repeat + 1})", "dim")
    for index, (part, style) in enumerate(_format_results(case)):
        text.append(f"{', ' if index else '  '}").append(part, style)
        if index == _MOST_PARTS:
            text.append(", …")
            break
    if case.duration_ms is not None:
        text.append(f"  {number_format.duration(case.duration_ms / 1000)}", "dim")
    return text


def _format_results(case: CaseResult) -> Iterator[tuple[str, str]]:
    for name, evaluation in case.evaluations.items():
        failed = evaluation.passed is False
        needs = f" (needs {evaluation.threshold})" if failed else ""
        score = format_score(evaluation.score, evaluation.threshold)
        yield f"{display_name(name, _EVALUATOR)} {score}{needs}", "red" if failed else "default"
    for name, label in case.labels.items():
        yield f"{display_name(name, _EVALUATOR)} {display_name(str(label.label), _EVALUATOR)}", "default"
    for error in case.errors:
        source = f"{display_name(error.evaluator, _EVALUATOR)}: " if error.evaluator else ""
        yield f"{source}{display_name(error.error.type, _EVALUATOR)}: {one_line(error.error.message, _ERROR)}", "yellow"
