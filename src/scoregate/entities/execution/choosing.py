"""From names and objects to the metrics of a run: those of all its tests, and those of behaviors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scoregate.entities.execution.measures import Measures
from scoregate.metrics import behavior_judge, read_metric
from scoregate.metrics.judge import Judge
from scoregate.store import BEHAVIORS, Store
from scoregate.store.heads import heads

if TYPE_CHECKING:
    from scoregate.models import Model


def measures_of(
    behaviors: Collection[str],
    metrics: Iterable[Any] | None,
    *,
    store: Store,
    model: str | Model | None = None,
    where: str = "",
) -> Measures:
    """What tests of these behaviors are measured by.

    Args:
        metrics: for every test, as `read_metric` takes them; if there are none, each test has those that its behavior
            has in the store, else the default one.
        model: of judges that name none. where: what names `metrics`, such as a file, for messages.

    Raises:
        MetricError: there is no such metric, or it makes none. StoreError: the store cannot be read.
    """
    known: dict[str, Any] = {}

    def read(given: Any, place: str) -> Any:
        if not isinstance(given, str):
            return with_model(read_metric(given, store=store, where=place), model)
        if (name := given.casefold()) not in known:
            known[name] = with_model(read_metric(given, store=store, where=place), model)
        return known[name]

    of_all = [read(each, where) for each in metrics or ()]
    of_behaviors = {} if of_all else _of_behaviors(behaviors, store, read)
    default = behavior_judge(model)
    return Measures(of_all, of_behaviors, known.get(default.name, default))


def with_model(metric: Any, model: str | Model | None) -> Any:
    """A judge that names no model, with this one; anything else as it is."""
    is_open = model is not None and isinstance(metric, Judge) and metric.model is None
    return replace(metric, model=model) if is_open else metric


def _of_behaviors(
    behaviors: Collection[str], store: Store, read: Callable[[Any, str], Any]
) -> Mapping[str, Sequence[Any]]:
    wanted = {name.casefold() for name in behaviors}
    found = {}
    for label in heads(store, BEHAVIORS):
        if label.metrics and (name := label.name.casefold()) in wanted:
            place = store.where(BEHAVIORS, (label.id,))
            found[name] = [read(each, place) for each in label.metrics]
    return found
