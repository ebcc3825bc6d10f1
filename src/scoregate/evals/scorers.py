"""The scorers of a suite: callables of the user with names, fingerprints and thresholds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from scoregate.core.evaluation import Scale
from scoregate.core.event_values import EvaluatorInfo, Fingerprint
from scoregate.core.suite import Scorer
from scoregate.core.text import is_whole_number
from scoregate.engine.calls import is_async
from scoregate.engine.evaluators import make_scorer as make_evaluator_scorer
from scoregate.engine.fingerprint import digest, fingerprint_function, fingerprint_object
from scoregate.engine.signatures import find_lambda_text
from scoregate.evals.arguments import read_arguments
from scoregate.evals.rows import EXPECTED, INPUT, METADATA, TAGS, Row
from scoregate.evals.scores import ScoreReader, make_threshold
from scoregate.evals.task import Outcome

OUTPUT, CASE, DURATION, TRACE = "output", "case", "duration_s", "trace"
NAMES = (INPUT, EXPECTED, OUTPUT, CASE, METADATA, TAGS, DURATION, TRACE)
# What `**kwargs` of a scorer receives.
_EXTRA = (INPUT, EXPECTED, OUTPUT, METADATA)
_WITHOUT_EFFECT = ("name", "threshold", "higher_is_better", "max_concurrency")
_CONCURRENCY = 10


class Scorers(NamedTuple):
    """The scorers of a suite, and whether one of them asks for the trace of the task."""

    scorers: list[Scorer]
    needs_trace: bool = False


def build_scorers(scorers: Any, fields: Collection[str], problems: list[str]) -> Scorers:
    """The scorers of a suite.

    Args:
        scorers: callables, evaluators of `scoregate.testing` or of pydantic_evals, or a single one of them.
        fields: the names of the fields of all cases.
        problems: receives a text for each scorer that can't run.
    """
    given = list(scorers) if isinstance(scorers, Iterable) and not callable(scorers) else [scorers]
    built: dict[str, Scorer] = {}
    needs_trace = False
    for number, each in enumerate(given, 1):
        try:
            scorer = _build_scorer(each, fields)
            needs_trace |= _needs_trace(each, fields)
        except Exception as error:  # attributes of the user's objects may raise anything
            problems.append(f"scorer {number} ({_describe(each)}): {error}")
            continue
        if scorer.info.id in built:
            problems.append(
                f"scorer {number}: an earlier scorer has the name {scorer.info.id!r:.60}, too; "
                "give it another one: scorer(…, name=…)"
            )
        else:
            built[scorer.info.id] = scorer
    return Scorers(list(built.values()), needs_trace)


def _needs_trace(given: Any, fields: Collection[str]) -> bool:
    if not callable(given) or callable(getattr(given, "evaluate_test_case", None)):
        return False
    arguments = read_arguments(_called(given), {*NAMES, *fields}, OUTPUT, extra=_EXTRA)
    return TRACE in (*arguments.positional, *(name for _, name in arguments.keywords))


def _describe(given: Any) -> str:
    return getattr(given, "__qualname__", None) or type(given).__name__


def _build_scorer(given: Any, fields: Collection[str]) -> Scorer:
    if isinstance(given, type):
        raise TypeError(f"it is a class; pass an instance, {given.__name__}()")
    if callable(getattr(given, "evaluate_test_case", None)):
        return _adapt_evaluator(given)
    if any(base.__module__.split(".")[0] == "pydantic_evals" for base in type(given).__mro__):
        from scoregate.evals.pydantic_scorers import adapt_evaluator

        return adapt_evaluator(given)
    if not callable(given):
        raise TypeError(f"it is not callable: {given!r:.100}")
    settings = _read_settings(given)
    info = EvaluatorInfo(
        _find_name(given),
        _find_fingerprint(given, settings),
        settings["higher_is_better"],
        battles=bool(getattr(given, "_battles", False)),
        choices=tuple(list_choices()) if callable(list_choices := getattr(given, "_list_choices", None)) else (),
    )
    reader = ScoreReader(settings["threshold"], settings["scale"])
    return Scorer(info, _make_score(_called(given), fields, reader), settings["max_concurrency"])


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
    return {
        "higher_is_better": higher,
        "threshold": make_threshold(getattr(given, "threshold", None) if is_own else None, higher_is_better=higher),
        "scale": scale if isinstance(scale, Scale | None) else Scale(*scale),
        "max_concurrency": concurrency,
    }


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
        return fingerprint_object(given, ignore=_WITHOUT_EFFECT, model=model, prompt=prompt)
    found = fingerprint_function(given if function is None else function)
    if (scale := settings["scale"]) is None:
        return found
    return replace(found, parameters=digest(found.parameters or "", f"{scale.low:g} {scale.high:g}"))


def _make_score(function: Callable[..., Any], fields: Collection[str], reader: ScoreReader) -> Callable[..., Any]:
    arguments = read_arguments(function, {*NAMES, *fields}, OUTPUT, extra=_EXTRA)

    def call(row: Row, outcome: Outcome) -> Any:
        positional, keywords = arguments.bind(_list_values(row, outcome), row.fields)
        return function(*positional, **keywords)

    async def score_in_loop(row: Row, outcome: Outcome) -> Any:
        return reader.read(await call(row, outcome))

    async def read_later(awaitable: Any) -> Any:
        return reader.read(await awaitable)

    def score(row: Row, outcome: Outcome) -> Any:
        result = call(row, outcome)
        return read_later(result) if inspect.isawaitable(result) else reader.read(result)

    return score_in_loop if is_async(function) else score


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
    }


def _adapt_evaluator(given: Any) -> Scorer:
    """An evaluator of `scoregate.testing`, which receives the case as it was given."""
    scorer = make_evaluator_scorer(given)

    def score(row: Row, outcome: Outcome) -> Any:
        return scorer.score(row.case, outcome.value)

    async def score_in_loop(row: Row, outcome: Outcome) -> Any:
        return await scorer.score(row.case, outcome.value)

    return scorer._replace(score=score_in_loop if is_async(scorer.score) else score)
