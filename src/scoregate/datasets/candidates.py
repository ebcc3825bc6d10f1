"""Rows that people keep become a version of their dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scoregate.datasets.client import Datasets
from scoregate.datasets.dataset import Dataset
from scoregate.datasets.schema import Schema, infer_schema
from scoregate.errors import InvalidDataset, JudgmentConflictError
from scoregate.store.candidates import CANDIDATES, Candidate, digest_row, read_candidates
from scoregate.store.datasets import DATASETS
from scoregate.store.protocol import Store

SOURCE, INPUT = "source", "input"


def find_dataset(store: Store, name: str) -> Dataset | None:
    """The dataset of this name; None if there is none.

    Raises:
        StoreError: it can't be read.
    """
    exists = next(store.read(DATASETS, (name,)), None) is not None
    return Datasets(store).get(name) if exists else None


def list_known_rows(store: Store, name: str) -> tuple[list[str], frozenset[str], frozenset[tuple[str, str]]]:
    """What a dataset and its candidates have: the inputs, the ids of the candidates, and kinds and ids of traces.

    Raises:
        StoreError: they can't be read.
    """
    candidates = read_candidates(store, name)
    rows = [*(find_dataset(store, name) or ()), *(each.row for each in candidates)]
    inputs = [text for row in rows if isinstance(text := row.get(INPUT), str)]
    traces = frozenset(trace for row in rows for trace in _list_traces(row.get(SOURCE)))
    return inputs, frozenset(each.id for each in candidates), traces


def _list_traces(source: Any) -> Iterator[tuple[str, str]]:
    """The kind and id of the trace of a row, and of those that were merged into it."""
    if isinstance(source, Mapping):
        merged = source.get("merged_from")
        for each in (source, *(merged if isinstance(merged, list) else ())):
            if isinstance(each, Mapping):
                yield str(each.get("kind", source.get("kind"))), str(each.get("trace_id"))


def check_columns(dataset: Dataset | None, columns: Iterable[str]) -> None:
    """Check that the rows of traces fit into a dataset. It may have more columns, which reviewers fill in.

    Raises:
        InvalidDataset: it lacks a column.
    """
    known = dataset.version.columns if dataset is not None else None
    if known is not None and (missing := [name for name in columns if name not in known]):
        raise InvalidDataset(
            f"the dataset {dataset.name if dataset else ''!r:.200} has no column {', '.join(missing)}; "
            f"it has {', '.join(known):.200}",
            advice="Name another dataset, or the column for the recorded output with --output-as.",
        )


def find_row_problems(dataset: Dataset | None, row: Mapping[str, Any]) -> str:
    """What keeps a row out of a dataset; empty if nothing does. A new dataset takes any row."""
    if dataset is None:
        return "" if isinstance(row.get(INPUT), str) and row[INPUT] else "column 'input': must be a text"
    line = Schema(dataset.version.columns).line(row)
    return line if isinstance(line, str) else ""


def add_kept_rows(store: Store, name: str) -> tuple[Dataset | None, int]:
    """Add the kept candidates to their dataset as one version; the dataset is created if there is none.

    Returns:
        The dataset, and the number of new rows.

    Raises:
        JudgmentValidationError: a row does not fit the schema; then none is added.
        StoreError: it can't be written.
    """
    kept = [each for each in read_candidates(store, name) if each.decision == "keep" and not each.in_dataset]
    dataset = find_dataset(store, name)
    if not kept:
        return dataset, 0
    # A process that was killed may have added them without a note.
    present = {_find_id(each.get(SOURCE)) for each in dataset or ()}
    rows = [each.row for each in kept if _find_id(each.row.get(SOURCE)) not in present]
    if dataset is None:
        try:
            dataset = Datasets(store).create(name, infer_schema(rows).document, rows, description="From traces.")
        except JudgmentConflictError:  # another process has created it since
            return add_kept_rows(store, name)
    elif rows:
        dataset.add_examples(rows)
    added = {each.id for each in kept}

    def change(items: Iterable[Candidate]) -> Iterable[Candidate]:
        # The input stays, so that the same trace is not added again.
        return [_mark_added(each) if each.id in added else each for each in items]

    store.update(CANDIDATES, (name,), change)
    return dataset, len(rows)


def _mark_added(candidate: Candidate) -> Candidate:
    changes = {"in_dataset": True, "kept_digest": digest_row(candidate.row), "row": {INPUT: candidate.row[INPUT]}}
    return candidate.model_copy(update=changes)


def _find_id(source: Any) -> Any:
    return source.get("id") if isinstance(source, Mapping) else None
