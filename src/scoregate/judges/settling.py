"""What people edited by hand becomes a version; and no version is written over before it is kept.

The document is the truth, the history follows it. They are two files, so either may be ahead of the other when a
process dies or a branch is merged: whoever uses the judge next brings them together.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

from scoregate.errors import JudgmentValidationError, ReadOnlyStore
from scoregate.judges.checks import checked_title
from scoregate.store import JUDGE_HISTORY, JUDGES, Store, StoredJudge, StoredVersion, Writer
from scoregate.store.judges import Number, digest_of, grading_of


@dataclass(frozen=True, slots=True)
class Settled:
    """A judge whose document is its newest version; `versions` are all there are, the oldest first."""

    judge: StoredJudge
    versions: tuple[StoredVersion, ...]


def settled(store: Store, name: str) -> Settled | None:
    """A judge by its name, with what was edited by hand as its next minor version; None where there is none.

    Where nothing can be written the version is the same, and is written by whoever uses the judge next and can.

    Raises:
        StoreError: it cannot be read, or a new version could not be written.
    """
    found, kept = _seen(store, name)
    if found is not None and not kept:
        with suppress(ReadOnlyStore), store.writing() as writer:
            return _kept(store, writer, name)
    return found


def changed(store: Store, name: str, change: Callable[[Settled], StoredJudge]) -> Settled:
    """Put what `change` makes of a judge in its place, in one step.

    Raises:
        JudgmentValidationError: there is no such judge. StoreError: it could not be written.
    """
    with store.writing() as writer:
        if (found := _kept(store, writer, name)) is None:
            raise JudgmentValidationError(f"Judges not found: {name}")
        new = change(found)
        writer.update(JUDGES, (name,), lambda _: [new])
        return _kept(store, writer, name) or found


def _kept(store: Store, writer: Writer, name: str) -> Settled | None:
    """As it is to be, and written so: the document first, which tells what the history lacks."""
    found, kept = _seen(store, name)
    if found is not None and not kept:
        writer.update(JUDGES, (name,), lambda _: [found.judge])
        writer.update(JUDGE_HISTORY, (name,), lambda _: found.versions)
    return found


def _seen(store: Store, name: str) -> tuple[Settled | None, bool]:
    """As it is to be, and whether that is written."""
    if (judge := _read(store, name)) is None:
        return None, True
    versions = _history(store, name)
    due = _due(judge, versions, name)
    if any(version.number == due.number for version in versions):
        return Settled(due, versions), due is judge
    new = StoredVersion(version=due.version, created_at=datetime.now(UTC), **grading_of(due))
    return Settled(due, (*versions, new)), False


def _read(store: Store, name: str) -> StoredJudge | None:
    for judge in store.read(JUDGES, (name,)):
        checked_title(judge.name, name, where=store.where(JUDGES, (name,)))
        return judge
    return None


def _history(store: Store, name: str) -> tuple[StoredVersion, ...]:
    """By number: git joins what two branches added in any order."""
    return tuple(sorted(store.read(JUDGE_HISTORY, (name,)), key=lambda version: version.number))


def _due(judge: StoredJudge, versions: tuple[StoredVersion, ...], name: str) -> StoredJudge:
    """The judge with the name, the id and the version that it should have."""
    given = {
        "name": name,
        "id": judge.id or str(uuid5(NAMESPACE_URL, f"scoregate:judge:{name}")),
        "version": str(_number(judge, versions)),
    }
    return judge if given.items() <= vars(judge).items() else judge.model_copy(update=given)


def _number(judge: StoredJudge, versions: tuple[StoredVersion, ...]) -> Number:
    """A version that is newer than all others stands; else what differs from the newest one comes after it."""
    if not versions or judge.number > versions[-1].number:
        return judge.number
    newest = versions[-1]
    return newest.number if newest.digest == digest_of(judge) else after(newest.number)


def after(number: Number, *, major: bool = False) -> Number:
    """The next version."""
    return Number(number.major + 1, 0) if major else Number(number.major, number.minor + 1)
