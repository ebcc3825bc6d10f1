"""What people edited by hand becomes a version; and no version is written over before it is kept.

The document is the truth, the history follows it. They are two files, so either may be ahead of the other when a
process dies or a branch is merged: whoever uses the judge next brings them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

from scoregate.errors import JudgmentValidationError, StoreError
from scoregate.store import JUDGE_HISTORY, JUDGES, Store, StoredJudge, StoredVersion
from scoregate.store.judges import Number, digest_of, grading_of


@dataclass(frozen=True, slots=True)
class Settled:
    """A judge whose document is its newest version; `versions` are all there are, the oldest first."""

    judge: StoredJudge
    versions: tuple[StoredVersion, ...]


def settled(store: Store, name: str) -> Settled | None:
    """A judge by its name, with what was edited by hand as its next minor version; None where there is none.

    Raises:
        StoreError: it cannot be read, or a new version could not be written.
    """
    while (judge := _read(store, name)) is not None:
        versions = _history(store, name)
        due = _due(judge, versions, name)
        if due is judge and _keeps(versions, due):
            return Settled(judge, versions)
        if due is not judge:
            store.update(JUDGES, (name,), lambda present: [_due(each, _history(store, name), name) for each in present])
        store.update(JUDGE_HISTORY, (name,), lambda present: _recorded(present, store, name))
    return None


def changed(store: Store, name: str, change: Callable[[Settled], StoredJudge]) -> Settled:
    """Put what `change` makes of a judge in its place, in one step.

    Raises:
        JudgmentValidationError: there is no such judge. StoreError: it could not be written.
    """
    done = False

    def step(present: Iterator[StoredJudge]) -> Iterable[StoredJudge]:
        nonlocal done
        for judge in present:
            versions = _history(store, name)
            done = _due(judge, versions, name) is judge and _keeps(versions, judge)
            yield change(Settled(judge, versions)) if done else judge

    while not done:
        if settled(store, name) is None:
            raise JudgmentValidationError(f"Judges not found: {name}")
        store.update(JUDGES, (name,), step)
    found = settled(store, name)
    if found is None:
        raise JudgmentValidationError(f"Judges not found: {name}")
    return found


def _read(store: Store, name: str) -> StoredJudge | None:
    for judge in store.read(JUDGES, (name,)):
        if judge.name not in ("", name):
            where = store.where(JUDGES, (name,))
            raise StoreError(
                f"{where} holds the judge {judge.name!r:.60}, which its file's name does not say",
                advice="For a new judge give it a name of its own, and delete its id; else rename the file.",
            )
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


def _keeps(versions: tuple[StoredVersion, ...], judge: StoredJudge) -> bool:
    return any(version.number == judge.number for version in versions)


def _recorded(present: Iterator[StoredVersion], store: Store, name: str) -> Iterable[StoredVersion]:
    versions, judge = tuple(present), _read(store, name)
    if judge is None or _keeps(versions, judge) or _due(judge, versions, name).version != judge.version:
        return versions
    new = StoredVersion(version=judge.version, created_at=datetime.now(UTC), **grading_of(judge))
    return [*versions, new]
