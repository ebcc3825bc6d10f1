"""One reviewer's session with the rows of a dataset that wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import to_json

from scoregate.errors import UsageError
from scoregate.kernel.types.json_io import to_text
from scoregate.kernel.types.text import natural_sort_key
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.store import Store
from scoregate.store.candidates import CANDIDATES, Candidate, Decision, read_candidates, save_decisions
from scoregate.web.review_items import digest

_LONGEST_TITLE = 120
_INPUT, _TRAJECTORY = "input", "trajectory"


class RowSession:
    """The rows that are not in the dataset yet. Threads may share it. Methods raise `StoreError` if the store fails.

    Args:
        store: the store.
        dataset: the name of the dataset.
        reviewer: the name of the reviewer.
        check: says what keeps a row out of the dataset; empty if nothing does.
    """

    def __init__(
        self, store: Store, dataset: str, reviewer: str, check: Callable[[Mapping[str, Any]], str] = lambda _: ""
    ) -> None:
        self._store, self._dataset, self._reviewer, self._check = store, dataset, reviewer, check
        self._lock = threading.Lock()
        self._known: tuple[object, dict[str, Candidate]] | None = None

    def state(self, mark: str = "") -> bytes | None:
        """All rows without their texts, as JSON; None if nothing changed.

        Args:
            mark: the mark of the known state.
        """
        candidates, name = self._read()
        if name == mark:
            return None
        rows = [_describe(each) for each in candidates.values()]
        session = {"reviewer": self._reviewer, "run": self._dataset, "folder": self._dataset}
        return to_json({"mark": name, **session, "rows": rows})

    def details(self, key: str) -> dict[str, Any]:
        """A row with its texts.

        Raises:
            KeyError: there is no such row.
        """
        candidate = self._read()[0][key]
        fields = [
            {"name": name, "value": _format_field(name, value)}
            for name, value in sorted(candidate.row.items(), key=lambda item: (item[0] != _INPUT, item[0]))
        ]
        return {**_describe(candidate), "fields": fields, "comment": candidate.comment}

    def decide(self, key: str, decision: Decision, comment: str) -> dict[str, Any]:
        """Save the reviewer's decision on a row.

        Raises:
            KeyError: there is no such row.
            UsageError: a kept row does not fit the dataset.
        """
        candidate = self._read()[0][key]
        if decision == "keep" and (problem := self._check(candidate.row)):
            raise UsageError(f"The row does not fit the dataset: {problem}. Correct it in a file: --export, --import.")
        changes = {"decision": decision, "by": self._reviewer, "comment": comment}
        save_decisions(self._store, self._dataset, [candidate.model_copy(update=changes)])
        return self.details(key)

    def remove_decision(self, key: str) -> dict[str, Any]:
        """Remove the decision on a row, so that it waits again.

        Raises:
            KeyError: there is no such row.
        """
        candidate = self._read()[0][key]
        changes = {"decision": "", "by": "", "comment": ""}
        save_decisions(self._store, self._dataset, [candidate.model_copy(update=changes)])
        return self.details(key)

    def _read(self) -> tuple[dict[str, Candidate], str]:
        """The rows by key, read again when the store changes, and the mark of this state."""
        with self._lock:
            # Before the rows: a change in between is read the next time.
            stamp = self._store.stamp(CANDIDATES, (self._dataset,))
            if self._known is None or self._known[0] != stamp:
                candidates = [each for each in read_candidates(self._store, self._dataset) if not each.in_dataset]
                candidates.sort(key=lambda each: natural_sort_key(_title(each)))
                self._known = stamp, {each.id: each for each in candidates}
            return self._known[1], digest("rows", repr(stamp))


def _title(candidate: Candidate) -> str:
    text = " ".join(str(candidate.row.get(_INPUT, "")).split())
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"


def _describe(candidate: Candidate) -> dict[str, Any]:
    name = {"key": candidate.id, "name": _title(candidate), "evaluator": "", "others": []}
    return {**name, "decision": candidate.decision or None, "by": candidate.by}


def _format_field(name: str, value: Any) -> str:
    trajectory = Trajectory.read(value) if name == _TRAJECTORY else None
    if trajectory is not None:
        return trajectory.text()
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {to_text(each)}" for key, each in value.items())
    return to_text(value)
