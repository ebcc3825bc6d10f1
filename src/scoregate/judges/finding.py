"""From names and ids to judges, and from tags and numbers to their versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scoregate.errors import JudgmentValidationError, StoreError
from scoregate.judges.settling import Settled, settled
from scoregate.judges.version import LATEST, PROD, JudgeVersion, versions_of
from scoregate.store import JUDGES, Store


def every(store: Store) -> Iterator[Settled]:
    """All judges, by name.

    Raises:
        StoreError: one cannot be read, or two have one id.
    """
    by_id: dict[str, str] = {}
    for (name,) in store.shelves(JUDGES):
        if (found := settled(store, name)) is None:
            continue
        if (other := by_id.setdefault(found.judge.id, name)) != name:
            raise StoreError(
                f"the judges {other!r:.60} and {name!r:.60} have one id, {found.judge.id!r:.60}",
                advice="Delete the line with the id from the one that was copied: it gets one of its own.",
            )
        yield found


def find(store: Store, judge: str) -> Settled | None:
    """A judge by its name, else by its id.

    Raises:
        StoreError: it cannot be read.
    """
    if (found := settled(store, judge)) is not None:
        return found
    return next((each for each in every(store) if each.judge.id == judge), None)


def found_all(store: Store, judges: Iterable[str]) -> list[Settled]:
    """Judges by their names or ids, each once.

    Raises:
        JudgmentValidationError: some are not there. StoreError: one cannot be read.
    """
    wanted = {judge: find(store, judge) for judge in judges}
    if missing := [judge for judge, found in wanted.items() if found is None]:
        names = ", ".join(name for (name,) in store.shelves(JUDGES))
        raise JudgmentValidationError(
            f"Judges not found: {', '.join(missing):.300}",
            advice=f"There are {names:.300}." if names else "Make them first: client.judges.create(…).",
        )
    by_name = {found.judge.name: found for found in wanted.values() if found is not None}
    return list(by_name.values())


def chosen(found: Settled, *, tag: str | None = None, version: str | None = None) -> JudgeVersion:
    """One version of a judge: that of the tag or the number ("1.2", or "1" for the newest of 1); else that of the tag
    `prod`, else the newest. The tag `latest` is always the newest.

    Raises:
        JudgmentValidationError: there is no such tag or version.
    """
    versions = list(versions_of(found))
    if tag == LATEST:
        return versions[0]
    if version is None:
        version = found.judge.tags.get(tag or PROD)
        if version is None and tag is None:
            return versions[0]
    if version is None:
        raise _missing(found, f"tag {tag!r:.60}", [*found.judge.tags, LATEST])
    if (it := next((each for each in versions if _meant(each, version)), None)) is None:
        raise _missing(found, f"version {version!s:.60}", [each.version for each in versions])
    return it


def _meant(each: JudgeVersion, version: str) -> bool:
    return version in (each.version, each.version.partition(".")[0])


def _missing(found: Settled, what: str, there: Sequence[str]) -> JudgmentValidationError:
    return JudgmentValidationError(
        f"Judge {found.judge.name!r:.60} has no {what}", advice=f"It has {', '.join(there):.300}."
    )
