"""What offline tests are given: an agent, a pass condition, a project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

from scoregate.datasets import Datasets
from scoregate.judges import JudgesFactory, TestConfigs
from scoregate.offline_tests.result import ScorerData
from scoregate.offline_tests.traces import Traces

# Called once per example with its fields as keywords; sync or async.
AgentFunction: TypeAlias = Callable[..., Any]
# Called once per row with its fields and what the judges said.
PassConditionFn: TypeAlias = Callable[[dict[str, Any], list[ScorerData]], bool | Awaitable[bool]]


class Project(Protocol):
    """A client: where datasets, judges and test configs are found."""

    @property
    def datasets(self) -> Datasets:
        """Its datasets."""

    @property
    def judges(self) -> JudgesFactory:
        """Its judges."""

    @property
    def traces(self) -> Traces:
        """Its traces."""

    @property
    def test_configs(self) -> TestConfigs:
        """Its test configs."""
