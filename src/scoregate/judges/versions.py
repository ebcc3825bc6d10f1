"""Versions of judges: find them, pin them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from scoregate.errors import JudgmentValidationError, StoreError
from scoregate.grading.prompts import placeholders
from scoregate.judges.code_judge import Judge
from scoregate.judges.state import JudgeState, load_judge
from scoregate.kernel.types.text import is_whole_number
from scoregate.store import JUDGES, Store
from scoregate.store.judges import Category, Grading, ScoreType, VersionNumber

PROD, LATEST = "prod", "latest"


@dataclass(frozen=True, slots=True)
class JudgeVersion:
    """A version of a judge, or a code judge that is not in the store.

    Attributes:
        id: the judge's id.
        name: the judge's name.
        number: the version; None if the judge is not in the store.
        grading: what its scores depend on.
        description: a description for people.
        tags: the tags on this version.
        created_at: the time of this version.
        code: the code judge, once it is loaded.
    """

    id: str
    name: str
    number: VersionNumber | None
    grading: Grading
    description: str = ""
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None
    code: Judge[Any] | None = None

    @property
    def version(self) -> str:
        """The version such as "1.2"; empty without one."""
        return "" if self.number is None else str(self.number)

    @property
    def label(self) -> str:
        """The name and the version."""
        return f"{self.name} {self.version}".rstrip()

    @property
    def judge_type(self) -> str:
        """ "prompt" or "code"."""
        return self.grading.kind

    @property
    def score_type(self) -> ScoreType:
        """ "binary", "categorical" or "numeric"."""
        return self.grading.score_type

    @property
    def prompt(self) -> str | None:
        """The question of a prompt judge, with its placeholders."""
        return self.grading.prompt

    @property
    def model(self) -> str | None:
        """The model's name; None is the project's model."""
        return self.grading.model

    @property
    def categories(self) -> tuple[Category, ...]:
        """The categories of a categorical judge."""
        return self.grading.categories

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        low, high = self.grading.min_score, self.grading.max_score
        return (0.0 if low is None else low, 1.0 if high is None else high)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The placeholders of its prompt."""
        return placeholders(self.grading.prompt or "")


def versions_of(state: JudgeState) -> Iterator[JudgeVersion]:
    """All versions of a judge, the newest first."""
    judge = state.judge
    for stored in reversed(state.versions):
        tags = tuple(sorted(tag for tag, version in judge.tags.items() if version == stored.version))
        yield JudgeVersion(
            judge.id, judge.name, stored.number, stored, judge.description, tags=tags, created_at=stored.created_at
        )


def load_judges(store: Store) -> Iterator[JudgeState]:
    """All judges in the order of their names.

    Raises:
        StoreError: one cannot be read, or two have one id.
    """
    by_id: dict[str, str] = {}
    for (name,) in store.list_keys(JUDGES):
        if (state := load_judge(store, name)) is None:
            continue
        if (other := by_id.setdefault(state.judge.id, name)) != name:
            raise StoreError(
                f"the judges {other!r:.60} and {name!r:.60} have one id, {state.judge.id!r:.60}",
                advice="Delete the line with the id from the copy: it gets an id of its own.",
            )
        yield state


def find_judge(store: Store, judge: str) -> JudgeState | None:
    """A judge by its name, else by its id.

    Raises:
        StoreError: it cannot be read.
    """
    if (state := load_judge(store, judge)) is not None:
        return state
    return next((each for each in load_judges(store) if each.judge.id == judge), None)


def find_judges(store: Store, judges: Iterable[str]) -> list[JudgeState]:
    """Judges by their names or ids, each once.

    Raises:
        JudgmentValidationError: some do not exist.
        StoreError: one cannot be read.
    """
    states = {judge: find_judge(store, judge) for judge in judges}
    if missing := [judge for judge, state in states.items() if state is None]:
        names = ", ".join(name for (name,) in store.list_keys(JUDGES))
        raise JudgmentValidationError(
            f"Judges not found: {', '.join(missing):.300}",
            advice=f"There are {names:.300}." if names else "There are no judges. `scoregate judge add` creates one.",
        )
    by_name = {state.judge.name: state for state in states.values() if state is not None}
    return list(by_name.values())


def select_version(state: JudgeState, *, tag: str | None = None, version: str | None = None) -> JudgeVersion:
    """One version of a judge: with the tag or the version, else with the tag `prod`, else the newest.

    Args:
        state: the judge.
        tag: a tag; `latest` is always the newest.
        version: a version such as "1.2", or "1" for the newest of 1.

    Raises:
        JudgmentValidationError: there is no such tag or version.
    """
    versions = list(versions_of(state))
    if tag == LATEST:
        return versions[0]
    if version is None:
        version = state.judge.tags.get(tag or PROD)
        if version is None and tag is None:
            return versions[0]
    if version is None:
        raise _missing_error(state, f"tag {tag!r:.60}", [*state.judge.tags, LATEST])
    for each in versions:
        # The newest come first, so "2" is the newest of 2.x.
        if version in (each.version, each.version.partition(".")[0]):
            return each
    raise _missing_error(state, f"version {version!s:.60}", [each.version for each in versions])


