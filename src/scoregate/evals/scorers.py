"""The scorers of a suite: callables of the user with names, fingerprints and thresholds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from numbers import Real
from types import CodeType
from typing import Any, NamedTuple

from scoregate.engine.calls import is_async
from scoregate.engine.evaluators import make_scorer as make_evaluator_scorer
from scoregate.engine.fingerprint import digest, fingerprint_function, fingerprint_object
from scoregate.engine.imports import relative_path
from scoregate.engine.signatures import find_lambda_text
from scoregate.evals.annotations import list_names
from scoregate.evals.arguments import CONTEXT, read_arguments
from scoregate.evals.case import ScoreContext
from scoregate.evals.rows import EXPECTED, INPUT, METADATA, TAGS, Row, is_pydantic_evals_object
from scoregate.evals.scores import ScoreReader, is_bool, make_threshold
from scoregate.evals.task import Outcome
from scoregate.kernel.types.evaluation import Scale, Threshold
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.suite import Scorer
from scoregate.kernel.types.text import is_whole_number

OUTPUT, CASE, DURATION, TRACE, TRAJECTORY = "output", "case", "duration_s", "trace", "trajectory"
NAMES = (INPUT, EXPECTED, OUTPUT, CASE, METADATA, TAGS, DURATION, TRACE, TRAJECTORY)
# What `**kwargs` of a scorer receives.
_EXTRA = (INPUT, EXPECTED, OUTPUT, METADATA)
_WITHOUT_EFFECT = ("name", "threshold", "higher_is_better", "max_concurrency")
_CONCURRENCY = 10


class Scorers(NamedTuple):
    """The scorers of a suite, and whether one of them asks for the trace or the trajectory of the task."""

    scorers: list[Scorer]
    needs_trace: bool = False
    needs_trajectory: bool = False


def build_scorers(scorers: Any, fields: Collection[str], problems: list[str]) -> Scorers:
    """The scorers of a suite.

    Args:
        scorers: callables, evaluators of `scoregate.testing` or of pydantic_evals, or a single one of them.
        fields: the names of the fields of all cases.
        problems: receives a text for each scorer that can't run.
    """
    given = list(scorers) if isinstance(scorers, Iterable) and not callable(scorers) else [scorers]
    built: dict[str, Scorer] = {}
    needed: set[str] = set()
    for number, each in enumerate(given, 1):
        try:
            scorer = _build_scorer(each, fields)
            needed |= _find_needed(each, fields)
        except Exception as error:  # attributes of the user's objects may raise anything
            advice = getattr(error, "advice", "")
            message = getattr(error, "message", "") or str(error)
            problems.append(f"scorer {number} ({_find_name(each):.60}): {message}{'. ' if advice else ''}{advice}")
            continue
        if scorer.info.id in built:
            problems.append(
                f"scorer {number}: an earlier scorer has the name {scorer.info.id!r:.60}, too; "
                "give it another one: scorer(…, name=…)"
            )
        else:
            built[scorer.info.id] = scorer
    return Scorers(list(built.values()), bool(needed), TRAJECTORY in needed)


def _find_needed(given: Any, fields: Collection[str]) -> set[str]:
    """What a scorer asks for that must be recorded: the trace, the trajectory."""
    if not callable(given) or callable(getattr(given, "evaluate_test_case", None)):
        return set()
    names = read_arguments(_called(given), {*NAMES, CONTEXT, *fields}, OUTPUT, extra=_EXTRA).names
    read = list_names(_called(given)) if CONTEXT in names else set()
    return {TRACE, TRAJECTORY} & (names | ({TRACE, TRAJECTORY} if read is None else read))


def _build_scorer(given: Any, fields: Collection[str]) -> Scorer:
    if isinstance(given, type):
        raise TypeError(f"it is a class; pass an instance, {given.__name__}()")
    if callable(getattr(given, "evaluate_test_case", None)):
        return _adapt_evaluator(given)
    if is_pydantic_evals_object(given):
        from scoregate.evals.pydantic_scorers import adapt_evaluator

        return adapt_evaluator(given)
    if not callable(given):
        raise TypeError(f"it is not callable: {given!r:.100}")
    if inspect.isfunction(given) and given.__module__.startswith("scoregate.scorers."):
        raise TypeError(f"it is the function that makes a scorer; call it: {given.__name__}()")
    settings = _read_settings(given)
    info = EvaluatorInfo(
        _find_name(given),
        _find_fingerprint(given, settings),
        settings["higher_is_better"],
        battles=bool(getattr(given, "_battles", False)),
        choices=tuple(list_choices()) if callable(list_choices := getattr(given, "_list_choices", None)) else (),
    )
    scored = _called(given)
    own = _find_own_threshold(scored, settings)
    reader = ScoreReader(settings["threshold"], settings["scale"], number_threshold=own)
    return Scorer(info, _make_score(scored, fields, reader), settings["max_concurrency"])


def _called(given: Any) -> Callable[..., Any]:
    """What is called: the function of a wrapper, or the object itself."""
    function: Callable[..., Any] | None = getattr(given, "scored_function", None)
    return given if function is None else function


def _read_settings(given: Any) -> dict[str, Any]:
    """The settings of `scoregate.scorers.scorer`; the default ones for any other callable."""
    is_own = type(given).__module__.split(".")[0] == "scoregate"
    higher = bool(getattr(given, "higher_is_better", True)) if is_own else True
    scale = getattr(given, "scale", None) if is_own else None
    concurrency = getattr(given, "max_concurrency", _CONCURRENCY) if is_own else _CONCURRENCY
    if not is_whole_number(concurrency, 1):
        raise TypeError(f"its max_concurrency must be a whole number of at least 1, not {concurrency!r}")
    scale = scale if isinstance(scale, Scale | None) else Scale(*scale)
    threshold = make_threshold(getattr(given, "threshold", None) if is_own else None, higher_is_better=higher)
    if threshold is not None:
        _check_threshold(threshold, scale)
    return {
        "higher_is_better": higher,
        "threshold": threshold,
        "scale": scale,
        "max_concurrency": concurrency,
    }


def _find_own_threshold(scored: Any, settings: Mapping[str, Any]) -> Threshold | None:
    """The threshold of a user's own object, from its attribute; None if every score or no score would meet it."""
    value, scale, higher = getattr(scored, "threshold", None), settings["scale"], settings["higher_is_better"]
    if not isinstance(value, Real) or is_bool(value):
        return None
    number = float(value)
    low, high = (0.0, 1.0) if scale is None else (scale.low, scale.high)
    can_decide = low < number <= high if higher else low <= number < high
    return make_threshold(number, higher_is_better=higher) if can_decide else None


