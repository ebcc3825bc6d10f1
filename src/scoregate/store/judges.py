"""Judges as they are kept: a document that people edit, and beside it every version there was."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, AwareDatetime, Field, FiniteFloat, model_validator

from scoregate.store.json_lines import JsonLines
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import Item
from scoregate.store.toml import TOML, Document, Text

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")
_TAG = re.compile(r"(?!latest$)[A-Za-z][A-Za-z0-9_-]{0,63}")


def _version_text(text: str) -> str:
    if not _VERSION.fullmatch(text):
        raise ValueError("must be written as in 1.2")
    return text


def _tag_text(text: str) -> str:
    if not _TAG.fullmatch(text):
        raise ValueError("must be a letter, then letters, digits, _ and -, and other than latest")
    return text


VersionText = Annotated[str, AfterValidator(_version_text)]
TagText = Annotated[str, AfterValidator(_tag_text)]
ScoreType = Literal["binary", "categorical", "numeric"]


class Number(NamedTuple):
    """Of a version."""

    major: int
    minor: int

    @classmethod
    def of(cls, text: str) -> Number:
        """From "1.2".

        Raises:
            ValueError: it is no such text.
        """
        if (found := _VERSION.fullmatch(text)) is None:
            raise ValueError(f"a version must be written as in 1.2, not {text!r:.60}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Category(Item):
    """An answer of a categorical judge; `score`, in [0, 1], is what it stands for, None where it is a mere label."""

    value: Annotated[Text, Field(min_length=1, max_length=200)]
    description: Text = ""
    score: Annotated[FiniteFloat, Field(ge=0, le=1)] | None = None


class Grading(Item):
    """What a judge's scores depend on: what a version is a version of.

    `model` is "provider/name", None the project's. `target` names a code judge, as "module:Class"; `source` is a digest
    of its code.
    """

    kind: Literal["prompt", "code"] = "prompt"
    score_type: ScoreType
    model: Text | None = None
    target: Text | None = None
    source: str | None = None
    min_score: FiniteFloat | None = None
    max_score: FiniteFloat | None = None
    prompt: Text | None = None
    categories: tuple[Category, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Grading:
        needed = "prompt" if self.kind == "prompt" else "target"
        if not (getattr(self, needed) or "").strip():
            raise ValueError(f"a {self.kind} judge needs a {needed}")
        if self.kind == "prompt" or self.score_type != "categorical":
            _check_answers(self)
        return self


def _check_answers(grading: Grading) -> None:
    values = [category.value for category in grading.categories]
    if grading.score_type == "categorical" and (len(values) < 2 or len(set(values)) < len(values)):
        raise ValueError("a categorical judge needs at least two categories of different values")
    if grading.score_type != "categorical" and values:
        raise ValueError(f"a {grading.score_type} judge has no categories")
    bounds = (grading.min_score, grading.max_score)
    if grading.score_type != "numeric" and bounds != (None, None):
        raise ValueError(f"a {grading.score_type} judge has no min_score and no max_score")
    if grading.score_type == "numeric" and (None in bounds or not bounds[0] < bounds[1]):  # type: ignore[operator]
        raise ValueError("a numeric judge needs a min_score and a max_score that is greater")


class _Named(Document):
    shown = frozenset({"version"})

    name: str = ""
    id: str = Field(default="", max_length=200)
    version: VersionText = "0.0"
    description: Text = ""


class StoredJudge(Grading, _Named):
    """A judge as it stands now. `tags` are versions by their tags, such as {"prod": "1.1"}."""

    tags: dict[TagText, VersionText] = Field(default_factory=dict)

    @property
    def number(self) -> Number:
        """Of the version that it says it is."""
        return Number.of(self.version)


class StoredVersion(Grading):
    """A version of a judge; nobody may change it."""

    version: VersionText
    digest: str = ""
    created_at: AwareDatetime | None = None

    @property
    def number(self) -> Number:
        """Of this version."""
        return Number.of(self.version)

    @model_validator(mode="after")
    def _unchanged(self) -> StoredVersion:
        found = digest_of(self)
        if self.digest and self.digest != found:
            raise ValueError(f"version {self.version} was changed: its digest is {found}, not {self.digest!r:.40}")
        object.__setattr__(self, "digest", found)
        return self


def grading_of(item: Grading) -> dict[str, Any]:
    """What a version is made of, as fields."""
    return {name: getattr(item, name) for name in Grading.model_fields}


def digest_of(item: Grading) -> str:
    """Of what a version is made of: 16 hexadecimal digits."""
    said = item.model_dump(mode="json", include=set(Grading.model_fields), exclude_defaults=True)
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def _number(version: StoredVersion) -> Number:
    return version.number


def _same(one: StoredVersion, other: StoredVersion) -> bool:
    return one.digest == other.digest


JUDGES = Kind("judges", StoredJudge, TOML, ("judge",))
JUDGE_HISTORY = Kind("judges", StoredVersion, JsonLines(".history.jsonl"), ("judge",), _number, _same)


class StoredConfig(Document):
    """A test config. `dataset` and `judges` are names or ids; a judge may come once."""

    name: str = ""
    id: str = Field(default="", max_length=200)
    description: Text = ""
    dataset: str = Field(min_length=1)
    judges: tuple[str, ...] = Field(min_length=1)
    created_at: AwareDatetime | None = None


CONFIGS = Kind("configs", StoredConfig, TOML, ("config",))


def stored_configs(store: Store) -> Iterator[tuple[str, StoredConfig]]:
    """All test configs, each with the name that its file has.

    Raises:
        StoreError: one cannot be read.
    """
    return ((name, config) for (name,) in store.shelves(CONFIGS) for config in store.read(CONFIGS, (name,)))
