"""From words and tables to metrics: what a repository or a run says that its tests are judged by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from scoregate.engine.evaluators import scorer_of
from scoregate.engine.targets import target
from scoregate.errors import MetricError
from scoregate.metrics.behavior import BehaviorJudge, behavior_judge
from scoregate.metrics.categorical import CategoricalJudge
from scoregate.metrics.config import metric_of
from scoregate.metrics.conversational import ConversationalJudge
from scoregate.metrics.finding import metric_called
from scoregate.metrics.goal import GoalAchievementJudge
from scoregate.metrics.metric import Metric
from scoregate.metrics.numeric import NumericJudge
from scoregate.store import METRICS, Store, StoredMetric, current_store
from scoregate.store.problems import said

_CLASSES = (NumericJudge, CategoricalJudge, ConversationalJudge, GoalAchievementJudge, BehaviorJudge)
KINDS: dict[str, type[Metric]] = {each.kind: each for each in _CLASSES}
_DEFAULT = "behavior"


def read_metrics(given: Iterable[Any], *, store: Store | None = None, where: str = "") -> list[Any]:
    """Every one of them as `read_metric` reads it."""
    return [read_metric(each, store=store, where=where) for each in given]


def read_metric(given: Any, *, store: Store | None = None, where: str = "") -> Any:
    """A metric, or an evaluator of `scoregate.testing`.

    Args:
        given: the name or the id of a metric in the store, "behavior" being the default metric where none has that
            name; a table as documents of the store have it; or a metric or an evaluator as it is.
        store: that of `use_store`, else the project's, if not given. where: what says so, such as a file, for messages.

    Raises:
        MetricError: there is no such metric, or it makes none. StoreError: the store cannot be read.
    """
    if isinstance(given, str):
        return _stored(given, store or current_store(), where)
    if isinstance(given, Mapping):
        return _made(_defined(given, where), where)
    return _made(given, where) if isinstance(given, StoredMetric) else given


def _stored(name: str, store: Store, where: str) -> Any:
    if (found := metric_called(store, name)) is not None:
        return _made(found, store.where(METRICS, (found.id,)))
    if name == _DEFAULT:
        return behavior_judge()
    known = ", ".join(own for (own,) in store.shelves(METRICS))
    raise MetricError(
        _at(where, f"there is no metric {name!r:.100}"),
        advice=f"The store has {known:.500}." if known else "The store has none; push one, or write a table.",
    )


def _defined(table: Mapping[str, Any], where: str) -> StoredMetric:
    try:
        return StoredMetric.model_validate(dict(table))
    except ValidationError as error:
        raise MetricError(_at(where, f"the metric {str(table.get('name', ''))!r:.60}: {said(error)}")) from None


def _made(stored: StoredMetric, where: str) -> Any:
    try:
        return _used(stored) if stored.use is not None else _judge(stored)
    except MetricError as error:
        raise MetricError(_at(where, error.message), advice=error.advice) from error


def _judge(stored: StoredMetric) -> Metric:
    return metric_of(KINDS[str(stored.kind)], stored)


def _used(stored: StoredMetric) -> Any:
    """What code says of itself, its name included, stands."""
    name, arguments = str(stored.use), stored.arguments
    try:
        found = target(name)
        found = found(**arguments) if isinstance(found, type) else _whole(found, arguments)
    except (Exception, SystemExit) as error:  # the user's module and class may raise anything
        reason = f"{type(error).__name__}: {error!s:.300}"
        raise MetricError(
            f"the metric {stored.title!r:.60} uses {name!r:.100}, which cannot be had: {reason}",
            advice="Name a module that can be imported from here, and what its class is to be called with.",
        ) from error
    if not isinstance(found, Metric):
        _check_evaluator(found, stored)
    return found


def _whole(found: Any, arguments: Mapping[str, Any]) -> Any:
    if arguments:
        raise TypeError("it is no class, and takes no arguments")
    return found


def _check_evaluator(found: Any, stored: StoredMetric) -> None:
    try:
        scorer_of(found)
    except Exception as error:  # an `id` may be a property that raises
        what = f"the metric {stored.title!r:.60} uses {str(stored.use)!r:.100}"
        raise MetricError(f"{what}, which is neither a metric nor an evaluator: {error}") from error


def _at(where: str, message: str) -> str:
    return f"{where}: {message}" if where else message
