"""The kinds of value that a setting may have."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from scoregate.core.policy import Severity


class BaselineKind(StrEnum):
    """What a run is to be compared with.

    `auto`: an artifact of the base branch, else its data branch; nothing is run for it. `artifact` and `branch`: only
    that. `rerun`: the same suites run at another commit. `file`: a run on disk. `none`: nothing.
    """

    AUTO = "auto"
    ARTIFACT = "artifact"
    BRANCH = "branch"
    RERUN = "rerun"
    FILE = "file"
    NONE = "none"


def baseline_kind(baseline: str) -> BaselineKind:
    """What a setting names: one of the words, `rerun:REF`, or else a path."""
    word, _, rest = baseline.partition(":")
    named = word in set(BaselineKind) - {BaselineKind.FILE} and (not rest or word == BaselineKind.RERUN)
    return BaselineKind(word) if named else BaselineKind.FILE


class CommentMode(StrEnum):
    """When a pull request gets a comment: `changes` are scores better, worse, new or removed, and failures."""

    ALWAYS = "always"
    CHANGES = "changes"
    FAILURES = "failures"
    OFF = "off"


def _off(value: object) -> object:
    """YAML reads a bare `off` as false."""
    return CommentMode.OFF if value is False or value == "false" else value


Comment = Annotated[CommentMode, BeforeValidator(_off)]


class ShowOutputs(StrEnum):
    """Whether reports and the stored run show what the code under test returned."""

    FULL = "full"
    NONE = "none"


class Confirm(StrEnum):
    """Which newly failing cases are run again before they count: none, those tagged critical, or all (at most 15)."""

    OFF = "off"
    CRITICAL = "critical"
    ALL = "all"


class PolicySource(StrEnum):
    """Whose limits a run is judged by: its own, or those that its base was judged by."""

    HEAD = "head"
    BASE = "base"


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Rate = Annotated[FiniteFloat, BeforeValidator(_no_bool), Field(ge=0, le=1)]
Confidence = Annotated[FiniteFloat, BeforeValidator(_no_bool), Field(ge=0.5, lt=1)]
Count = Annotated[int, BeforeValidator(_no_bool), Field(ge=1)]
Most = Annotated[int, BeforeValidator(_no_bool), Field(ge=0)]
Seconds = Annotated[FiniteFloat, BeforeValidator(_no_bool), Field(gt=0)]
Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]


def _or_auto(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    return value if value == "auto" else handler(value)


if TYPE_CHECKING:
    Repeats: TypeAlias = int | Literal["auto"]
else:  # a union would tell of every branch what is wrong with it
    Repeats = Annotated[Count, WrapValidator(_or_auto)]
Amount = Annotated[FiniteFloat, BeforeValidator(_no_bool), Field(ge=0)]
Factor = Annotated[FiniteFloat, BeforeValidator(_no_bool), Field(gt=0)]


def _for_all(value: object) -> object:
    return {"*": value} if isinstance(value, str | int | float) and not isinstance(value, bool) else value


ByEvaluator = Annotated[Mapping[str, Rate], BeforeValidator(_for_all)]
SoftRule = Literal[
    "pass_rate",
    "mean_score",
    "error_rate",
    "drop",
    "regression",
    "comparable",
    "evaluators_unchanged",
    "critical_case",
    "cost",
    "cost_ratio",
    "tokens",
    "tokens_ratio",
    "p95_latency",
    "p95_latency_ratio",
    "suites_remain",
    "suites_report",
    "cases_were_evaluated",
    "evaluations_pending",
    "scores_remain",
    "judge_agreement",
    "limits_apply",
]


class Table(BaseModel):
    """A table of the settings: it knows its keys and takes no others."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Named(Protocol):
    """A table with a name."""

    @property
    def name(self) -> str:
        """What it is called."""


_Named = TypeVar("_Named", bound=Named)


def distinct(tables: tuple[_Named, ...]) -> tuple[_Named, ...]:
    """The tables as they are.

    Raises:
        ValueError: two have one name.
    """
    names = [table.name for table in tables]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"must have a name each; {', '.join(twice)} comes twice")
    return tables


class LimitFields(BaseModel):
    """The limits that can be set for all suites and for some, as in `core.policy.Limits`; None sets nothing."""

    min_pass_rate: Rate | None = None
    pass_rate_confidence: Confidence | None = None
    max_error_rate: Rate | None = None
    max_lost_scores: Rate | None = None
    min_score: ByEvaluator = Field(default_factory=dict)
    max_drop: ByEvaluator = Field(default_factory=dict)
    fail_on_regression: bool | None = None
    fail_on_critical: bool | None = None
    max_cost: Amount | None = None
    max_cost_ratio: Factor | None = None
    max_tokens: Amount | None = None
    max_tokens_ratio: Factor | None = None
    max_p95_ms: Amount | None = None
    max_p95_ratio: Factor | None = None
    min_judge_agreement: Rate | None = None
    severity: Mapping[SoftRule, Severity] = Field(default_factory=dict)


class SuiteSettings(LimitFields, Table):
    """What differs for some suites; what is None is left to the setting for all.

    `needs` names variables of the environment without which they cannot run.
    """

    repeats: Count | None = None
    needs: Texts = ()


class EvaluatorSettings(Table):
    """What differs for some evaluators when scores are compared; effects and margins are in [0, 1]."""

    higher_is_better: bool | None = None
    min_effect: Rate | None = None
    margin: Rate | None = None


class PriceSettings(Table):
    """US dollars a million tokens; those that the server had cached cost `cached`, where that is given."""

    input: Amount
    output: Amount = 0.0
    cached: Amount | None = None


Origins = Mapping[tuple[str, ...], str]
