"""What was made or seen elsewhere, as it is handed to us: evaluations with their ids, events of traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoregate.core.evaluation import Assertion, Evaluation, Threshold


@dataclass(frozen=True)
class EvaluationWithId:
    """An evaluation made elsewhere, for `RunManager.add_result`; `score` in [0, 1]."""

    id: str
    score: float
    threshold: Threshold | None = None
    metadata: Mapping[str, Any] | None = None
    assertions: Sequence[Assertion] | None = None

    def evaluation(self) -> Evaluation:
        """The same without its id.

        Raises:
            TypeError, ValueError: as `Evaluation` does.
        """
        return Evaluation(self.score, self.threshold, self.metadata, self.assertions)


@dataclass(frozen=True)
class TracerEvent:
    """An event of a trace, for evaluators of events; `timestamp` is ISO 8601."""

    message: str
    timestamp: str
    properties: Mapping[str, Any]
    trace_id: str | None = None
