"""The metrics of each test: those of the run, else those of its behavior, else the default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from scoregate.execution.cases import TestLike
from scoregate.metrics import Metric, behavior_judge, read_metric
from scoregate.metrics.judges import Judge
from scoregate.store import BEHAVIORS, Store
from scoregate.store.lookup import list_documents

if TYPE_CHECKING:
    from scoregate.models import Model


@dataclass(frozen=True)
class MetricSelection:
    """Selects the metrics and the evaluators of `scoregate.testing` for each test of a run.

    Args:
        common: the metrics for every test, whatever its behavior. If empty, each test has the metrics of its behavior.
        by_behavior: metrics by the name of the behavior in lower case.
        default: the metrics of tests whose behavior has none; None leaves these tests without metrics.
    """

    common: Sequence[Any] = ()
    by_behavior: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    default: Any = field(default_factory=behavior_judge)

    def for_test(self, test: TestLike) -> Sequence[Any]:
        """The metrics that apply to a test. A metric may be limited to one type of tests; evaluators never are."""
        candidates = self._for_behavior(test.behavior or "")
        return [each for each in candidates if not isinstance(each, Metric) or test.turns in each.metric_scope]

    def for_tests(self, tests: Iterable[TestLike]) -> list[Any]:
        """All metrics that tests of these behaviors need, each once."""
        behaviors = sorted({test.behavior or "" for test in tests})
        metrics = {id(each): each for behavior in behaviors for each in self._for_behavior(behavior)}
        return list(metrics.values())

    def _for_behavior(self, behavior: str) -> Sequence[Any]:
        if self.common or not behavior.strip():
            return self.common
        default = () if self.default is None else (self.default,)
        return self.by_behavior.get(behavior.casefold()) or default


def resolve_metrics(
    tests: Iterable[TestLike], metrics: Iterable[Any] | None, *, store: Store, model: str | Model | None
) -> MetricSelection:
    """Load the metrics of a run.

    Args:
        tests: the tests of the run.
        metrics: for every test, in any form that `read_metric` accepts. If empty, each test has the metrics that its
            behavior has in the store, else the default metric.
        store: where metrics and behaviors are stored.
        model: the model of judges that name none.

    Raises:
        MetricError: a metric does not exist or is invalid.
        StoreError: the store cannot be read.
    """
    known: dict[str, Any] = {}

    def load(metric: Any, place: str) -> Any:
        if not isinstance(metric, str):
            return _with_model(read_metric(metric, store=store, where=place), model)
        if (name := metric.casefold()) not in known:
            known[name] = _with_model(read_metric(metric, store=store, where=place), model)
        return known[name]

    common = [load(each, "") for each in metrics or ()]
    names = set() if common else {(test.behavior or "").casefold() for test in tests}
    by_behavior = {}
    for behavior in list_documents(store, BEHAVIORS) if names else ():
        if behavior.metrics and (name := behavior.name.casefold()) in names:
            place = store.location(BEHAVIORS, (behavior.id,))
            by_behavior[name] = [load(each, place) for each in behavior.metrics]
    default = behavior_judge(model)
    return MetricSelection(common, by_behavior, known.get(default.name, default))


def _with_model(metric: Any, model: str | Model | None) -> Any:
    needs_model = model is not None and isinstance(metric, Judge) and metric.model is None
    return replace(metric, model=model) if needs_model else metric
