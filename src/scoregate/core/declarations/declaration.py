"""The declarations of rules, limits, other settings, and features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from scoregate.core.records import record
from scoregate.core.runs.policy import Limits, Policy, Severity

_T = TypeVar("_T")


@record
class Rule:
    """A rule of the gate.

    Attributes:
        name: its name in findings.
        failed: the title of a finding that isn't passed; empty for the name.
        passed: the title of a passed one; empty for the other title.
        severity: its effect on the run if no setting says otherwise.
        is_fixed: whether no setting can relax it.
    """

    name: str
    failed: str = ""
    passed: str = ""
    severity: Severity = Severity.FAIL
    is_fixed: bool = False

    @property
    def key(self) -> str:
        """Its name in the table `severity`, such as `error_rate`."""
        return self.name.replace(" ", "_")

    @property
    def titles(self) -> tuple[str, str]:
        """The titles of a finding that isn't passed, and of a passed one."""
        failed = self.failed or self.name[:1].upper() + self.name[1:]
        return failed, self.passed or failed

    def severity_in(self, limits: Limits) -> Severity:
        """Its effect on the run by these limits."""
        return limits.severity.get(self.key, self.severity)


@record
class Kind(Generic[_T]):
    """What a setting may be.

    Attributes:
        name: the name of its type; `ci/settings/limit_fields.py` lists them.
        unset: the value if nothing sets it.
        by: what the keys of a table name; empty for a single value.
    """

    name: str
    unset: _T
    by: Literal["", "evaluator", "slice"] = ""


FLAG: Kind[bool | None] = Kind("bool", None)
RATE: Kind[float | None] = Kind("Rate", None)
CONFIDENCE: Kind[float | None] = Kind("Confidence", None)
AMOUNT: Kind[float | None] = Kind("Amount", None)
FACTOR: Kind[float | None] = Kind("Factor", None)
BY_EVALUATOR: Kind[Mapping[str, float]] = Kind("ByEvaluator", {}, "evaluator")
BY_SLICE: Kind[Mapping[str, float]] = Kind("BySlice", {}, "slice")
TEXT: Kind[str] = Kind("str", "")


@record
class Limit(Generic[_T]):
    """A limit, which can be set for all suites and for some. The base's settings own all limits.

    Attributes:
        name: its name in settings and in the stored policy.
        kind: what it may be.
        text: its description in the reference; empty if `LimitFields` has a field for it.
        is_relative: whether it needs a baseline.
        is_enough: whether it can fail any suite, so that a suite with it has a gate; so can relative limits.
    """

    name: str
    kind: Kind[_T]
    text: str = ""
    is_relative: bool = False
    is_enough: bool = False

    def of(self, limits: Limits) -> _T:
        """Its value in the limits of a suite."""
        value: _T = limits.get(self.name, self.kind.unset)
        return value

    def is_set(self, limits: Limits) -> bool:
        """Whether these limits set it."""
        value = self.of(limits)
        return value is not None and value is not False and value != {}  # 0 is a limit

    def is_set_for_any(self, policy: Policy) -> bool:
        """Whether it is set for any suite."""
        return any(map(self.is_set, policy.all_limits))


class Owner(StrEnum):
    """Whose file sets a value if the base's settings judge a change."""

    BASE = "base"
    HEAD = "head"


@record
class Setting(Generic[_T]):
    """A setting of a feature that is no limit.

    Attributes:
        name: its name.
        kind: what it may be.
        default: the value if nothing sets it.
        text: its description in the reference.
        group: the heading below which the reference lists it.
        words: its type in words, if `kind` doesn't say enough.
        owner: whose file sets it if the base's settings judge a change.
        check: returns the value, or raises a ValueError that says what it must be; None for any value of its kind.
    """

    name: str
    kind: Kind[_T]
    default: _T
    text: str
    group: str
    words: str = ""
    owner: Owner = Owner.BASE
    check: Callable[[_T], _T] | None = None

    def of(self, settings: object) -> _T:
        """Its value in the settings."""
        value: _T = getattr(settings, self.name)
        return value


Declared = Limit[Any] | Setting[Any]


@record
class Feature:
    """A feature: its folder, and what the kernel must know before it imports more of it.

    Attributes:
        name: the name of its folder, whose module `step` has its hooks.
        rules: its rules of the gate.
        limits: its limits.
        settings: its other settings.
        has_hooks: whether it has a module `step`; otherwise its module `section` only says something in reports.
        in_runs: whether it takes part in runs; otherwise only commands use it.
    """

    name: str
    rules: tuple[Rule, ...] = ()
    limits: tuple[Limit[Any], ...] = ()
    settings: tuple[Setting[Any], ...] = ()
    has_hooks: bool = True
    in_runs: bool = True