def _check_threshold(threshold: Threshold, scale: Scale | None) -> None:
    """Refuse a threshold that no score can meet, or that every score meets.

    Raises:
        ValueError: a bound is outside of the scale.
    """
    low, high = (0.0, 1.0) if scale is None else (scale.low, scale.high)
    for bound in (threshold.lt, threshold.lte, threshold.gt, threshold.gte):
        if bound is not None and not low <= bound <= high:
            text = "0 to 1; scores of another range need a scale, as in scorer(…, scale=(0, 100))"
            raise ValueError(
                f"its threshold {bound:g} is outside of {text if scale is None else f'{low:g} to {high:g}'}"
            )


def _find_name(given: Any) -> str:
    """The name of a scorer in reports. That of a lambda is its expression."""
    if getattr(given, "name", None) is None:
        given = _called(given)
    while isinstance(given, functools.partial):
        given = given.func
    for attribute in ("name", "__name__"):
        if isinstance(name := getattr(given, attribute, None), str) and name.strip():
            return find_lambda_text(given) if name == "<lambda>" else name.strip()
    return type(given).__name__


def _find_fingerprint(given: Any, settings: Mapping[str, Any]) -> Fingerprint:
    function = getattr(given, "scored_function", None)
    if function is None and type(given).__module__.split(".")[0] == "scoregate":
        read_model = getattr(given, "_model_and_prompt", None)
        model, prompt = (None, None) if read_model is None else read_model()
        # Older runs have scorers without this attribute.
        unset = ("field",) if getattr(given, "field", None) is None else ()
        return fingerprint_object(given, ignore=(*_WITHOUT_EFFECT, *unset), model=model, prompt=prompt)
    fingerprint = fingerprint_function(given if function is None else function)
    if (scale := settings["scale"]) is None:
        return fingerprint
    return replace(fingerprint, parameters=digest(fingerprint.parameters or "", f"{scale.low:g} {scale.high:g}"))


def _make_score(function: Callable[..., Any], fields: Collection[str], reader: ScoreReader) -> Callable[..., Any]:
    arguments = read_arguments(function, {*NAMES, CONTEXT, *fields}, OUTPUT, extra=_EXTRA)
    list_values = _list_values_and_context if CONTEXT in arguments.names else _list_values
    place = _find_place(function)

    def read(result: Any) -> Any:
        try:
            return reader.read(result)
        except (TypeError, ValueError) as error:
            if type(error) in (TypeError, ValueError):
                error.args = (f"{error}{place}",)
            raise

    def call(row: Row, outcome: Outcome) -> Any:
        positional, keywords = arguments.bind(list_values(row, outcome), row.fields)
        return function(*positional, **keywords)

    async def score_in_loop(row: Row, outcome: Outcome) -> Any:
        return read(await call(row, outcome))

    async def read_later(awaitable: Any) -> Any:
        return read(await awaitable)

    def score(row: Row, outcome: Outcome) -> Any:
        result = call(row, outcome)
        return read_later(result) if inspect.isawaitable(result) else read(result)

    return score_in_loop if is_async(function) else score


def _find_place(function: Callable[..., Any]) -> str:
    """Where a function of the user is defined, as ` (evals/eval_x.py:12)`; empty for other callables."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    module = getattr(function, "__module__", None) or ""
    if not isinstance(code, CodeType) or module.split(".")[0] == "scoregate":
        return ""
    return f" ({relative_path(code.co_filename)}:{code.co_firstlineno})"


def _list_values(row: Row, outcome: Outcome) -> dict[str, Any]:
    return {
        INPUT: row.input,
        EXPECTED: row.expected,
        OUTPUT: outcome.value,
        CASE: row.case,
        METADATA: row.fields.get(METADATA),
        TAGS: row.find_tags(),
        DURATION: outcome.duration_s,
        TRACE: outcome.trace,
        TRAJECTORY: outcome.trajectory,
    }


def _list_values_and_context(row: Row, outcome: Outcome) -> dict[str, Any]:
    values = _list_values(row, outcome)
    return {**values, CONTEXT: ScoreContext(**values)}


def _adapt_evaluator(given: Any) -> Scorer:
    """An evaluator of `scoregate.testing`, which receives the case as it was given."""
    scorer = make_evaluator_scorer(given)

    def score(row: Row, outcome: Outcome) -> Any:
        return scorer.score(row.case, outcome.value)

    async def score_in_loop(row: Row, outcome: Outcome) -> Any:
        return await scorer.score(row.case, outcome.value)

    return scorer._replace(score=score_in_loop if is_async(scorer.score) else score)
