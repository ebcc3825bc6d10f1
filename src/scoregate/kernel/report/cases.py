"""The failing cases that reports show, with their scores and outputs in the run and in the baseline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from posixpath import basename, join
from typing import TypeAlias

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.report.case_order import NO_FAILED_GATES, FailedGates, take_in_turn
from scoregate.kernel.report.context import ReportContext, source_url
from scoregate.kernel.report.conversations import ConversationView, FailedTurns, build_conversation, find_failed_turns
from scoregate.kernel.report.excerpts import (
    TEXT_LIMIT,
    CaseTexts,
    build_case_texts,
    format_score,
    format_value,
    reason_lines,
    summarize_reasons,
)
from scoregate.kernel.report.failing_trials import DIGITS, FailingTrial
from scoregate.kernel.report.text import display_name as shown_name
from scoregate.kernel.report.text import make_visible, one_line
from scoregate.kernel.types.event_values import ErrorInfo, Origin
from scoregate.kernel.types.frames import find_user_frames
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.confirmations import Confirmation, confirmations_of
from scoregate.kernel.types.text import SortKey, natural_sort_key

CasePosition: TypeAlias = tuple[int, CaseKey]
# The suite, the evaluator, the type of the exception and its message.
_ErrorKind: TypeAlias = tuple[int, str | None, str, str]
_MAX_ERROR_KINDS = 200
_MAX_MESSAGES = 50  # of one type of error, so that an error with a number in its message hides no other error
_OTHER_MESSAGES = "other messages"
_MAX_REASON = 2_000
_MAX_TRACE = 4_000
_MAX_TEXT = 2_000
_MAX_WHOLE = 40_000
_WORD_WITH_DIGIT = re.compile(r"\w*\d\w*")
# Names of the field with the expected output, in scoregate and in other frameworks.
_METADATA = "metadata"
_EXPECTED = (
    *("expected", "expected_output", "expected_answer", "expected_response", "expected_text", "reference"),
    *("ground_truth", "ideal", "target", "answer"),
)


@record
class FailedEvaluation:
    """An evaluator whose threshold a case missed; `base` is its score in the baseline, None if unknown.

    `shown` is the score with enough digits to see that it misses, `why` the reasons on one short line,
    `reasons` each on a line of its own, up to a limit.
    """

    evaluator: str
    base: float | None
    score: float
    shown: str
    threshold: str
    why: str
    reasons: tuple[str, ...] = ()


@record
class ErrorView:
    """A kind of error and its number of trials; `case` is the first of them by name, None if it is not of a case.

    `trace` is the end of the traceback, or the message. `gated`: a gate reports it, too. `messages` is the number of
    its messages as text, empty for one.
    """

    where: str
    evaluator: str | None
    type: str
    message: str
    advice: str
    trials: int
    case: str | None = None
    trace: str = ""
    gated: bool = False
    messages: str = ""


@record
class Snapshot:
    """The parts of a case that reports show: name, output as limited text, missed thresholds.

    `turns` is its conversation, None for other outputs. `origin` is the line that the case was read from. `reasons` are
    those of scores without a threshold. `question` is the input without the expected output, which is `expected`.
    `whole` is more of the output than `output`, to find differences.
    """

    name: str
    output: str
    misses: tuple[FailedEvaluation, ...]
    turns: FailedTurns | None = None
    origin: Origin | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    expected: str = ""
    whole: str = ""

    def build_texts(self, old: Snapshot | None) -> CaseTexts:
        """The texts of the case, compared with its snapshot in the baseline."""
        return build_case_texts(self.question, self.expected, self.whole, "" if old is None else old.whole)


@dataclass(slots=True)
class CollectedCases:
    """The snapshots and errors that one pass over the cases collected."""

    snapshots: dict[CasePosition, Snapshot] = field(default_factory=dict)
    messages: Counter[tuple[int, str | None, str]] = field(default_factory=Counter)
    _trials: Counter[_ErrorKind] = field(default_factory=Counter)
    _first: dict[_ErrorKind, tuple[SortKey, ErrorView]] = field(default_factory=dict)

    @property
    def errors(self) -> list[ErrorView]:
        """The kinds of errors, in the order in which they were found."""
        return [replace(first, trials=self._trials[kind]) for kind, (_, first) in self._first.items()]

    def count_errors(self, case: CaseResult, label: str) -> None:
        """Count the errors of a trial.

        Args:
            case: the trial.
            label: the name of its suite.
        """
        name = shown_name(case.name or case.hash)
        order = natural_sort_key(name)
        for error in case.errors:
            if error.lacks_scale:  # its row reports it
                continue
            source = (case.suite, error.evaluator, error.error.type)
            kind = (*source, one_line(error.error.message, 200))
            if kind not in self._first and self.messages[source] >= _MAX_MESSAGES:
                kind = (*source, _OTHER_MESSAGES)
            if kind not in self._first and len(self._first) >= _MAX_ERROR_KINDS:
                kind = (case.suite, None, "other errors", "")
            self._trials[kind] += 1
            if (first := self._first.get(kind)) is None:
                self.messages[source] += 1
            if first is None or order < first[0]:
                self._first[kind] = (
                    order,
                    ErrorView(
                        where=label,
                        evaluator=kind[1],
                        type=kind[2],
                        message=kind[3],
                        advice=error.error.advice,
                        trials=0,
                        case=name,
                        trace=format_trace(error.error),
                    ),
                )


def collect_cases(
    cases: Iterable[CaseResult], positions: Set[CasePosition], *, errors: int, labels: tuple[str, ...]
) -> CollectedCases:
    """Read cases until all wanted snapshots are taken and the errors of all trials with errors are counted.

    Args:
        cases: the cases of a run.
        positions: the cases to take snapshots of.
        errors: the number of trials with errors; 0 to count none.
        labels: the names of the suites.
    """
    collected, waiting, trials_left = CollectedCases(), set(positions), errors
    for case in cases if waiting or errors else ():
        if (position := (case.suite, case.key)) in waiting:
            waiting.discard(position)
            collected.snapshots[position] = take_snapshot(case)
        if errors and not all(error.lacks_scale for error in case.errors):
            collected.count_errors(case, labels[case.suite])
            trials_left -= 1
        if not waiting and trials_left <= 0:
            break
    return collected


def take_snapshot(case: CaseResult) -> Snapshot:
    """Take a snapshot of a case."""
    misses = (
        FailedEvaluation(
            evaluator=evaluator,
            base=None,
            score=evaluation.score,
            shown=format_score(evaluation.score, evaluation.threshold),
            threshold=str(evaluation.threshold),
            why=summarize_reasons(evaluation),
            reasons=tuple(reason_lines(evaluation, _MAX_REASON)),
        )
        for evaluator, evaluation in case.evaluations.items()
        if evaluation.passed is False
    )
    question, expected = split_expected(case.input)
    whole = format_value(case.output, _MAX_WHOLE)
    return Snapshot(
        shown_name(case.name or case.hash),
        format_value(case.output) if len(whole) > TEXT_LIMIT else whole,
        tuple(misses),
        find_failed_turns(case),
        case.origin,
        {name: summarize_reasons(each) for name, each in case.evaluations.items() if each.threshold is None},
        format_value(question, _MAX_TEXT),
        format_value(expected, _MAX_TEXT),
        whole,
    )


def split_expected(case_input: object) -> tuple[object, object]:
    """The input of a case without its metadata, and its expected output; None for one that it hasn't."""
    if not isinstance(case_input, Mapping):
        return case_input, None
    name = next((each for each in _EXPECTED if case_input.get(each) not in (None, "")), None)
    left_out = (name, _METADATA)
    rest = {key: value for key, value in case_input.items() if key not in left_out and value not in (None, "", [], {})}
    if not rest:
        return None, None if name is None else case_input[name]
    question = next(iter(rest.values())) if len(rest) == 1 else rest.get("input", rest) if name else rest
    return question, None if name is None else case_input[name]


