"""Metrics by name, from tables and from documents of the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from scoregate.engine.evaluators import make_scorer
from scoregate.engine.imports import import_target
from scoregate.errors import MetricError
from scoregate.metrics.documents import find_metric, metric_from_document
from scoregate.metrics.goal import GoalAchievementJudge
from scoregate.metrics.judges import BehaviorJudge, CategoricalJudge, ConversationalJudge, NumericJudge, behavior_judge
from scoregate.metrics.metric import Metric
from scoregate.store import METRICS, Store, StoredMetric, current_store
from scoregate.store.errors import error_message

_JUDGE_CLASSES = (NumericJudge, CategoricalJudge, ConversationalJudge, GoalAchievementJudge, BehaviorJudge)
KINDS: dict[str, type[Metric]] = {each.kind: each for each in _JUDGE_CLASSES}
_DEFAULT_METRIC = "behavior"


def read_metrics(given: Iterable[Any], *, store: Store | None = None, where: str = "") -> list[Any]:
    """Read several metrics; see `read_metric`."""
    return [read_metric(each, store=store, where=where) for each in given]


def read_metric(given: Any, *, store: Store | None = None, where: str = "") -> Any:
    """Read a metric, or an evaluator of `scoregate.testing`.

    Args:
        given: the name or the id of a metric in the store, also as an object or a mapping with an `id` or a `name`
            and nothing else, a table like the documents of the store, a metric or an evaluator. "behavior" is the
            default metric unless the store has a metric with that name.
        store: the store; if not given, that of `use_store`, else the project's.
        where: the source of `given`, such as a file, for error messages.

    Raises:
        MetricError: there is no such metric, or it is not valid.
        StoreError: the store cannot be read.
    """
    if keys := _read_reference(given):
        place = store or current_store()
        # The name counts if there is no metric with the id.
        known_keys = (key for key in keys[:-1] if find_metric(place, key) is not None)
        return _load_metric(next(known_keys, keys[-1]), place, where)
    if isinstance(given, Mapping):
        try:
            given = StoredMetric.model_validate(dict(given))
        except ValidationError as error:
            name = str(given.get("name", ""))
            raise MetricError(_with_location(where, f"the metric {name!r:.60}: {error_message(error)}")) from None
    return _build_metric(given, where) if isinstance(given, StoredMetric) else given


def _read_reference(given: Any) -> list[str]:
    """The id, the name or both, if a metric is given by these alone; else nothing."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        keys = [given.get("id"), given.get("name")] if given.keys() <= {"id", "name"} else []
    elif isinstance(given, Metric | StoredMetric) or hasattr(given, "evaluate_test_case"):
        keys = []
    else:
        keys = [getattr(given, "id", None), getattr(given, "name", None)]
    return [str(key) for key in keys if isinstance(key, str | UUID) and key]


def _load_metric(name: str, store: Store, where: str) -> Any:
    if (stored := find_metric(store, name)) is not None:
        return _build_metric(stored, store.location(METRICS, (stored.id,)))
    if name == _DEFAULT_METRIC:
        return behavior_judge()
    known = ", ".join(own for (own,) in store.list_keys(METRICS))
    raise MetricError(
        _with_location(where, f"there is no metric {name!r:.100}"),
        advice=f"The store has {known:.500}." if known else "The store has none; push one, or write a table.",
    )


def _build_metric(stored: StoredMetric, where: str) -> Any:
    try:
        if stored.use is not None:
            return _import_metric(stored)
        return metric_from_document(KINDS[str(stored.kind)], stored)
    except MetricError as error:
        raise MetricError(_with_location(where, error.message), advice=error.advice) from error


def _import_metric(stored: StoredMetric) -> Any:
    """The metric or evaluator that a document names; its own name counts, not the document's."""
    path, arguments = str(stored.use), stored.arguments
    try:
        metric = import_target(path)
        if isinstance(metric, type):
            metric = metric(**arguments)
        elif arguments:
            raise TypeError("it is not a class, and takes no arguments")
    except (Exception, SystemExit) as error:  # the user's module and class may raise anything
        reason = f"{type(error).__name__}: {error!s:.300}"
        raise MetricError(
            f"the metric {stored.title!r:.60} uses {path!r:.100}, which cannot be loaded: {reason}",
            advice="Name a module that can be imported from here, and the arguments of its class.",
        ) from error
    if not isinstance(metric, Metric):
        try:
            make_scorer(metric)
        except Exception as error:  # an `id` may be a property that raises
            subject = f"the metric {stored.title!r:.60} uses {path!r:.100}"
            raise MetricError(f"{subject}, which is neither a metric nor an evaluator: {error}") from error
    return metric


def _with_location(where: str, message: str) -> str:
    return f"{where}: {message}" if where else message
