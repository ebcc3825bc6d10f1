"""The limits of the kernel as settings, and the limits and settings that features declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from scoregate.features.table import FEATURES
from scoregate.kernel.types.declarations.declaration import Declared, Effect, Kind, Limit, Setting
from scoregate.kernel.types.declarations.fields import (
    Amount,
    ByEvaluator,
    ClusterText,
    Confidence,
    Count,
    Factor,
    NonNegativeInt,
    ProjectGlobs,
    Rate,
    Table,
    Text,
    Texts,
    as_tuple,
)
from scoregate.kernel.types.declarations.kernel import LIMITS as KERNEL_LIMITS
from scoregate.kernel.types.declarations.kernel import RULES as KERNEL_RULES
from scoregate.kernel.types.runs.policy import Severity

FEATURE_LIMITS = tuple(each for feature in FEATURES for each in feature.limits)
FEATURE_SETTINGS = tuple(each for feature in FEATURES for each in feature.settings)
TABLE_SETTINGS = tuple(each for each in FEATURE_SETTINGS if each.kind.table is not None)
LIMITS: tuple[Limit[Any], ...] = (*KERNEL_LIMITS, *FEATURE_LIMITS)
_DECLARED_LIMITS = tuple(each for each in LIMITS if each.text)
RULES = (*KERNEL_RULES, *(rule for feature in FEATURES for rule in feature.rules))
_TYPES: Mapping[str, Any] = {
    "Amount": Amount,
    "ByEvaluator": ByEvaluator,
    "Confidence": Confidence,
    "Factor": Factor,
    "NonNegativeInt": NonNegativeInt,
    "ProjectGlobs": ProjectGlobs,
    "Rate": Rate,
    "RateByName": Mapping[str, Rate],
    "Text": Text,
    "Texts": Texts,
    "bool": bool,
    "str": str,
}


def _make_model(name: str, declared: Iterable[Declared]) -> type[BaseModel]:
    fields: dict[str, Any] = {each.name: _make_field(each) for each in declared}
    return create_model(name, __config__=ConfigDict(defer_build=True), __module__=__name__, **fields)


def _make_field(declared: Declared) -> tuple[Any, Any]:
    kind = _find_type(declared.kind)
    if declared.kind.table is not None:
        return kind, Field(default_factory=kind)  # one made here would build its validator
    default = declared.default if isinstance(declared, Setting) else declared.kind.unset
    if declared.check is not None:
        kind = Annotated[kind, AfterValidator(declared.check)]
    if isinstance(default, Mapping):
        return kind, Field(default_factory=dict)
    return Optional[kind] if default is None else kind, default  # noqa: UP045


def _find_type(kind: Kind[Any]) -> Any:
    choices: Any = kind.choices
    if choices is None or kind.table is not None:
        return kind.table or _TYPES[kind.name]
    return Annotated[tuple[choices, ...], BeforeValidator(as_tuple)] if kind.is_list else choices


if TYPE_CHECKING:
    RelaxableRule: TypeAlias = str

    class DeclaredLimits(BaseModel):
        """The limits that only the gate reads."""

    class FeatureSettings(BaseModel):
        """The other settings of features."""

else:  # what other code reads from settings is static, so that the type checker knows it
    RelaxableRule = Literal[tuple(rule.key for rule in RULES if not rule.is_fixed)]
    DeclaredLimits = _make_model("DeclaredLimits", _DECLARED_LIMITS)
    FeatureSettings = _make_model("FeatureSettings", FEATURE_SETTINGS)

DECLARED_MODELS: Mapping[type[BaseModel], tuple[Declared, ...]] = {
    DeclaredLimits: _DECLARED_LIMITS,
    FeatureSettings: FEATURE_SETTINGS,
}


def list_settings(effect: Effect) -> tuple[Setting[Any], ...]:
    """The settings of features that have an effect."""
    return tuple(each for each in FEATURE_SETTINGS if effect in each.effects)


def runs_elsewhere(settings: object) -> bool:
    """Whether a setting of a feature lets suites run on other machines."""
    return any(each.of(settings) != each.default for each in list_settings(Effect.MOVES_SUITES))


def hides_keys(settings: object) -> bool:
    """Whether suites get no keys of models."""
    return any(each.hides_keys(settings) for each in FEATURES)


def replays_calls(settings: object) -> bool:
    """Whether recorded calls are the answers of models."""
    return any(each.replays_calls(settings) for each in FEATURES)


def doubts_base(settings: object) -> bool:
    """Whether a setting of a feature keeps results of the base from being reused."""
    return any(each.of(settings) for each in list_settings(Effect.DOUBTS_BASE))


class LimitFields(DeclaredLimits):
    """The limits that can be set for all suites and for some, see `kernel.types.runs.policy.Limits`.

    None sets nothing.
    """

    min_pass_rate: Rate | None = None
    """Fail if a smaller share of the cases with a threshold passes. A case with several trials counts once, with the
    share of its trials that pass.
    """
    max_error_rate: Rate | None = None
    """The run is unmeasurable if a larger share of a suite's cases has errors."""
    fail_on_critical: bool | None = None
    """Fail if a case tagged `critical` passed in the baseline and fails now."""
    max_cost: Amount | None = None
    """Fail if a suite costs more US dollars. Set for all suites, it is also the budget of the run: it is refused if the
    lower end of its estimate exceeds the budget, and models are no longer asked when the next call would.
    """
    max_tokens: Amount | None = None
    """Fail if a suite uses more tokens. Set for all suites, it is also the budget of the run."""
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
