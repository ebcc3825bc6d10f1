"""`client.traces`: traces that examples point to, kept in the store, brought from and to OTLP JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scoregate.core.trace import Trace
from scoregate.errors import JudgmentValidationError
from scoregate.offline_tests.otlp import from_otlp, to_otlp
from scoregate.store import Store, keep_trace, stored_trace


@dataclass(frozen=True, slots=True)
class Traces:
    """The traces of a project. Every method raises StoreError where something cannot be read or written."""

    store: Store

    def get(self, trace_id: str) -> Trace | None:
        """A trace by its id; None where there is none."""
        return stored_trace(self.store, trace_id)

    def add(self, trace: Trace) -> str:
        """Keep a trace, and return its id, which examples give as `offline_trace_id` or in their trace column."""
        keep_trace(self.store, trace)
        return trace.trace_id

    def add_from_otlp(self, file_path: str | Path) -> list[str]:
        """Keep the traces of a file of OTLP JSON, and return their ids.

        Raises:
            JudgmentValidationError: it cannot be read, or is none such.
        """
        try:
            text = Path(file_path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeError) as error:
            raise JudgmentValidationError(f"{file_path} cannot be read: {error}") from None
        return [self.add(trace) for trace in from_otlp(text, origin=str(file_path))]

    def save_as_otlp(self, traces: Iterable[str | Trace], file_path: str | Path) -> Path:
        """Write traces to a file of OTLP JSON: those of the store by their ids, those of a run's rows as they are.

        Raises:
            JudgmentValidationError: there is no trace of an id. OSError: it cannot be written.
        """
        found = [each if isinstance(each, Trace) else self._kept(each) for each in traces]
        path = Path(file_path)
        path.write_text(json.dumps(to_otlp(found)) + "\n", encoding="utf-8")
        return path

    def _kept(self, trace_id: str) -> Trace:
        if (found := self.get(trace_id)) is None:
            raise JudgmentValidationError(
                f"there is no trace {trace_id!r:.60} in the store",
                advice="That of a run's row is row.trace: give it in the place of its id, or client.traces.add it.",
            )
        return found
