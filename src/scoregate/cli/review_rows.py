"""`scoregate review --dataset`: people keep or drop rows from traces, on a local page or in a file."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from scoregate.cli.review_records import missing_reviewer, reviewer_name
from scoregate.cli.text_output import print_line
from scoregate.cli.web_pages import show_page
from scoregate.errors import UsageError
from scoregate.kernel.run.server_packages import require_server_packages
from scoregate.store import Store, open_store
from scoregate.store.candidates import Candidate, count_waiting, read_candidates
from scoregate.store.datasets import DATASETS, ROWS


def review_rows(dataset: str, *, by: str | None, to: Path | None, back: Path | None, page: Mapping[str, Any]) -> None:
    """Review the rows of a dataset that wait: on a page, or in a file that is written or imported.

    Args:
        dataset: the name of the dataset.
        by: the reviewer's name; None for git's user.name.
        to: the file to write.
        back: the file to import.
        page: the flags of the page.

    Raises:
        UsageError: there are no such rows, or the file or the reviewer's name is not valid.
    """
    store = open_store()
    candidates = read_candidates(store, dataset)
    if not candidates:
        raise UsageError(
            f"no rows were added to {dataset!r:.200}",
            advice=f"Run: scoregate dataset add-traces {shlex.quote(dataset)} --from FILE",
        )
    if to is not None:
        _export(dataset, candidates, to)
    elif back is not None:
        _import(store, dataset, file=back, by=by or "")
    elif reviewer := reviewer_name(by).strip():
        _serve(store, dataset, reviewer, page=page)
    else:
        raise missing_reviewer()


def _export(dataset: str, candidates: list[Candidate], file: Path) -> None:
    from scoregate.web.row_export import format_rows

    waiting = [each for each in candidates if not each.decision]
    try:
        with file.open("w", encoding="utf-8") as out:
            out.writelines(format_rows(dataset, waiting))
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None
    print_line(f"{file}: {_count_rows(len(waiting))}")
    print_line("Fill in `decision` (keep or drop), `by` and, if you like, `comment`. You may correct `row`.")


def _import(store: Store, dataset: str, *, file: Path, by: str) -> None:
    from scoregate.datasets.candidates import find_dataset, find_row_problems
    from scoregate.store.candidates import change_decisions
    from scoregate.web.row_export import ImportedRows, parse_rows

    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    check = partial(find_row_problems, find_dataset(store, dataset))
    result = ImportedRows()

    def decide(present: Iterable[Candidate]) -> Iterable[Candidate]:
        nonlocal result
        result = parse_rows(data, dataset, present, origin=str(file), by=by, check=check)
        return result.decided

    change_decisions(store, dataset, decide)
    kept = sum(each.decision == "keep" for each in result.decided)
    dropped = len(result.decided) - kept
    print_line(f"{kept:,} kept, {dropped:,} dropped, {result.unchanged:,} unchanged, {result.empty:,} not reviewed")
    _save_kept_rows(store, dataset)


def _serve(store: Store, dataset: str, reviewer: str, *, page: Mapping[str, Any]) -> None:
    from scoregate.datasets.candidates import find_dataset, find_row_problems

    require_server_packages("scoregate review")
    from scoregate.web.row_app import build_row_app
    from scoregate.web.row_session import RowSession

    _save_kept_rows(store, dataset)  # of a session that was killed
    check = partial(find_row_problems, find_dataset(store, dataset))
    print_line(f"{reviewer}: {_count_rows(count_waiting(store, dataset))} to review")
    try:
        show_page(
            partial(build_row_app, RowSession(store, dataset, reviewer, check)),
            "review",
            invitation="Review at this address (Ctrl-C stops the server):",
            **page,
        )
    finally:
        _save_kept_rows(store, dataset)


def _save_kept_rows(store: Store, name: str) -> None:
    """Add the kept rows to the dataset, and print what it has now."""
    from scoregate.datasets.candidates import add_kept_rows

    dataset, added = add_kept_rows(store, name)
    if dataset is None or not added:
        return
    where = store.location(DATASETS, (name,), ROWS)
    version = dataset.version.version_number
    print_line(f"{name}: version {version}, {_count_rows(len(dataset))} ({added:,} new), in {where}")


def _count_rows(count: int) -> str:
    return f"{count:,} {'row' if count == 1 else 'rows'}"
