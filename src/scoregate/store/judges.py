"""Stored judges: a document that people may edit, and the history of all versions."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, AwareDatetime, Field, FiniteFloat, model_validator

from scoregate.store.json_lines import JsonDocument, JsonLines
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import Item
from scoregate.store.toml import TOML, Document, Text

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")
_TAG = re.compile(r"(?!latest$)[A-Za-z][A-Za-z0-9_-]{0,63}")


def _check_format(pattern: re.Pattern[str], message: str) -> AfterValidator:
    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(message)
        return text

    return AfterValidator(check)


VersionText = Annotated[str, _check_format(_VERSION, "must be a version such as 1.2")]
TagText = Annotated[str, _check_format(_TAG, "must be a letter, then letters, digits, _ and -, and not latest")]
ScoreType = Literal["binary", "categorical", "numeric"]


class VersionNumber(NamedTuple):
    """The number of a version, such as 1.2."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> VersionNumber:
        """Parse a text such as "1.2".

        Raises:
            ValueError: the text has another form.
        """
        if (match := _VERSION.fullmatch(text)) is None:
            raise ValueError(f"a version must be a text such as 1.2, not {text!r:.60}")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Category(Item):
    """An answer of a categorical judge. `score` is in [0, 1]; None for a label without a score."""

    value: Annotated[Text, Field(min_length=1, max_length=200)]
    description: Text = ""
    score: Annotated[FiniteFloat, Field(ge=0, le=1)] | None = None


class Grading(Item):
    """The part of a judge that its scores depend on. A version is a copy of it.

    `model` is "provider/name"; None means the project's model. `target` is the class of a code judge as "module:Class",
    and `source` is a digest of its code.
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
    def _check_fields(self) -> Grading:
        needed = "prompt" if self.kind == "prompt" else "target"
        if not (getattr(self, needed) or "").strip():
            raise ValueError(f"a {self.kind} judge needs a {needed}")
        if self.kind == "code" and self.score_type == "categorical":  # its class has checked its categories
            return self
        values = [category.value for category in self.categories]
        if self.score_type == "categorical" and (len(values) < 2 or len(set(values)) < len(values)):
            raise ValueError("a categorical judge needs at least two categories of different values")
        if self.score_type != "categorical" and values:
            raise ValueError(f"a {self.score_type} judge has no categories")
        low, high = self.min_score, self.max_score
        if self.score_type != "numeric" and (low is not None or high is not None):
            raise ValueError(f"a {self.score_type} judge has no min_score and no max_score")
        if self.score_type == "numeric" and (low is None or high is None or low >= high):
            raise ValueError("a numeric judge needs a min_score and a max_score that is greater")
        return self


class _JudgeDocument(Document):
    always_written = frozenset({"version"})

    name: str = ""
    id: str = Field(default="", max_length=200)
    version: VersionText = "0.0"
    description: Text = ""


class StoredJudge(Grading, _JudgeDocument):
    """The present state of a judge. `tags` are versions by tag, such as {"prod": "1.1"}."""

    tags: dict[TagText, VersionText] = Field(default_factory=dict)

    @property
    def number(self) -> VersionNumber:
        """The number in `version`."""
        return VersionNumber.parse(self.version)


class StoredVersion(Grading):
    """A version of a judge. It never changes, and `digest` checks this."""

    version: VersionText
    digest: str = ""
    created_at: AwareDatetime | None = None

    @property
    def number(self) -> VersionNumber:
        """The number of this version."""
        return VersionNumber.parse(self.version)

    @model_validator(mode="after")
    def _check_digest(self) -> StoredVersion:
        digest = grading_digest(self)
        if self.digest and self.digest != digest:
            raise ValueError(f"version {self.version} was changed: its digest is {digest}, not {self.digest!r:.40}")
        object.__setattr__(self, "digest", digest)
        return self


def grading_fields(item: Grading) -> dict[str, Any]:
    """The fields of `Grading`."""
    return {name: getattr(item, name) for name in Grading.model_fields}


def grading_digest(item: Grading) -> str:
    """A digest of the fields of `Grading`: 16 hexadecimal digits."""
    # Without defaults: a new field must not change the digests of earlier versions.
    fields = item.model_dump(mode="json", include=set(Grading.model_fields), exclude_defaults=True)
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


JUDGES = Kind("judges", StoredJudge, TOML, ("judge",))
JUDGE_HISTORY = Kind(
    "judges",
    StoredVersion,
    JsonLines(".history.jsonl"),
    ("judge",),
    item_key=lambda version: version.number,
    is_same=lambda one, other: one.digest == other.digest,
)


class StoredConfig(Document):
    """A test config. `dataset` and `judges` are names or ids. No judge is listed twice."""

    name: str = ""
    id: str = Field(default="", max_length=200)
    description: Text = ""
    dataset: str = Field(min_length=1)
    judges: tuple[str, ...] = Field(min_length=1)
    created_at: AwareDatetime | None = None


CONFIGS = Kind("configs", StoredConfig, TOML, ("config",))


Operator: TypeAlias = Literal["eq", "ne", "lt", "lte", "gt", "gte", "in", "not_in"]
_Number = Annotated[int, Field(ge=0)]


class StoredCheck(Item):
    """What the value of a judge's version must be, compared by `op`."""

    judge_major_version: _Number
    judge_minor_version: _Number
    op: Operator
    expected: Any

    @property
    def version(self) -> str:
        """The version of the judge, such as "1.2"."""
        return str(VersionNumber(self.judge_major_version, self.judge_minor_version))

    @model_validator(mode="after")
    def _check_expected(self) -> StoredCheck:
        is_number = isinstance(self.expected, int | float) and not isinstance(self.expected, bool)
        if self.op in ("lt", "lte", "gt", "gte") and not is_number:
            raise ValueError(f"{self.op} compares with a number, not {self.expected!r:.60}")
        if self.op in ("in", "not_in") and not isinstance(self.expected, list):
            raise ValueError(f"{self.op} compares with a list, not {self.expected!r:.60}")
        return self


class StoredSuiteCase(Item):
    """A case of a test suite: the input of the agent, and the checks by the ids of judges."""

    case_id: str = Field(min_length=1, max_length=200)
    name: str | None = None
    input: Any
    expected: dict[str, StoredCheck] = Field(default_factory=dict)
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    version_added: int = Field(default=1, ge=1)


class StoredTestSuite(Item):
    """A test suite: the cases of every published version, and those of the draft, if there is one."""

    id: str = Field(default="", max_length=200)
    name: str = ""
    description: str | None = None
    labels: tuple[str, ...] = ()
    created_at: AwareDatetime | None = None
    updated_at: AwareDatetime | None = None
    versions: tuple[tuple[StoredSuiteCase, ...], ...] = ()
    draft: tuple[StoredSuiteCase, ...] | None = None


TEST_SUITES = Kind("test_suites", StoredTestSuite, JsonDocument("test_suite.json"), ("test suite",))


def list_configs(store: Store) -> Iterator[tuple[str, StoredConfig]]:
    """All test configs, each with the name of its file.

    Raises:
        StoreError: one cannot be read.
    """
    return ((name, config) for (name,) in store.list_keys(CONFIGS) for config in store.read(CONFIGS, (name,)))
