"""What each test is measured by: the metrics of all, else those of its behavior, else the default one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoregate.entities.execution.asked import Asked
from scoregate.enums import TestType
from scoregate.metrics import Metric, behavior_judge


@dataclass(frozen=True)
class Measures:
    """Metrics, and evaluators of `scoregate.testing`, for every test of a run.

    Args:
        of_all: for every test, whatever it is about. If there are none, each test has those of its behavior.
        of_behaviors: by the behavior's name, in small.
        default: for tests whose behavior has none of its own; None leaves these without.
    """

    of_all: Sequence[Any] = ()
    of_behaviors: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    default: Any = field(default_factory=behavior_judge)

    def of(self, test: Asked) -> Sequence[Any]:
        """Those that have something to say of a test: what is meant for tests of another type is left out."""
        return [each for each in self._meant(test.behavior or "") if is_for(each, test.turns)]

    def every(self, behaviors: Iterable[str]) -> list[Any]:
        """All that a run of tests of these behaviors needs, each once."""
        found = {id(each): each for name in sorted(behaviors) for each in self._meant(name)}
        return list(found.values())

    def _meant(self, behavior: str) -> Sequence[Any]:
        if self.of_all or not behavior.strip():
            return self.of_all
        default = () if self.default is None else (self.default,)
        return self.of_behaviors.get(behavior.casefold()) or default


def is_for(metric: Any, turns: TestType) -> bool:
    """Whether it is meant for tests of this type; evaluators are for all."""
    scope: Collection[Any] = metric.metric_scope if isinstance(metric, Metric) else tuple(TestType)
    return turns in scope
