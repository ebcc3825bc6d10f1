"""Which versions of judges a test runs, said by the user and resolved before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from scoregate.core.figures import is_whole
from scoregate.errors import JudgmentValidationError
from scoregate.judges.finding import chosen, found_all
from scoregate.judges.settling import Settled
from scoregate.judges.version import JudgeVersion
from scoregate.store import Store


class JudgeVersionPin(TypedDict, total=False):
    """A judge, by name or id, and one of its versions: by tag, as "1.2", or by numbers. Without any: `prod`, else the
    newest."""

    name: str
    judge_id: str
    tag: str
    version: str
    major: int
    minor: int


_KEYS = tuple(JudgeVersionPin.__annotations__)
# The same, as the records of runs call them.
_SYNONYMS = {"judge_major_version": "major", "judge_minor_version": "minor"}


@dataclass(frozen=True, slots=True)
class Pin:
    """A pin that was checked; None where nothing was said."""

    judge: str
    tag: str | None
    version: str | None


def read_pins(given: Sequence[Mapping[str, Any]] | None) -> list[Pin]:
    """The pins as users write them, checked.

    Raises:
        ValueError: one is not written as it must be.
    """
    if isinstance(given, str | Mapping):
        raise ValueError('judge_versions is a list of dicts like {"name": "my-judge", "tag": "prod"}')
    return [_pin(entry) for entry in given or ()]


def _pin(entry: Any) -> Pin:
    if not isinstance(entry, Mapping):
        raise ValueError('judge_versions entries must be dicts like {"name": "my-judge", "tag": "prod"}')
    said: dict[Any, Any] = {_SYNONYMS.get(key, key): value for key, value in entry.items() if value is not None}
    if unknown := [key for key in said if key not in _KEYS]:
        raise ValueError(f"judge_versions entries have no key {unknown[0]!r:.60}, only {', '.join(_KEYS)}")
    judge = said.get("judge_id") or said.get("name")
    if not isinstance(judge, str) or not judge:
        raise ValueError("judge_versions entries require a 'name' (or 'judge_id') key")
    tag, version = said.get("tag"), _version(said)
    if tag is not None and version is not None:
        raise ValueError(f"judge_versions: {judge!r:.60} has a tag and a version; give one of them")
    if not isinstance(tag, str | None):
        raise ValueError(f"judge_versions: the tag of {judge!r:.60} must be a string, not {tag!r:.60}")
    return Pin(judge, tag, version)


def _version(said: Mapping[str, Any]) -> str | None:
    version, major, minor = said.get("version"), said.get("major"), said.get("minor")
    if version is not None:
        if not isinstance(version, str):
            raise ValueError(f'judge_versions: a version is written as a string, "1.2", not {version!r:.60}')
        if major is not None or minor is not None:
            raise ValueError("judge_versions: give a version, or major and minor")
        return version
    for number in (major, minor):
        if number is not None and not is_whole(number, 0):
            raise ValueError(f"judge_versions: major and minor are whole numbers, not {number!r:.60}")
    if major is None and minor is not None:
        raise ValueError("judge_versions: a minor needs a major")
    return ".".join(str(number) for number in (major, minor) if number is not None) or None


def pinned(store: Store, members: Sequence[Settled], pins: Sequence[Pin] = ()) -> list[JudgeVersion]:
    """The versions to run: of each judge those that are pinned, else its default; no version twice.

    Raises:
        JudgmentValidationError: a version is not there, or a pin is of a judge that is not there or none of these.
        StoreError: something cannot be read.
    """
    _check_members(store, members, pins)
    versions = [version for each in members for version in _versions(each, pins)]
    return list({(version.name, version.version): version for version in versions}.values())


def _versions(each: Settled, pins: Sequence[Pin]) -> list[JudgeVersion]:
    own = [pin for pin in pins if pin.judge in (each.judge.name, each.judge.id)]
    return [chosen(each, tag=pin.tag, version=pin.version) for pin in own] or [chosen(each)]


def _check_members(store: Store, members: Sequence[Settled], pins: Sequence[Pin]) -> None:
    known = {key for each in members for key in (each.judge.name, each.judge.id)}
    if strangers := [pin.judge for pin in pins if pin.judge not in known]:
        found_all(store, strangers)
        names = ", ".join(each.judge.name for each in members)
        raise JudgmentValidationError(
            f"{strangers[0]!r:.60} is pinned, and is none of the judges {names:.300}",
            advice="Add it to the test config, or leave the pin out.",
        )
