"""One trial as data of the page: input, output, scores with reasons, errors, usage and trace."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeAlias

from scoregate.kernel.report.excerpts import format_score
from scoregate.kernel.report.html.assets import split_secret
from scoregate.kernel.report.html.text_budget import DisplayText, TextBudget
from scoregate.kernel.types.conversation import Conversation, Turn
from scoregate.kernel.types.evaluation import Evaluation, Threshold, Usage, is_plain
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.media import MediaFile, ReadMedia, Reference, describe_number, find_references, format_size
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.trajectory_steps import Message, Step

MOST_BYTES = 20_000_000
_MOST_MEDIA_FILES = 5_000
_MOST_IN_VALUE = 24
MediaRow: TypeAlias = tuple[str, str, str, str]


def media_rows(value: Any, budget: TextBudget) -> list[MediaRow]:
    """The images and audio in a value, each with its digest, its type, its size and its name."""
    return [_make_row(each, budget) for each in islice(find_references(value), _MOST_IN_VALUE)]


def _make_row(reference: Reference, budget: TextBudget) -> MediaRow:
    name = budget.line(reference.name) if reference.name else ""
    return reference.digest, reference.type, format_size(reference.size), name


@dataclass(slots=True)
class PageMedia:
    """Collects what trials refer to, and writes the files into the page.

    Attributes:
        left_out: the number of files over the limit; `missing`: of those that neither run has.
    """

    left_out: int = 0
    missing: int = 0
    _ranks: dict[str, int] = field(default_factory=dict)

    def note(self, rows: Iterable[MediaRow], rank: int) -> None:
        """Note the images and audio of a trial; those of cases with the lowest ranks are written first."""
        for digest, *_ in rows:
            self._note(digest, rank)

    def _note(self, digest: str, rank: int) -> None:
        if digest in self._ranks:
            self._ranks[digest] = min(rank, self._ranks[digest])
        elif len(self._ranks) < _MOST_MEDIA_FILES:
            self._ranks[digest] = rank
        else:
            self.left_out += 1

    def add(self, other: PageMedia) -> None:
        """Add what other trials refer to."""
        self.left_out += other.left_out
        for digest, rank in other._ranks.items():
            self._note(digest, rank)

    def write(self, read: ReadMedia, redact: Callable[[str], str]) -> Iterator[str]:
        """Yield an element for each file that is in the page, and for each that is missing."""
        left = MOST_BYTES
        for digest in sorted(self._ranks, key=lambda each: (self._ranks[each], each)):
            file = read(digest)
            if file is None:
                self.missing += 1
                yield f'<script type="text/plain" id="media-{digest}"></script>\n'
            elif len(file.data) > left:
                self.left_out += 1
            else:
                left -= len(file.data)
                yield _make_element(digest, file, redact)

    def describe(self) -> str:
        """What the page leaves out; empty if it has everything."""
        parts = []
        if self.left_out:
            limit = f"This page holds {format_size(MOST_BYTES)} of images and recordings, of the worst cases first."
            parts.append(f"{limit} {self.left_out:,} more are in the folder run/media.")
        if self.missing:
            parts.append(f"{describe_number(self.missing)} not kept with the run or its baseline.")
        return " ".join(parts)


def _make_element(digest: str, file: MediaFile, redact: Callable[[str], str]) -> str:
    text = split_secret(b64encode(file.data).decode(), redact)
    return f'<script type="text/plain" id="media-{digest}" data-media="{file.type}">{text}</script>\n'


_TURNS = 200


def conversation_data(output: Any, budget: TextBudget) -> dict[str, Any] | None:
    """The turns of a conversation and its end; None for other outputs."""
    conversation = Conversation.read(output)
    if conversation is None:
        return None
    fields = {
        "turns": [_turn_data(turn, budget) for turn in conversation.turns[:_TURNS]],
        "left_out": max(0, len(conversation.turns) - _TURNS) or None,
        "ended": None if conversation.ended is None else str(conversation.ended),
        "goal": conversation.goal_achieved,
        "findings": [budget.line(finding, 500) for finding in conversation.findings[:_TURNS]],
    }
    return {name: value for name, value in fields.items() if value is not None}


def _turn_data(turn: Turn, budget: TextBudget) -> dict[str, Any]:
    fields = {
        "user": budget.text(turn.user),
        "assistant": budget.text(turn.assistant),
        "reasoning": budget.text(turn.reasoning or None),
        "ms": turn.duration_ms,
        "context": _values(turn.context, budget),
        "calls": _values(turn.tool_calls, budget),
        "more": budget.text(dict(turn.metadata)) if turn.metadata else None,
    }
    return {name: value for name, value in fields.items() if value not in (None, [])}


def _values(values: Sequence[Any], budget: TextBudget) -> list[Any]:
    return [budget.text(value) for value in values[:_TURNS]]


_STEPS = 200
_DEEPEST = 30
_ATTRIBUTES = 30


def trace_data(trace: Any, budget: TextBudget) -> dict[str, Any] | None:
    """The first steps of a trace; None for anything else. Times are milliseconds from its start."""
    spans = trace.get("spans") if isinstance(trace, Mapping) else None
    known = [span for span in spans if isinstance(span, Mapping)] if isinstance(spans, Sequence) else []
    if not known:
        return None
    start = min(_number(span, "start_ns") for span in known)
    steps = []
    for span, depth in _walk_tree(known[:_STEPS]):
        start_ns, end_ns = _number(span, "start_ns"), _number(span, "end_ns")
        attributes = span.get("attributes")
        pairs = list(attributes.items())[:_ATTRIBUTES] if isinstance(attributes, Mapping) else []
        step = {
            "depth": depth,
            "name": budget.line(str(span.get("name") or "(no name)")),
            "at": (start_ns - start) / 1e6,
            "ms": max(0.0, end_ns - start_ns) / 1e6,
            "error": None if span.get("error") is None else budget.text(str(span["error"])),
            "attributes": [[budget.line(str(key)), budget.text(value)] for key, value in pairs],
        }
        steps.append(step)
    return {"steps": steps, "left_out": len(known) - len(steps)}


def _walk_tree(spans: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """The spans as a tree in depth-first order; spans in a cycle are skipped."""
    ids = {str(span.get("span_id")) for span in spans}
    below: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for span in spans:
        parent = str(span.get("parent_id") or "")
        below[parent if parent in ids and parent != span.get("span_id") else ""].append(span)
    queue = [(span, 0) for span in reversed(below.pop("", []))]
    while queue:
        span, depth = queue.pop()
        yield span, min(depth, _DEEPEST)
        queue.extend((child, depth + 1) for child in reversed(below.pop(str(span.get("span_id")), [])))


def _number(span: Mapping[str, Any], name: str) -> float:
    value = span.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


_MOST_PATH_STEPS = 300
_MOST_FILES = 100


def trajectory_data(trace: Any, budget: TextBudget) -> dict[str, Any] | None:
    """The first steps of a trajectory; None for anything else."""
    if trace is None:
        return None
    from scoregate.kernel.types.trajectories.trajectory import Trajectory

    trajectory = Trajectory.read(trace)
    if trajectory is None:
        return None
    steps = trajectory.steps[:_MOST_PATH_STEPS]
    data = {
        "steps": [_step_data(step, budget) for step in steps],
        "left_out": trajectory.left_out + len(trajectory.steps) - len(steps),
        "files": [budget.line(path) for path in (trajectory.changed_files or ())[:_MOST_FILES]],
        "stop": budget.line(trajectory.stop_reason),
        "missing": budget.line(trajectory.incomplete),
    }
    return {name: value for name, value in data.items() if value or name == "steps"}


def _step_data(step: Step, budget: TextBudget) -> dict[str, Any]:
    if isinstance(step, Message):
        data: dict[str, Any] = {"role": step.role, "title": budget.line(step.text), "text": budget.text(step.text)}
    else:
        arguments = dict(step.arguments)
        data = {
            "title": budget.line(str(step)),
            "call": blake2b(dump([step.name, arguments]), digest_size=8).hexdigest(),
            "arguments": budget.text(arguments) if arguments else None,
            "result": budget.text(step.result),
            "error": budget.text(step.error),
            "ms": None if step.duration_s is None else step.duration_s * 1000,
        }
    data["agent"] = budget.line(step.agent) if step.agent else None
    return {name: value for name, value in data.items() if value is not None}


_MOST = 50


def trial_data(case: CaseResult, budget: TextBudget, *, show_outputs: bool) -> dict[str, Any]:
    """A trial as data without unknown fields. Without `show_outputs` it holds no output of a model.

    The fields spend the text budget in their order.
    """
    data: dict[str, Any] = {"repeat": case.repeat, "status": str(case.status)}
    if show_outputs:
        _add_output(data, case, budget)
    if case.truncated:
        data["cut"] = True
    if case.errors:
        data["errors"] = [_error_data(error, budget) for error in case.errors[:_MOST]]
    data["scores"] = _scores_data(case.evaluations, budget, show_outputs=show_outputs)
    if text := budget.text(case.input, longest_line=0):
        data["input"] = text
    if budget.has_media:
        values = {"output": case.output if show_outputs else None, "input": case.input}
        data["media"] = {name: rows for name, value in values.items() if (rows := media_rows(value, budget))}
    if case.unscored:
        data["unscored"] = [budget.name(name) for name in case.unscored]
    if case.pending:
        data["pending"] = [budget.name(name) for name in case.pending]
    _add_costs(data, case, budget)
    if show_outputs and case.trace is not None:
        _add_steps(data, case.trace, budget)
    return data


def _add_steps(data: dict[str, Any], trace: Any, budget: TextBudget) -> None:
    if (path := trajectory_data(trace, budget)) is not None:
        data["path"] = path
    elif (steps := trace_data(trace, budget)) is not None:
        data["trace"] = steps


def _add_output(data: dict[str, Any], case: CaseResult, budget: TextBudget) -> None:
    output = case.output
    if type(output) is not str and (conversation := conversation_data(output, budget)) is not None:
        data["talk"] = conversation
    elif text := budget.text(output, longest_line=0):
        data["output"] = text


def _add_costs(data: dict[str, Any], case: CaseResult, budget: TextBudget) -> None:
    if case.duration_ms is not None:
        data["ms"] = case.duration_ms
    if case.attempts > 1:
        data["attempts"] = case.attempts
    if case.usage is not None:
        data["usage"] = _usage_data(case.usage, budget)


def _error_data(error: CaseError, budget: TextBudget) -> dict[str, Any]:
    fields = {
        "evaluator": None if error.evaluator is None else budget.line(error.evaluator),
        "type": budget.line(error.error.type),
        "message": budget.text(error.error.message),
        "traceback": budget.text(error.error.traceback),
        "advice": budget.line(error.error.advice, 1000),
    }
    return _without_empty(fields)


def _scores_data(
    evaluations: Mapping[str, Evaluation], budget: TextBudget, *, show_outputs: bool
) -> dict[str, Mapping[str, Any]]:
    data = {}
    for name, evaluation in evaluations.items():
        shown = budget.names.get(name) or budget.name(name)
        if is_plain(evaluation):
            data[shown] = _plain_evaluation_data(evaluation.score, evaluation.threshold)
        else:
            data[shown] = _evaluation_data(evaluation, budget, show_outputs)
    return data


def _evaluation_data(evaluation: Evaluation, budget: TextBudget, show_outputs: bool) -> Mapping[str, Any]:
    fields = {
        "score": evaluation.score,
        "shown": format_score(evaluation.score, evaluation.threshold),
        "passed": evaluation.passed,
        "threshold": str(evaluation.threshold) if evaluation.threshold is not None else None,
        "said": list(_metadata_pairs(evaluation.metadata, budget)) if show_outputs else None,
        "criteria": [
            _without_empty(
                {
                    "text": budget.line(assertion.criterion, 1000) or "(no criterion)",
                    "passed": assertion.passed,
                    "optional": not assertion.required or None,
                    "said": list(_metadata_pairs(assertion.metadata, budget)) if show_outputs else None,
                }
            )
            for assertion in islice(evaluation.assertions or (), _MOST)
        ],
        "usage": None if evaluation.usage is None else _usage_data(evaluation.usage, budget),
    }
    return _without_empty(fields)


@lru_cache(maxsize=1024)
def _plain_evaluation_data(score: float, threshold: Threshold | None) -> Mapping[str, Any]:
    """The data of an evaluation that is only a score. Many are equal."""
    fields = {
        "score": score,
        "shown": format_score(score, threshold),
        "passed": None if threshold is None else threshold.holds(score),
        "threshold": None if threshold is None else str(threshold),
    }
    return _without_empty(fields)


def _metadata_pairs(metadata: Any, budget: TextBudget) -> Iterator[tuple[str, DisplayText | None]]:
    """Metadata as text, with the long prompt last."""
    if isinstance(metadata, Mapping):
        known = [(str(key), value) for key, value in metadata.items() if value not in (None, "", [], {})]
        for key, value in islice(sorted(known, key=lambda pair: pair[0] == "prompt"), _MOST):
            yield budget.line(key), budget.text(value)
    elif metadata is not None:
        yield "metadata", budget.text(metadata)


def _usage_data(usage: Usage, budget: TextBudget) -> dict[str, Any]:
    fields = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached_tokens": usage.cached_tokens or None,
        "cost": usage.cost,
        "model": None if usage.model is None else budget.line(usage.model),
        "cached": usage.cached or None,
    }
    return _without_empty(fields)


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [])}
