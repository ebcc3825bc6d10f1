"""The types of settings, and the tables that settings may hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    WrapValidator,
)

from scoregate.kernel.types.runs.clusters import check_cluster


class BaselineKind(StrEnum):
    """What a run is compared with.

    `auto`: an artifact of the base branch, else its data branch; nothing is run for it; on a developer's machine as
    `previous`. `previous`: the newest complete run in the output folder that passed its gates on changes. `artifact`
    and `branch`: only that. `history`: the shared history. `rerun`: the same suites run at another commit. `file`: a
    run on disk. `none`: nothing.
    """

    AUTO = "auto"
    PREVIOUS = "previous"
    ARTIFACT = "artifact"
    BRANCH = "branch"
    HISTORY = "history"
    RERUN = "rerun"
    FILE = "file"
    NONE = "none"


def parse_baseline_kind(baseline: str) -> BaselineKind:
    """The kind of baseline in a setting: a keyword, `rerun:REF`, or else a path."""
    word, _, rest = baseline.partition(":")
    is_keyword = word in set(BaselineKind) - {BaselineKind.FILE} and (not rest or word == BaselineKind.RERUN)
    return BaselineKind(word) if is_keyword else BaselineKind.FILE


class CommentMode(StrEnum):
    """When a pull request gets a comment: `changes` are scores better, worse, new or removed, and failures."""

    ALWAYS = "always"
    CHANGES = "changes"
    FAILURES = "failures"
    OFF = "off"


# YAML reads a bare `off` as false.
Comment = Annotated[
    CommentMode, BeforeValidator(lambda value: CommentMode.OFF if value is False or value == "false" else value)
]


class ShowOutputs(StrEnum):
    """Whether reports and the stored run show what the code under test returned."""

    FULL = "full"
    NONE = "none"


class GateSet(StrEnum):
    """A set of gates. Each limit declares which value a set gives it; a limit that is set keeps its own."""

    USUAL = "usual"
    STRICT = "strict"


class PolicySource(StrEnum):
    """Whether a run is judged by its own limits or by those of its baseline."""

    HEAD = "head"
    BASE = "base"


def refuse_bool(value: object) -> object:
    """The value as it is.

    Raises:
        ValueError: it is a bool, which Python counts among the numbers.
    """
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


Number = Annotated[FiniteFloat, BeforeValidator(refuse_bool)]
Rate = Annotated[FiniteFloat, BeforeValidator(refuse_bool), Field(ge=0, le=1)]
Confidence = Annotated[FiniteFloat, BeforeValidator(refuse_bool), Field(ge=0.5, lt=1)]
Count = Annotated[int, BeforeValidator(refuse_bool), Field(ge=1)]
NonNegativeInt = Annotated[int, BeforeValidator(refuse_bool), Field(ge=0)]
Seconds = Annotated[FiniteFloat, BeforeValidator(refuse_bool), Field(gt=0)]
Text = Annotated[str, Field(min_length=1)]


def as_tuple(value: object) -> object:
    """A single text as a list of one."""
    return (value,) if isinstance(value, str) else value


Texts = Annotated[tuple[Text, ...], BeforeValidator(as_tuple)]


if TYPE_CHECKING:
    Repeats: TypeAlias = int | Literal["auto"]
else:  # a union would report an error for each of its types
    Repeats = Annotated[Count, WrapValidator(lambda value, handler: value if value == "auto" else handler(value))]
Amount = Annotated[FiniteFloat, BeforeValidator(refuse_bool), Field(ge=0)]
Factor = Annotated[FiniteFloat, BeforeValidator(refuse_bool), Field(gt=0)]


def _for_all_evaluators(value: object) -> object:
    return {"*": value} if isinstance(value, str | int | float) and not isinstance(value, bool) else value


ByEvaluator = Annotated[Mapping[str, Rate], BeforeValidator(_for_all_evaluators)]
ClusterText = Annotated[Text, AfterValidator(check_cluster)]

_APPROVED = re.compile(r"[1-9][0-9]{0,9}@[0-9a-f]{40}")


def _check_approved(value: str) -> str:
    if not _APPROVED.fullmatch(value):
        raise ValueError("must be the number of a pull request and a whole SHA, such as 7@" + "0a" * 20)
    return value


ApprovedText: TypeAlias = Annotated[str, AfterValidator(_check_approved)]
BaseRuns = Annotated[int, BeforeValidator(refuse_bool), Field(ge=1, le=20)]


class Table(BaseModel):
    """A table of the settings. Unknown keys are errors."""

    # The validator of `Settings` includes its tables: they need none of their own.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Named(Protocol):
    """A table with a name."""

    @property
    def name(self) -> str:
        """The name."""


_Named = TypeVar("_Named", bound=Named)


def check_distinct_names(tables: tuple[_Named, ...]) -> tuple[_Named, ...]:
    """The tables as they are.

    Raises:
        ValueError: two have one name.
    """
    names = [table.name for table in tables]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"must have different names; {', '.join(twice)} is used twice")
    return tables


class PriceSettings(Table):
    """Prices in US dollars per million tokens. Tokens that the provider had cached cost `cached` if it is set."""

    input: Amount
    """US dollars per million input tokens."""
    output: Amount = 0.0
    """US dollars per million output tokens."""
    cached: Amount | None = None
    """US dollars per million input tokens that the provider had cached. Without it: the price of `input`."""


Origins = Mapping[tuple[str, ...], str]


_LONGEST_GLOB = 500


def check_inputs(values: tuple[str, ...]) -> tuple[str, ...]:
    """The globs as they are.

    Raises:
        ValueError: one leads out of the project.
    """
    for value in values:
        if value.startswith("/") or ".." in value.split("/") or len(value) > _LONGEST_GLOB:
            raise ValueError(f"{value!r:.200} must be a glob of files in the project, such as prompts/**")
    return values


ProjectGlobs = Annotated[Texts, AfterValidator(check_inputs)]


_CACHE_MODES = ("on", "off", "readonly", "refresh")
_SYNONYMS = {"true": "on", "yes": "on", "false": "off", "no": "off", "none": "off", "0": "off", "disabled": "off"}
_CACHE_FOLDER = ".scoregate-cache"


def _check_cache(cache: str) -> str:
    """Refuse a misspelled mode: as a folder, it would switch the cache on."""
    word = cache.partition(":")[0]
    if word in _CACHE_MODES or "/" in word:
        return cache
    typed = word.strip().casefold()
    if mode := _SYNONYMS.get(typed) or next(iter(get_close_matches(typed, _CACHE_MODES, n=1, cutoff=0.8)), None):
        raise ValueError(f"did you mean {mode}? A folder of this name is written ./{word}")
    return cache


Cache = Annotated[str, Field(min_length=1), AfterValidator(_check_cache)]


def absolute_cache(root: Path, cache: str) -> str:
    """The setting `cache` (a mode, a folder, or both as MODE:FOLDER) with its folder made absolute."""
    word, _, folder = cache.partition(":")
    mode, folder = (word, folder) if word in _CACHE_MODES else ("on", cache)
    return f"{mode}:{root / (folder or _CACHE_FOLDER)}"