def _case_order(error: ErrorView) -> SortKey:
    return natural_sort_key(error.case or "")


def merge_errors(errors: Iterable[ErrorView]) -> tuple[ErrorView, ...]:
    """Merge the errors of cases that differ only in their messages, the most frequent first; others stay as they are.

    They have the same type, and come from the same line of the user's code. Without such a line, their messages are
    equal except for words with digits.
    """
    others: list[ErrorView] = []
    groups: dict[tuple[object, ...], list[ErrorView]] = {}
    for error in errors:
        if error.case is None:
            others.append(error)
        else:
            source = [(frame.file, frame.line) for frame in find_user_frames(error.trace, most=1)]
            kind = source[0] if source else _WORD_WITH_DIGIT.sub("#", error.message)
            groups.setdefault((error.where, error.evaluator, error.type, kind), []).append(error)
    merged = map(_merge_group, groups.values())
    return (*others, *sorted(merged, key=lambda error: (-error.trials, natural_sort_key(error.where), error.type)))


def _merge_group(group: Sequence[ErrorView]) -> ErrorView:
    named = sorted([error for error in group if error.message != _OTHER_MESSAGES] or group, key=_case_order)
    count = f"{len(named):,} messages" if len(named) == len(group) else f"more than {len(named):,} messages"
    return replace(named[0], trials=sum(error.trials for error in group), messages=count if len(group) > 1 else "")


