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

from scoregate.core.runs.clusters import check_cluster
from scoregate.core.runs.policy import Severity
from scoregate.core.runs.slices import check_slice_fields, check_slice_names


class BaselineKind(StrEnum):
    """What a run is compared with.

    `auto`: an artifact of the base branch, else its data branch; nothing is run for it; on a developer's machine as
    `previous`. `previous`: the previous complete run in the output folder. `artifact` and `branch`: only that.
    `history`: the shared history. `rerun`: the same suites run at another commit. `file`: a run on disk. `none`:
    nothing.
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


class Confirm(StrEnum):
    """Which newly failing cases are run again before they count: none, those tagged critical, or all (at most 15)."""

    OFF = "off"
    CRITICAL = "critical"
    ALL = "all"


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


def _check_group_names(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not re.fullmatch(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", value, re.ASCII):
            raise ValueError(f"{value!r:.100} is no name of a dependency group or extra")
    return values


GroupNames = Annotated[Texts, AfterValidator(_check_group_names)]


if TYPE_CHECKING:
    Repeats: TypeAlias = int | Literal["auto"]
else:  # a union would report an error for each of its types
    Repeats = Annotated[Count, WrapValidator(lambda value, handler: value if value == "auto" else handler(value))]
Amount = Annotated[FiniteFloat, BeforeValidator(refuse_bool), Field(ge=0)]
Factor = Annotated[FiniteFloat, BeforeValidator(refuse_bool), Field(gt=0)]


def _for_all_evaluators(value: object) -> object:
    return {"*": value} if isinstance(value, str | int | float) and not isinstance(value, bool) else value


ByEvaluator = Annotated[Mapping[str, Rate], BeforeValidator(_for_all_evaluators)]
BySlice = Annotated[Mapping[str, Rate], AfterValidator(check_slice_names)]
ClusterText = Annotated[Text, AfterValidator(check_cluster)]
SliceFields = Annotated[Texts, AfterValidator(check_slice_fields)]
RelaxableRule = Literal[
    "pass_rate",
    "mean_score",
    "error_rate",
    "decline",
    "new_errors",
    "drop",
    "slice_drop",
    "regression",
    "comparable",
    "same_model",
    "evaluators_unchanged",
    "critical_case",
    "critical_cases_remain",
    "cost",
    "cost_ratio",
    "tokens",
    "tokens_ratio",
    "p95_latency",
    "p95_latency_ratio",
    "suites_remain",
    "suites_report",
    "calls_answered",
    "cases_were_evaluated",
    "evaluations_pending",
    "scores_remain",
    "judge_agreement",
    "limits_apply",
]


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


class LimitFields(BaseModel):
    """The limits that can be set for all suites and for some, as in `core.policy.Limits`; None sets nothing."""

    model_config = ConfigDict(defer_build=True)

    min_pass_rate: Rate | None = None
    """Fail if a smaller share of the cases with a threshold passes. A case with several trials counts once, with the
    share of its trials that pass.
    """
    pass_rate_confidence: Confidence | None = None
    """`min_pass_rate` fails only if the one-sided upper bound of the pass rate (Wilson) at this confidence is below the
    limit. It has no effect at a limit of 1.0.
    """
    max_error_rate: Rate | None = None
    """The run is unmeasurable if a larger share of a suite's cases has errors."""
    max_lost_scores: Rate | None = None
    """The share of scores that may turn into None. If more are lost, and more than by chance, the row is unmeasurable.
    Without it: 0.05.
    """
    min_score: ByEvaluator = Field(default_factory=dict)
    """Fail if the mean score of an evaluator is lower: one number for all, or a table by globs of evaluators. A case
    with several trials counts once, with their mean.
    """
    max_drop: ByEvaluator = Field(default_factory=dict)
    """Fail if the mean score of an evaluator is worse than the baseline by more than this, and by more than noise: one
    number for all, or a table by globs of evaluators.
    """
    max_slice_drop: BySlice = Field(default_factory=dict)
    """Fail if a mean score of a slice is worse than the baseline by more than this, and by more than noise: a table by
    globs of slices, such as `{ "language=fr" = 0.05 }`. The field needn't be in `slices`.
    """
    max_decline: ByEvaluator = Field(default_factory=dict)
    """Fail if the mean score of an evaluator is worse than in an earlier run of the same branch by more than this, and
    by more than noise: one number for all, or a table by globs of evaluators. `decline_window` sets which run. It
    applies to pushes and scheduled runs, not to pull requests.
    """
    fail_on_regression: bool | None = None
    """Fail if any score is worse than the baseline by more than noise."""
    fail_on_critical: bool | None = None
    """Fail if a case tagged `critical` passed in the baseline and fails now."""
    max_cost: Amount | None = None
    """Fail if a suite costs more US dollars. Set for all suites, it is also the budget of the run: it is refused if the
    lower end of its estimate exceeds the budget, and models are no longer asked when the next call would.
    """
    max_cost_ratio: Factor | None = None
    """Fail if the cost is higher than this multiple of the baseline, and by more than noise."""
    max_tokens: Amount | None = None
    """Fail if a suite uses more tokens. Set for all suites, it is also the budget of the run."""
    max_tokens_ratio: Factor | None = None
    """Fail if the number of tokens is higher than this multiple of the baseline, and by more than noise."""
    max_p95_ms: Amount | None = None
    """Fail if the 95th percentile of a suite's latency is higher, in milliseconds."""
    max_p95_ratio: Factor | None = None
    """Fail if the 95th percentile of the latency is higher than this multiple of the baseline, and by more than
    noise."""
    min_judge_agreement: Rate | None = None
    """Scores of a judge count for `min_score`, `max_drop` and `fail_on_regression` only if people agree with it on a
    random sample: its balanced accuracy and the share of failures that it finds must be above this, by lower bounds.
    """
    cluster: ClusterText | None = None
    """What cases that aren't independent have in common, such as their document: a field of the input or of its
    `metadata`, as for `slices`; or a pattern of names, such as `*[{cluster}-*]` for `test_chat[refund-3]`. It is
    applied when a run is recorded, and wins over what a suite states.
    """
    severity: Mapping[RelaxableRule, Severity] = Field(default_factory=dict)
    """What happens if a rule is violated, by the name of the rule: `fail`, `warn` or `off`."""


class SuiteSettings(LimitFields, Table):
    """Settings for some suites. For None, the setting for all suites applies.

    `needs` names environment variables that the suites require.
    """

    repeats: Count | None = None
    """Run every case of these suites N times."""
    needs: Texts = ()
    """Names of environment variables. Without them these suites are skipped in jobs of forks, and fail elsewhere. A
    suite that a result file names is left out after its command ran.
    """


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
