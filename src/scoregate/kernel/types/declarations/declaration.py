"""The declarations of rules, limits, other settings, and features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum, StrEnum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Limits, Policy, Severity, is_limit
from scoregate.kernel.types.slots import NO_SLOTS, Slots

if TYPE_CHECKING:
    from scoregate.kernel.types.declarations.fields import GateSet
    from scoregate.kernel.types.runs.run import Run

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
        drop_from: the run below whose scores those of a row may not fall: the baseline's, or those of an earlier run;
            empty for another rule.
    """

    name: str
    failed: str = ""
    passed: str = ""
    severity: Severity = Severity.FAIL
    is_fixed: bool = False
    drop_from: Literal["", "base", "past"] = ""

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
        name: the name of its type; `kernel/judge/settings/limit_fields.py` lists them.
        unset: the value of a limit if nothing sets it.
        by: what the keys of a table name; empty for a single value.
        choices: the values that it may have; None if they can't be listed.
        is_list: whether it is a list of them; a variable then separates them by commas.
        table: the model of a table; None for other kinds.
        short: the key of the table that a single value sets; then `choices` are these values.
    """

    name: str
    unset: _T
    by: Literal["", "evaluator", "name"] = ""
    choices: type[StrEnum] | None = None
    is_list: bool = False
    table: type[Any] | None = None
    short: str = ""


FLAG: Kind[bool | None] = Kind("bool", None)
RATE: Kind[float | None] = Kind("Rate", None)
CONFIDENCE: Kind[float | None] = Kind("Confidence", None)
AMOUNT: Kind[float | None] = Kind("Amount", None)
FACTOR: Kind[float | None] = Kind("Factor", None)
BY_EVALUATOR: Kind[Mapping[str, float]] = Kind("ByEvaluator", {}, "evaluator")
RATE_BY_NAME: Kind[Mapping[str, float]] = Kind("RateByName", {}, "name")
ANY_TEXT: Kind[str | None] = Kind("str", None)
GLOBS: Kind[tuple[str, ...]] = Kind("ProjectGlobs", ())
TEXT: Kind[str | None] = Kind("Text", None)
TEXTS: Kind[tuple[str, ...]] = Kind("Texts", (), is_list=True)
WHOLE_NUMBER: Kind[int | None] = Kind("NonNegativeInt", None)


def choose_from(choices: type[StrEnum], *, is_list: bool = False) -> Kind[Any]:
    """The kind of a setting that is one of these values, or a list of them."""
    return Kind("", None, choices=choices, is_list=is_list)


OptionGroup: TypeAlias = Literal["place", "running", "model", "budget", "gate", "publish", "skip"]


@record
class Option:
    """The option of a setting on the command line.

    Attributes:
        group: the options among which the help lists it.
        help: its help text.
        metavar: how the help calls its value; empty for choices, flags and numbers that need no name.
        bare: the value of the option without a value; empty if it needs one.
    """

    group: OptionGroup
    help: str
    metavar: str | None = None
    bare: str = ""


@record
class Limit(Generic[_T]):
    """A limit, which can be set for all suites and for some. The base's settings own all limits.

    Attributes:
        name: its name in settings and in the stored policy.
        kind: what it may be.
        text: its description in the reference; empty if `LimitFields` has a field for it.
        is_relative: whether it is left out without a baseline, which reports then say. A gate that is unmeasurable then
            is not relative.
        is_enough: whether it can fail any suite, so that a suite with it has a gate; so can relative limits.
        check: returns the value, or raises a ValueError that says what it must be; None for any value of its kind.
        option: its option on the command line; None for none.
        in_sets: its values in sets of gates.
    """

    name: str
    kind: Kind[_T]
    text: str = ""
    is_relative: bool = False
    is_enough: bool = False
    check: Callable[[_T], _T] | None = None
    option: Option | None = None
    in_sets: Mapping[GateSet, _T] = field(default_factory=dict)

    def of(self, limits: Limits) -> _T:
        """Its value in the limits of a suite."""
        value: _T = limits.get(self.name, self.kind.unset)
        return value

    def is_set(self, limits: Limits) -> bool:
        """Whether these limits set it."""
        return is_limit(self.of(limits))

    def is_set_for_any(self, policy: Policy) -> bool:
        """Whether it is set for any suite."""
        return any(map(self.is_set, policy.all_limits))


class Owner(StrEnum):
    """Whose file sets a value if the base's settings judge a change."""

    BASE = "base"
    HEAD = "head"
    WORKFLOW = "workflow"  # no file can set it


