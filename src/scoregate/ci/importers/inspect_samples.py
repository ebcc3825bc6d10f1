"""One sample of inspect_ai: its scores, what it used, how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite, isnan
from typing import Any

from scoregate.ci.importers.fields import count, error, milliseconds, table, tables, text, told
from scoregate.ci.importers.judgement import Scales, scaled
from scoregate.ci.importers.trials import Grade, Trial, excerpt
from scoregate.core.evaluation import Usage
from scoregate.core.events import ErrorInfo
from scoregate.core.figures import amount, number

# As inspect's own `value_to_float` has them.
_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_YES, _NO = ("yes", "true"), ("no", "false")
_BROKEN = ("grader_failed", "scoring_failed")
_ATTACHED = "attachment://"


def trial(sample: Mapping[str, Any], scales: Scales) -> Trial:
    """One epoch of a sample. Its scores are grades, not verdicts: inspect passes or fails nothing by itself."""
    attachments = table(sample.get("attachments"))
    given = _resolved(sample.get("input"), attachments)
    failure = table(sample.get("error"))
    grades, unscored = _grades(table(sample.get("scores")), scales)
    return Trial(
        text(sample.get("id")),
        name=_name(sample),
        repeat=max(0, count(sample.get("epoch")) - 1),
        input=given,
        definition=[given, sample.get("target"), sample.get("choices")],
        output=_resolved(_output(table(sample.get("output"))), attachments),
        duration_ms=milliseconds(_seconds(sample)),
        attempts=1 + sum(1 for _ in tables(sample.get("error_retries"))),
        usage=_usage(table(sample.get("model_usage"))),
        grades=grades,
        unscored=unscored,
        error=error("SampleError", failure.get("message"), failure.get("traceback")) if failure else None,
    )


def _name(sample: Mapping[str, Any]) -> str:
    """Its id; where that is only a number, what it asks."""
    given, asked = sample.get("id"), sample.get("input")
    return f"{given}: {excerpt(asked, 80)}" if isinstance(given, int) and isinstance(asked, str) else text(given)


def _seconds(sample: Mapping[str, Any]) -> object:
    """Without the time that it waited for its turn, where that is known."""
    return sample.get("total_time") if amount(sample.get("working_time")) is None else sample.get("working_time")


def _output(output: Mapping[str, Any]) -> object:
    first = next(tables(output.get("choices")), {})
    return output.get("completion") or table(first.get("message")).get("content")


def _resolved(value: Any, attachments: Mapping[str, Any], depth: int = 0) -> Any:
    """The value with the texts that the log keeps apart in their places."""
    if depth > 20:
        return value
    if isinstance(value, str):
        known = value.startswith(_ATTACHED)
        return attachments.get(value.removeprefix(_ATTACHED), value) if known else value
    if isinstance(value, list):
        return [_resolved(each, attachments, depth + 1) for each in value]
    if isinstance(value, dict):
        return {name: _resolved(each, attachments, depth + 1) for name, each in value.items()}
    return value


def _usage(by_model: Mapping[str, Any]) -> Usage | None:
    used = [table(each) for each in by_model.values()]
    if not used:
        return None
    costs = [cost for each in used if (cost := amount(each.get("total_cost"))) is not None]
    cached = sum(count(each.get("input_tokens_cache_read")) for each in used)
    written = sum(count(each.get("input_tokens_cache_write")) for each in used)
    return Usage(
        sum(count(each.get("input_tokens")) for each in used) + cached + written,
        sum(count(each.get("output_tokens")) for each in used),
        cached,
        sum(costs) if costs else None,
        next(iter(by_model)) if len(by_model) == 1 else None,
    )


def _grades(scores: Mapping[str, Any], scales: Scales) -> tuple[tuple[Grade, ...], tuple[str, ...]]:
    """The grades, and the scorers that gave none, as they may."""
    grades: list[Grade] = []
    unscored: list[str] = []
    for scorer, score in scores.items():
        labels, values = {}, dict(_values(scorer, table(score).get("value")))
        for name, value in values.items():
            found = _number(value)
            if found is None and value is not None:
                labels[name] = value
            elif found is None or isnan(found):
                unscored.append(name)
            else:
                grades.append(Grade(name, found))
        grades[:] = [_explained(each, table(score), labels) if each.evaluator in values else each for each in grades]
        if unscored and text(table(score).get("reason")) in _BROKEN:
            grades += [_broken(name, table(score)) for name in unscored if name in values]
            unscored = [name for name in unscored if name not in values]
    return tuple(scaled(grade, scales) for grade in grades), tuple(unscored)


def _values(scorer: str, value: object) -> Iterator[tuple[str, object]]:
    """A scorer's values, each by name: of one that gives several, with their keys or places."""
    if isinstance(value, Mapping):
        yield from ((f"{scorer}.{key}", each) for key, each in value.items())
    elif isinstance(value, list):
        yield from ((f"{scorer}.{place}", each) for place, each in enumerate(value))
    else:
        yield scorer, value


def _number(value: object) -> float | None:
    """As a number; None for a label, which has none."""
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return number(value)
    if value in _WORDS or value.lower() in (*_YES, *_NO):
        return _WORDS.get(value, float(value.lower() in _YES))
    try:
        found = float(value)
    except ValueError:
        return None
    return found if isfinite(found) else None


def _explained(grade: Grade, score: Mapping[str, Any], labels: Mapping[str, object]) -> Grade:
    metadata = told(
        reason=score.get("explanation"),
        answer=score.get("answer"),
        why=score.get("reason"),
        labels=dict(labels),
        metadata=score.get("metadata"),
    )
    return Grade(grade.evaluator, grade.score, metadata=metadata)


def _broken(name: str, score: Mapping[str, Any]) -> Grade:
    why = text(score.get("explanation")) or text(score.get("reason"))
    return Grade(name, error=ErrorInfo("NoScore", f"its grader gave no score: {why[:2000]}"))
