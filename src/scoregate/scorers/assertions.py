"""Scorers of assertions that each case lists in its field `expected`, as the suites of `scoregate convert` do."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from scoregate.grading.grade import PASS_AT_ONE
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.json_io import to_text
from scoregate.scorers.check import Check, Values, check_length, import_extra
from scoregate.scorers.documents import json_schema, json_valid
from scoregate.scorers.output_texts import read_json_text
from scoregate.scorers.pattern_search import search_pattern

if TYPE_CHECKING:
    from scoregate.models import Model

NOT = "not-"
RUBRIC = "llm-rubric"
_MOST_CHARACTERS = 100_000
_MOST_JSON_STARTS = 1_000  # each start may be parsed up to the end of the text
_LONGEST = 100
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def assertion(name: str) -> Check:
    """Passes if the assertions of a case with this metric pass. A case without one gets no score.

    The field `expected` of a case is a list such as `[{"type": "contains", "value": "9", "metric": "hours"}]`. The
    `type` is one of `scoregate.scorers.assertions.TYPES`, or `not-` and one of them. The score is the mean, by
    `weight`. An assertion with `"required": false` is only scored. As in promptfoo, an output that is not a text is
    compared as JSON.

    Args:
        name: the metric, which is the scorer's name, too.
    """
    return Check(name, _check_assertions, {"metric": name})


def weighted_assertions(name: str = "score") -> Check:
    """Scores the mean of all assertions of a case, by their `weight`; passes at the case's own threshold.

    The threshold is an item of the field `expected`: `{"type": "threshold", "value": 0.5}`. A case without it gets no
    score.

    Args:
        name: the scorer's name.
    """
    return Check(name, _check_mean)


def rubric(name: str = RUBRIC, *, model: str | Model | None = None) -> CaseRubric:
    """Asks a model whether the output meets the rubrics of its case: assertions of the type `llm-rubric`.

    Args:
        name: the metric of the assertions, which is the scorer's name, too.
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
    """
    return CaseRubric(name, model)


@dataclass(frozen=True)
class CaseRubric:
    """A scorer that asks a model about the rubrics of each case.

    Attributes:
        name: the metric, and the scorer's name in the record.
        model: "provider/name", a name of OpenAI's, or a `Model`; None is the project's.
        max_concurrency: how many cases are judged at once.
        higher_is_better: always true.
    """

    version = 1
    higher_is_better = True

    name: str
    model: str | Model | None = None
    max_concurrency: int = 10

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation | None:  # noqa: A002
        """Ask the model about each rubric of the case.

        Args:
            output: the output to judge.
            input: the input that it answers.
            expected: the assertions of the case.

        Raises:
            ModelError: the model gives no answer.
            MissingExtra: a package is not installed.
        """
        from scoregate.scorers.judges import judge

        results = []
        for each in _list_assertions(expected):
            kind = str(each["type"])
            if kind.removeprefix(NOT) != RUBRIC or each.get("metric") != self.name:
                continue
            evaluation = await judge(str(each["value"]), model=self.model)(to_text(output), input)
            passed = (evaluation.score == 1) != kind.startswith(NOT)
            results.append(_Result(passed, str((evaluation.metadata or {}).get("reason", "")), each))
        return _combine(results)

    def _model_and_prompt(self) -> tuple[str, str]:
        """The model and a digest of the question without the case, for the fingerprint."""
        from scoregate.grading.judge import name_scorer_model
        from scoregate.grading.prompts import Template, digest_texts

        return name_scorer_model(self.model), digest_texts(Template.METRIC.version)


@dataclass(frozen=True, slots=True)
class _Result:
    """What an assertion found."""

    passed: bool
    reason: str
    assertion: Mapping[str, Any]

    @property
    def weight(self) -> float:
        return float(self.assertion.get("weight", 1))

    @property
    def is_required(self) -> bool:
        return bool(self.assertion.get("required", True)) and self.weight > 0


def _check_assertions(values: Values, *, metric: str) -> Evaluation | None:
    chosen = (each for each in _list_assertions(values.expected) if each.get("metric") == metric)
    return _combine([_evaluate(each, values) for each in chosen if str(each["type"]).removeprefix(NOT) != RUBRIC])


def _check_mean(values: Values) -> Evaluation | None:
    listed = _list_assertions(values.expected)
    limits = [each["value"] for each in listed if each["type"] == "threshold"]
    if not limits:
        return None
    results = [_evaluate(each, values) for each in listed if each["type"] != "threshold"]
    # In promptfoo, too, assertions without a weight don't count, so without any other the mean is 0.
    mean = _compute_mean(results) if any(each.weight > 0 for each in results) else 0.0
    return Evaluation(mean, Threshold(gte=float(limits[0])), _join_reasons(results))


def _list_assertions(expected: Any) -> Sequence[Mapping[str, Any]]:
    if expected is None:
        return ()
    if not isinstance(expected, list) or not all(isinstance(each, Mapping) and "type" in each for each in expected):
        raise ValueError(f"`expected` must be a list of assertions with a `type`, not {expected!r:.100}")
    return expected


def _combine(results: Sequence[_Result]) -> Evaluation | None:
    """The evaluation of several assertions: it passes if all required ones do."""
    if not results:
        return None
    required = [result for result in results if result.is_required]
    if not required:
        return Evaluation(_compute_mean(results), None, _join_reasons(results))
    return Evaluation(_compute_mean(required), PASS_AT_ONE, _join_reasons(required))


def _compute_mean(results: Sequence[_Result]) -> float:
    total = fsum(result.weight for result in results)
    if total <= 0:
        return fsum(result.passed for result in results) / len(results) if results else 0.0
    # A sum of weights such as 0.1 must not miss 1 by a rounding error.
    return 1.0 if all(each.passed for each in results) else fsum(each.weight * each.passed for each in results) / total


def _join_reasons(results: Sequence[_Result]) -> dict[str, str] | None:
    reasons = [result.reason for result in results if not result.passed]
    return {"reason": "; ".join(reasons)} if reasons else None


def _evaluate(each: Mapping[str, Any], values: Values) -> _Result:
    kind = str(each["type"])
    if (check := TYPES.get(kind.removeprefix(NOT))) is None:
        raise ValueError(f"there is no assertion of the type {kind!r:.60}; there are {', '.join(TYPES)}")
    passed = check(values, each) != kind.startswith(NOT)
    # An assertion without a value.
    return _Result(passed, f"{kind} {to_text(each.get('value')):.{_LONGEST}}".removesuffix(" null"), each)


def _equals(values: Values, each: Mapping[str, Any]) -> bool:
    wanted, output = each.get("value"), read_json_text(values.output, each["type"])
    if isinstance(wanted, str):
        return output == wanted
    try:
        parsed = json.loads(output)
    except (ValueError, RecursionError):
        return False
    return _same_json(parsed, wanted)


def _same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal. 1 and 1.0 are, true and 1 are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same_json(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_json, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _contains(*, every: bool, ignore_case: bool = False) -> Callable[[Values, Mapping[str, Any]], bool]:
    def check(values: Values, each: Mapping[str, Any]) -> bool:
        wanted = each["value"] if isinstance(each["value"], list) else [each["value"]]
        output = read_json_text(values.output, each["type"])
        if ignore_case:
            output, wanted = output.lower(), [text.lower() for text in wanted]
        return (all if every else any)(text in output for text in wanted)

    return check


def _matches(values: Values, each: Mapping[str, Any]) -> bool:
    return search_pattern(each["value"], read_json_text(values.output, each["type"]))


def _is_json(values: Values, each: Mapping[str, Any]) -> bool:
    text = read_json_text(values.output, each["type"])
    check = json_valid() if each.get("value") is None else json_schema(each["value"])
    problem = check(text)
    return problem is not None and problem.score == 1


def _contains_json(values: Values, each: Mapping[str, Any]) -> bool:
    values_in_text = list(_find_json(read_json_text(values.output, each["type"])))
    if each.get("value") is None:
        return bool(values_in_text)
    check = json_schema(each["value"])
    return any(result is not None and result.score == 1 for result in map(check, values_in_text))


def _find_json(text: str) -> Iterator[Any]:
    """The JSON objects in a text."""
    decoder, position = json.JSONDecoder(), 0
    for _ in range(_MOST_JSON_STARTS):
        if (start := text.find("{", position)) < 0:
            return
        try:
            value, position = decoder.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):
            position = start + 1


def _is_near(values: Values, each: Mapping[str, Any]) -> bool:
    rapidfuzz = import_extra("rapidfuzz", "levenshtein needs", extra="scorers")
    output = read_json_text(values.output, each["type"])
    check_length(output, _MOST_CHARACTERS, "levenshtein")
    return bool(rapidfuzz.distance.Levenshtein.distance(output, each["value"]) <= each["threshold"])


def _is_any(values: Values, each: Mapping[str, Any]) -> bool:
    return any(_evaluate(one, values).passed for one in _list_assertions(each["value"]))


def _matches_fuzzily(values: Values, each: Mapping[str, Any]) -> bool:
    """Whether one text contains the other, without case, punctuation and articles, as FuzzyMatch of OpenAI Evals."""
    one, other = (_normalize(text) for text in (read_json_text(values.output, each["type"]), str(each["value"])))
    return one in other or other in one if one and other else one == other


def _normalize(text: str) -> str:
    plain = text.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


# The types of assertions: those of promptfoo by their names there, and two for OpenAI Evals.
TYPES: Mapping[str, Callable[[Values, Mapping[str, Any]], bool]] = {
    "equals": _equals,
    "contains": _contains(every=True),
    "icontains": _contains(every=True, ignore_case=True),
    "contains-all": _contains(every=True),
    "contains-any": _contains(every=False),
    "icontains-all": _contains(every=True, ignore_case=True),
    "icontains-any": _contains(every=False, ignore_case=True),
    "starts-with": lambda values, each: read_json_text(values.output, each["type"]).startswith(each["value"]),
    "regex": _matches,
    "is-json": _is_json,
    "contains-json": _contains_json,
    "levenshtein": _is_near,
    "any-of": _is_any,
    "fuzzy-match": _matches_fuzzily,
    # The threshold is in milliseconds.
    "latency": lambda values, each: bool(values.duration_s * 1000 <= each["threshold"]),
}