class Effect(Enum):
    """What a setting of a feature does to runs, besides what the feature does with it."""

    SHARED = auto()  # shards of one run must agree on it
    KEEPS_RESULTS = auto()  # runs may keep results of the base with it, so that they record what suites read
    KEEPS_ON_PUSH = auto()  # a push to the base branch may keep them, too
    DOUBTS_BASE = auto()  # results of the base are not reused while it is set
    DECIDES_RESULTS = auto()  # results are only reused if it is equal
    MOVES_SUITES = auto()  # suites run on another machine unless it has its default
    NAMES_PATH = auto()  # it can name a file or folder of the project, which suites depend on
    NAMES_FILES = auto()  # it can be a command, and suites depend on the files of the project in it
    NAMES_PROGRAM = auto()  # a path on the command line is relative to the current folder; a name isn't


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
        refusal: why no file can set it, and what to do instead; only if the workflow owns it.
        check: returns the value, or raises a ValueError that says what it must be; None for any value of its kind.
        after: the setting of the kernel that it follows in lists; empty for the place of features.
        below: the same for the reference, if it differs.
        effects: what it does to runs.
        condition: returns the part of its value that results depend on, if that isn't all of it; empty for none.
        option: its option on the command line; None for none.
    """

    name: str
    kind: Kind[Any]
    default: _T
    text: str
    group: str
    words: str = ""
    owner: Owner = Owner.BASE
    refusal: tuple[str, str] = ("", "")
    check: Callable[[_T], _T] | None = None
    after: str = ""
    below: str = ""
    effects: tuple[Effect, ...] = ()
    condition: Callable[[_T], object] | None = None
    option: Option | None = None

    def of(self, settings: object) -> _T:
        """Its value in the settings."""
        value: _T = getattr(settings, self.name)
        return value

    def is_set(self, settings: object) -> bool:
        """Whether the settings set another value than the default."""
        return self.of(settings) != self.default


Declared = Limit[Any] | Setting[Any]


def insert_names(names: Iterable[str], inserted: Iterable[tuple[str, str]]) -> list[str]:
    """Names in their order, with more of them.

    Args:
        names: the names.
        inserted: the others, each with the name that it follows; those with an unknown one are at the end.
    """
    followers: dict[str, list[str]] = {}
    for name, after in inserted:
        followers.setdefault(after, []).append(name)

    def follow(name: str) -> Iterator[str]:
        yield name
        for follower in followers.pop(name, ()):
            yield from follow(follower)

    known = [each for name in names for each in follow(name)]
    return [*known, *(each for name in [*followers] for each in follow(name) if each != name)]


@record
class ExtraTrials:
    """What a feature measures besides the plan. Each function gets the settings.

    Attributes:
        note: what an estimate of the costs says of it; empty for nothing.
        most: how many trials it adds at most, as a multiple of those of one round.
        needs_base: whether a shard compares with the baseline for it.
    """

    note: Callable[[Any], str] = lambda _: ""
    most: Callable[[Any], float] = lambda _: 0.0
    needs_base: Callable[[Any], bool] = lambda _: False


_NO_TRIALS = ExtraTrials()


@record
class RunFacts:
    """What is known of a run when the steps of features are loaded. What isn't known yet turns no feature on.

    Attributes:
        settings: the settings of the project.
        root: the folder of the project.
        environ: the host's environment.
        in_job: whether it is a job of GitHub.
        sources: the files and commands whose suites run.
        runs: the run, and what it is compared with.
        policy: the policy that judges it, if that isn't the settings' own.
        slots: what was asked of features, and what they have found.
        merges_shards: whether the run was merged from shards.
    """

    settings: Any
    root: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    in_job: bool = False
    sources: Sequence[Any] = ()
    runs: tuple[Run, ...] = ()
    policy: Policy | None = None
    slots: Slots = NO_SLOTS
    merges_shards: bool = False

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies whose limits may count."""
        own: Policy = self.settings.policy()
        return (own,) if self.policy is None else (own, self.policy)

    def has_slot(self, *names: str) -> bool:
        """Whether a slot of these names has a value, also a damaged one."""
        return any(name in slots for slots in (self.slots, *(run.slots for run in self.runs)) for name in names)


@record
class Feature:
    """A feature: its folder, and what the kernel must know before it imports more of it.

    Attributes:
        name: the name of its folder. If it takes part in runs, its hooks are in its module `step`.
        rules: its rules of the gate.
        limits: its limits.
        settings: its other settings.
        trials: what it measures besides the plan.
        hides_keys: whether suites get no keys of models by these settings.
        replays_calls: whether recorded calls answer those of models by these settings.
        in_runs: whether it takes part in runs; otherwise only commands use it.
        is_on: whether a run may need its step, by what is known so far. If it is off, nothing else of it is imported.
    """

    name: str
    rules: tuple[Rule, ...] = ()
    limits: tuple[Limit[Any], ...] = ()
    settings: tuple[Setting[Any], ...] = ()
    trials: ExtraTrials = _NO_TRIALS
    hides_keys: Callable[[Any], bool] = lambda _: False
    replays_calls: Callable[[Any], bool] = lambda _: False
    in_runs: bool = True
    is_on: Callable[[RunFacts], bool] = lambda _: True
