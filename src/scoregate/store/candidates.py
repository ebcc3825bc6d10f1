"""Candidates: rows from production traces that wait for review before they become rows of a dataset."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import AwareDatetime, Field

from scoregate.errors import StoreError
from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import Item

Decision = Literal["", "keep", "drop"]


class Candidate(Item):
    """A row that people keep or drop.

    Attributes:
        id: a digest of the row's input; the same input always has the same id.
        row: the row, with the columns of the dataset.
        added_at: when it was read from an export.
        decision: "keep" or "drop"; empty while it waits.
        by: who decided.
        decided_at: when.
        comment: why.
        in_dataset: it is a row of the dataset now.
        kept_digest: the digest of the row with which it became one; empty before.
    """

    id: str = Field(min_length=1, max_length=200)
    row: dict[str, Any]
    added_at: AwareDatetime
    decision: Decision = ""
    by: str = ""
    decided_at: AwareDatetime | None = None
    comment: str = Field(default="", max_length=10_000)
    in_dataset: bool = False
    kept_digest: str = ""


def _get_id(item: Candidate) -> str:
    return item.id


def _is_same(one: Candidate, other: Candidate) -> bool:
    """Whether two lines for one row mean the same; a time differs if two branches read the same export."""
    hidden = {"added_at", "decided_at"}
    return one.model_dump(exclude=hidden) == other.model_dump(exclude=hidden)


CANDIDATES = Kind("candidates", Candidate, JSON_LINES, ("dataset",), _get_id, _is_same)


def read_candidates(store: Store, dataset: str) -> list[Candidate]:
    """The candidates of a dataset in the order in which they were read from exports.

    Raises:
        StoreError: they can't be read.
    """
    return sorted(store.read(CANDIDATES, (dataset,)), key=lambda each: (each.added_at, each.id))


def count_waiting(store: Store, dataset: str) -> int:
    """The number of candidates without a decision.

    Raises:
        StoreError: they can't be read.
    """
    return sum(not each.decision for each in store.read(CANDIDATES, (dataset,)))


def add_candidates(store: Store, dataset: str, candidates: Iterable[Candidate]) -> None:
    """Add candidates. One with the id of a present one is left out: people may have decided about that since.

    Raises:
        StoreError: they can't be written.
    """

    def change(present: Iterable[Candidate]) -> Iterable[Candidate]:
        return {each.id: each for each in (*candidates, *present)}.values()  # the present ones last, so that they stay

    store.update(CANDIDATES, (dataset,), change)


def save_decisions(store: Store, dataset: str, decided: Iterable[Candidate]) -> None:
    """Replace candidates by their decided form in one step; without a decision, one waits again.

    Raises:
        StoreError: they can't be written, or one of them is no longer there.
    """
    change_decisions(store, dataset, lambda _: decided)


def change_decisions(store: Store, dataset: str, decide: Callable[[Iterable[Candidate]], Iterable[Candidate]]) -> None:
    """Replace candidates by their decided form, while no other process can change them.

    Args:
        store: the store.
        dataset: the name of the dataset.
        decide: gets all present candidates, and returns those that it decides. If it raises, nothing changes.

    Raises:
        StoreError: they can't be written, or one of them is no longer there.
    """

    def change(present: Iterable[Candidate]) -> Iterable[Candidate]:
        by_id: Mapping[str, Candidate] = {each.id: each for each in present}
        now = datetime.now(UTC)
        decided = decide(by_id.values())
        new = {each.id: each.model_copy(update={"decided_at": now if each.decision else None}) for each in decided}
        if gone := next((key for key in new if key not in by_id), None):
            raise StoreError(f"{store.location(CANDIDATES, (dataset,))}: the candidate {gone} is no longer there")
        return {**by_id, **new}.values()

    store.update(CANDIDATES, (dataset,), change)


def digest_row(row: Mapping[str, Any]) -> str:
    """A digest of a row; the order of columns and the form of whole numbers, which editors change, don't count."""
    return hashlib.sha256(json.dumps(_simplify(row), sort_keys=True).encode()).hexdigest()


def _simplify(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _simplify(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_simplify(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