def _missing_error(state: JudgeState, what: str, existing: Sequence[str]) -> JudgmentValidationError:
    return JudgmentValidationError(
        f"Judge {state.judge.name!r:.60} has no {what}", advice=f"It has {', '.join(existing):.300}."
    )


class JudgeVersionPin(TypedDict, total=False):
    """A judge, by name or id, and one of its versions: by tag, as "1.2", or by numbers.

    Without a version it is the one with the tag `prod`, else the newest. `major_version` and `minor_version`, as in
    judgeval, are other names of `major` and `minor`.
    """

    name: str
    judge_id: str
    tag: str
    version: str
    major: int
    minor: int
    major_version: int
    minor_version: int


_PIN_KEYS = tuple(JudgeVersionPin.__annotations__)
# Keys of judgeval's pins, and of the records of runs.
_PIN_SYNONYMS = {
    "major_version": "major",
    "minor_version": "minor",
    "judge_major_version": "major",
    "judge_minor_version": "minor",
}


@dataclass(frozen=True, slots=True)
class Pin:
    """A checked pin; None for what it leaves open."""

    judge: str
    tag: str | None
    version: str | None


def parse_pins(given: Sequence[Mapping[str, Any]] | None) -> list[Pin]:
    """Check pins.

    Raises:
        ValueError: a pin is not valid.
    """
    if isinstance(given, str | Mapping):
        raise ValueError('judge_versions is a list of dicts like {"name": "my-judge", "tag": "prod"}')
    return [_parse_pin(entry) for entry in given or ()]


def _parse_pin(entry: Any) -> Pin:
    if not isinstance(entry, Mapping):
        raise ValueError('judge_versions entries must be dicts like {"name": "my-judge", "tag": "prod"}')
    fields: dict[Any, Any] = {}
    for key, value in entry.items():
        name = _PIN_SYNONYMS.get(key, key)
        if value is not None and fields.setdefault(name, value) != value:
            raise ValueError(f"judge_versions: {name} is given twice, as {fields[name]!r:.60} and {value!r:.60}")
    if unknown := [key for key in fields if key not in _PIN_KEYS]:
        raise ValueError(f"judge_versions entries have no key {unknown[0]!r:.60}, only {', '.join(_PIN_KEYS)}")
    judge = fields.get("judge_id") or fields.get("name")
    if not isinstance(judge, str) or not judge:
        raise ValueError("judge_versions entries require a 'name' (or 'judge_id') key")
    tag, version = fields.get("tag"), _pin_version(fields)
    if tag is not None and version is not None:
        raise ValueError(f"judge_versions: {judge!r:.60} has a tag and a version; give one of them")
    if not isinstance(tag, str | None):
        raise ValueError(f"judge_versions: the tag of {judge!r:.60} must be a string, not {tag!r:.60}")
    return Pin(judge, tag, version)


def _pin_version(fields: Mapping[str, Any]) -> str | None:
    version, major, minor = fields.get("version"), fields.get("major"), fields.get("minor")
    if version is not None:
        if not isinstance(version, str):
            raise ValueError(f'judge_versions: a version is written as a string, "1.2", not {version!r:.60}')
        if major is not None or minor is not None:
            raise ValueError("judge_versions: give a version, or major and minor")
        return version
    for number in (major, minor):
        if number is not None and not is_whole_number(number, 0):
            raise ValueError(f"judge_versions: major and minor are whole numbers, not {number!r:.60}")
    if major is None and minor is not None:
        raise ValueError("judge_versions: a minor needs a major")
    return ".".join(str(number) for number in (major, minor) if number is not None) or None


def select_versions(store: Store, members: Sequence[JudgeState], pins: Sequence[Pin] = ()) -> list[JudgeVersion]:
    """The versions to run: for each judge the pinned ones, else its default; each version once.

    Args:
        store: the store.
        members: the judges.
        pins: the pins.

    Raises:
        JudgmentValidationError: a version does not exist, or a pin is for another judge.
        StoreError: a file cannot be read.
    """
    known = {key for each in members for key in (each.judge.name, each.judge.id)}
    if others := [pin.judge for pin in pins if pin.judge not in known]:
        find_judges(store, others)  # a judge that doesn't exist has an error of its own
        names = ", ".join(each.judge.name for each in members)
        raise JudgmentValidationError(
            f"{others[0]!r:.60} is pinned, but it is none of the judges {names:.300}",
            advice="Add it to the test config, or remove the pin.",
        )
    versions: list[JudgeVersion] = []
    for each in members:
        own = [pin for pin in pins if pin.judge in (each.judge.name, each.judge.id)]
        pinned = [select_version(each, tag=pin.tag, version=pin.version) for pin in own]
        versions += pinned or [select_version(each)]
    return list({(version.name, version.version): version for version in versions}.values())