def format_trace(error: ErrorInfo) -> str:
    """The end of an error's traceback, or its message, as safe lines."""
    return make_visible((error.traceback or error.message)[-_MAX_TRACE:]).strip()


@record
class FailingCase:
    """A failing case with the reasons.

    `shown` are its texts for the comment, empty if outputs may not be shown.
    `tries` is the result of rerunning the case, empty if it was not rerun. For a conversation, the output is the
    transcript, and `conversation` holds the failed turns. `origin` is the line of a file that the case was read from,
    with the path from the top of the repository; `place` is its short form, such as `refunds.csv:12`. `texts` are
    input, output and expected output with their titles, as far as they are known and may be shown.
    """

    suite: str
    key: CaseKey
    name: str
    is_newly_failing: bool
    drop: float
    tries: str
    misses: tuple[FailedEvaluation, ...]
    url: str | None = None
    shown: CaseTexts = CaseTexts()
    conversation: ConversationView | None = None
    origin: Origin | None = None
    texts: tuple[tuple[str, str], ...] = ()

    @property
    def place(self) -> str:
        """The file name and the line; empty if the case was not read from a file."""
        return f"{basename(self.origin.file)}:{self.origin.line}" if self.origin else ""


def build_failing_cases(
    comparison: Comparison,
    trials: Sequence[FailingTrial],
    *,
    snapshots: Mapping[CasePosition, Snapshot],
    base_snapshots: Mapping[CasePosition, Snapshot],
    context: ReportContext,
) -> Iterator[FailingCase]:
    """Build the views of failing trials; `base_snapshots` has the baseline's cases if outputs may be shown."""
    tries = {(each.suite, each.case): describe_confirmation(each) for each in confirmations_of(comparison.run)}
    for trial in trials:
        snapshot = snapshots.get((trial.suite, trial.key))
        if snapshot is not None:
            suite, origin = comparison.run.suites[trial.suite], snapshot.origin
            base_scores = dict(trial.base_scores)
            view = FailingCase(
                suite=suite.label,
                key=trial.key,
                name=snapshot.name,
                is_newly_failing=trial.base is not None,
                drop=trial.drop,
                tries=tries.get((suite.label, trial.key.hash), ""),
                misses=tuple(replace(miss, base=base_scores.get(miss.evaluator)) for miss in snapshot.misses),
                url=source_url(origin or suite.origin, context),
                origin=None if origin is None else replace(origin, file=join(context.folder, origin.file)),
            )
            old = base_snapshots.get(trial.base) if trial.base else None
            if context.show_outputs:
                view = _with_texts(view, snapshot, old)
            yield view


def list_texts(snapshot: Snapshot, old: Snapshot | None = None) -> Iterator[tuple[str, str]]:
    """Input, output and expected output of a case with their titles, and the output of the baseline if it differs."""
    if snapshot.turns is not None:
        return
    if snapshot.question and one_line(snapshot.question, _MAX_TEXT) != snapshot.name:
        yield "input", snapshot.question
    if old is not None and old.output != snapshot.output:
        yield "baseline", old.output
    if snapshot.output:
        yield "output", snapshot.output
    if snapshot.expected:
        yield "expected", snapshot.expected


def sort_failing(views: Iterable[FailingCase], gates: FailedGates = NO_FAILED_GATES) -> list[FailingCase]:
    """Sort failing cases: those of failed gates, then suites in turn, the largest drops first.

    Equal drops are in the order of file, line and name.
    """

    def rank(view: FailingCase) -> int:
        return gates.rank(view.suite, [miss.evaluator for miss in view.misses])

    def place(view: FailingCase) -> tuple[int, float, str, int, SortKey, CaseKey]:
        file, line = (view.origin.file, view.origin.line) if view.origin else ("", 0)
        return rank(view), -round(view.drop, DIGITS), file, line, natural_sort_key(view.name), view.key

    return take_in_turn(sorted(views, key=place), lambda view: view.suite, rank)


def describe_confirmation(tried: Confirmation) -> str:
    """The result of rerunning a case, and of the same case in the baseline if it ran again, too."""
    text = f"{tried.outcome}: {tried.tries.count(True)} of {len(tried.tries)} further tries passed"
    base = tried.base_tries
    return f"{text}, and {base.count(True)} of {len(base)} in the baseline" if base else text


def _with_texts(view: FailingCase, snapshot: Snapshot, old: Snapshot | None) -> FailingCase:
    texts = tuple(list_texts(snapshot, old))
    if snapshot.turns is not None:
        conversation = build_conversation(snapshot.turns, old.turns if old else None)
        return replace(view, shown=CaseTexts(output=snapshot.output), conversation=conversation, texts=texts)
    return replace(view, shown=snapshot.build_texts(old), texts=texts)
