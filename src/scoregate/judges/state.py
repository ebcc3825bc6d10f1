"""Judges in the store: a document and a history of versions. Edits by hand become versions.

The document counts, and the history follows it. They are two files, so either may be ahead of the other after a crash
or a merge of branches. The next use of the judge makes them consistent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pydantic import ValidationError

from scoregate.errors import JudgmentValidationError, ReadOnlyStore, StoreError
from scoregate.store import JUDGE_HISTORY, JUDGES, Store, StoredJudge, StoredVersion, Writer
from scoregate.store.errors import error_message
from scoregate.store.judges import Category, VersionNumber, grading_digest, grading_fields

_LONGEST_NAME = 200


def check_name(name: object) -> str:
    """Check the name of a judge or a test config.

    Raises:
        JudgmentValidationError: it is not valid.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        raise JudgmentValidationError(f"a name must be a string of 1 to {_LONGEST_NAME} characters, not {name!r:.60}")
    if not all(char.isprintable() for char in name):
        raise JudgmentValidationError(f"a name must be on one line, of characters that can be seen, not {name!r:.60}")
    return name


def check_title(title: str, name: str, *, where: str) -> None:
    """Check that the name in a document is that of its file.

    Args:
        title: the name in the document.
        name: the name of the file.
        where: the path of the file, for the error message.

    Raises:
        StoreError: the names differ.
    """
    if title not in ("", name):
        raise StoreError(
            f"{where}: its `name` is {title!r:.60}, but the file is named for {name!r:.60}",
            advice="If it is a copy, correct the name in it and delete its id and version; else rename the file.",
        )


def make_judge(base: StoredJudge | None = None, /, **fields: Any) -> StoredJudge:
    """A judge with these fields; the others, and the comments in the document, are those of `base`.

    Raises:
        JudgmentValidationError: the fields are not valid.
    """
    present = {} if base is None else base.model_dump()
    try:
        judge = StoredJudge.model_validate({**present, **fields})
    except ValidationError as error:
        raise JudgmentValidationError(
            f"the judge {fields.get('name', present.get('name'))!r:.60}: {error_message(error)}"
        ) from None
    return judge if base is None else base.model_copy(update={name: getattr(judge, name) for name in fields})


def parse_categories(given: Iterable[Category | Mapping[str, Any] | str] | None) -> tuple[Any, ...]:
    """Categories from names, dicts or categories."""
    return tuple({"value": each} if isinstance(each, str) else each for each in given or ())


@dataclass(frozen=True, slots=True)
class JudgeState:
    """A judge, whose document is its newest version, and all its versions, the oldest first."""

    judge: StoredJudge
    versions: tuple[StoredVersion, ...]


def load_judge(store: Store, name: str) -> JudgeState | None:
    """A judge by its name; edits by hand become its next minor version.

    In a read-only store the version is the same, and the next process that can write stores it.

    Returns:
        The judge; None if there is none.

    Raises:
        StoreError: it cannot be read, or a new version could not be written.
    """
    state, is_saved = _compute_state(store, name)
    if state is not None and not is_saved:
        with suppress(ReadOnlyStore), store.open_writer() as writer:
            return _save_state(store, writer, name)
    return state


def change_judge(store: Store, name: str, change: Callable[[JudgeState], StoredJudge]) -> JudgeState:
    """Replace a judge by the result of `change`, in one transaction.

    Raises:
        JudgmentValidationError: there is no such judge.
        StoreError: it could not be written.
    """
    with store.open_writer() as writer:
        if (state := _save_state(store, writer, name)) is None:
            raise JudgmentValidationError(f"Judges not found: {name}")
        new = change(state)
        writer.update(JUDGES, (name,), lambda _: [new])
        return _save_state(store, writer, name) or state


def _save_state(store: Store, writer: Writer, name: str) -> JudgeState | None:
    """The consistent state, which is written: the document first, since it shows what the history lacks."""
    state, is_saved = _compute_state(store, name)
    if state is not None and not is_saved:
        writer.update(JUDGES, (name,), lambda _: [state.judge])
        writer.update(JUDGE_HISTORY, (name,), lambda _: state.versions)
    return state


def _compute_state(store: Store, name: str) -> tuple[JudgeState | None, bool]:
    """The consistent state, and whether the files have it."""
    if (judge := next(iter(store.read(JUDGES, (name,))), None)) is None:
        return None, True
    check_title(judge.name, name, where=store.location(JUDGES, (name,)))
    # After a merge of branches the order of versions in the file is arbitrary.
    versions = tuple(sorted(store.read(JUDGE_HISTORY, (name,)), key=lambda version: version.number))
    current = _with_identity(judge, versions, name)
    if any(version.number == current.number for version in versions):
        return JudgeState(current, versions), current is judge
    new = StoredVersion(version=current.version, created_at=datetime.now(UTC), **grading_fields(current))
    return JudgeState(current, (*versions, new)), False


def _with_identity(judge: StoredJudge, versions: tuple[StoredVersion, ...], name: str) -> StoredJudge:
    """The judge with its correct name, id and version."""
    number = judge.number
    if versions and number <= versions[-1].number:
        # The document's own number counts only if it is newer than all others. Changed content is the next version.
        newest = versions[-1]
        number = newest.number if newest.digest == grading_digest(judge) else next_number(newest.number)
    identity = {
        "name": name,
        # The same in each process, also before it is written.
        "id": judge.id or str(uuid5(NAMESPACE_URL, f"scoregate:judge:{name}")),
        "version": str(number),
    }
    return judge if identity.items() <= vars(judge).items() else judge.model_copy(update=identity)


def next_number(number: VersionNumber, *, major: bool = False) -> VersionNumber:
    """The next version."""
    return VersionNumber(number.major + 1, 0) if major else VersionNumber(number.major, number.minor + 1)
