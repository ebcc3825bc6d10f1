"""The settings themselves: one frozen object, with the place that each value came from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from scoregate.ci.settings.cache import Cache, cache_at
from scoregate.ci.settings.commands import Commands
from scoregate.ci.settings.configs import OfflineConfigs
from scoregate.ci.settings.fields import (
    BaselineKind,
    Comment,
    CommentMode,
    Confirm,
    Count,
    EvaluatorSettings,
    Factor,
    LimitFields,
    Most,
    Origins,
    PolicySource,
    PriceSettings,
    Rate,
    Repeats,
    Seconds,
    ShowOutputs,
    SuiteSettings,
    Text,
    Texts,
    baseline_kind,
)
from scoregate.ci.settings.file import OWN_FILE, SHARED_FILE
from scoregate.ci.settings.layers import COMMAND_LINE, OF_THE_BASE
from scoregate.core.criteria import Criteria, EvaluatorCriteria
from scoregate.core.policy import DEFAULTS, Limits, Policy

_PROVENANCE = ("origins", "notices", "file_values", "proposed", "policy_problem")
Kind: TypeAlias = Literal["paths", "commands", "configs"]


class Settings(LimitFields, BaseSettings):
    """Everything that can be set. Paths are relative to the root; rates and scores are in [0, 1].

    `working_directory` names the root itself, so that no file in it can.
    `config` names test configs that are run by themselves, `configs` tells how.
    `timeout` is in seconds, for each suite process. `install` is `auto`, `uv-sync`, `requirements`, `none` or a
    command. `origins` tells by path of keys where a value was set, and
    `notices` what was found meanwhile, such as a misspelled environment variable. `file_values` are those that the
    project's file sets, as they are there. Where the base's settings judge a change, `proposed` are the change's own;
    `policy_problem` says why the base's could not be had.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    working_directory: Text | None = None
    paths: Texts = ()
    suite: Texts = ()
    config: Texts = ()
    baseline: Text = "auto"
    base_branch: Text | None = None
    out: Text = "scoregate-out"
    keep_runs: Most = 5
    max_suites: Count = Field(default_factory=lambda: os.cpu_count() or 1)
    max_cases: Count | None = None
    repeats: Repeats | None = None
    repeats_budget: Factor = 1.0
    timeout: Seconds = 3600.0
    message: Text | None = None
    python: Text | None = None
    python_version: Text | None = None
    install: Text = "auto"
    commands: Commands = ()
    configs: OfflineConfigs = ()
    min_pass_rate: Rate = 1.0
    max_error_rate: Rate = 0.05
    require_baseline: bool = False
    comment: Comment = CommentMode.ALWAYS
    show_outputs: ShowOutputs = ShowOutputs.FULL
    annotations: bool = True
    check_run: bool = False
    key: Text | None = None
    github_token: SecretStr | None = None
    confirm: Confirm | None = None
    policy_from: PolicySource = PolicySource.HEAD
    alpha: Annotated[Rate, Field(gt=0, lt=1)] = 0.05
    min_effect: Rate = 0.01
    min_ratio: Factor = 0.05
    margin: Rate = 0.02
    model: Text | None = None
    model_base_url: Text | None = None
    model_headers: Mapping[str, Text] = Field(default_factory=dict)
    cache: Cache = "on"
    prices: Mapping[str, PriceSettings] = Field(default_factory=dict)
    min_agreement: Rate | None = None
    min_overrides: Count = 10
    evaluators: Mapping[str, EvaluatorSettings] = Field(default_factory=dict)
    suites: Mapping[str, SuiteSettings] = Field(default_factory=dict)
    origins: Origins = Field(default_factory=dict, repr=False)
    notices: tuple[str, ...] = Field(default=(), repr=False)
    file_values: Mapping[str, Any] = Field(default_factory=dict, repr=False)
    proposed: Settings | None = Field(default=None, repr=False)
    policy_problem: str = Field(default="", repr=False)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        *_others: PydanticBaseSettingsSource,
        **_named: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is passed in: the environment is read by a layer that can say which variable a value came from."""
        return (init_settings,)

    def origin(self, *path: str) -> str:
        """Where a value was set, such as `pyproject.toml` or `--repeats`; `default` where nobody set it."""
        return self.origins.get(path, "default")

    def is_of_file(self, name: str) -> bool:
        """Whether a file sets it, the project's or the base's."""
        return self.origin(name).removesuffix(OF_THE_BASE) in (OWN_FILE, SHARED_FILE)

    @property
    def filters(self) -> tuple[str, ...]:
        """Globs of which a suite's id must match one to be of this run; none where all are."""
        return (*self.suite, *map(escape, self.config))

    @property
    def file_filters(self) -> tuple[str, ...]:
        """Those that a file sets, and neither a flag, an input nor a variable."""
        suites = self.suite if self.is_of_file("suite") else ()
        return (*suites, *map(escape, self.config if self.is_of_file("config") else ()))

    @property
    def narrowed(self) -> bool:
        """Whether what is to run was named for this one run, rather than by the project's file."""
        named = ("paths", "commands", "config")
        return any(getattr(self, name) and not self.is_of_file(name) for name in named)

    def passed_over(self, kind: Kind) -> str:
        """Why suites of this kind are left out, where others were named for this one run; else empty."""
        named: Mapping[Kind, bool] = {
            "paths": self.origin("paths") == COMMAND_LINE,
            "commands": self.origin("commands") == COMMAND_LINE,
            "configs": bool(self.config),
        }
        if named[kind] or not any(named.values()):
            return ""
        return f"the {next(each for each in named if named[each])} to run were named"

    @property
    def baseline_kind(self) -> BaselineKind:
        """What `baseline` names."""
        return baseline_kind(self.baseline)

    @property
    def confirmed_cases(self) -> Confirm:
        """Which newly failing cases are run again: by default the critical ones, where they fail a gate."""
        if self.confirm is not None:
            return self.confirm
        critical = self.fail_on_critical or any(suite.fail_on_critical for suite in self.suites.values())
        return Confirm.CRITICAL if critical else Confirm.OFF

    @property
    def rerun_ref(self) -> str | None:
        """The commit named by `rerun:REF`; None where it is to be found."""
        return self.baseline.partition(":")[2] or None

    def policy(self) -> Policy:
        """The limits, each with where it was set."""
        default = DEFAULTS.over(self._limits(self))
        narrow = {glob: self._limits(suite, "suites", glob) for glob, suite in self.suites.items()}
        return Policy(
            default,
            narrow,
            self.require_baseline,
            self.criteria(),
            of_base=self.policy_from is PolicySource.BASE,
            min_overrides=self.min_overrides,
        )

    def _limits(self, table: LimitFields, *above: str) -> Limits:
        values = {name: getattr(table, name) for name in LimitFields.model_fields}
        places = {keys: place for keys, place in self.origins.items() if keys[: len(above)] == above}
        origin = {".".join(keys[len(above) :]): place for keys, place in places.items() if keys[len(above)] in values}
        return Limits(**values, origin=origin)

    def criteria(self) -> Criteria:
        """By what measure differences count."""
        narrow = {glob: EvaluatorCriteria(**own.model_dump()) for glob, own in self.evaluators.items()}
        return Criteria(
            self.alpha,
            self.min_effect,
            self.margin,
            self.min_ratio,
            max_dropped=self.max_error_rate,
            evaluators=narrow,
        )

    def environment(self, suite_ids: tuple[str, ...] | None = None, *, root: Path | None = None) -> dict[str, str]:
        """The variables that tell a suite's process what to run, and which models it may use.

        Args:
            suite_ids: those in it, None where unknown. root: what the cache's folder is relative to, wherever it runs.
        """
        repeats = self._repeats(suite_ids or ())
        wanted = {
            "SCOREGATE_FILTERS_TEST_SUITES": json.dumps(self.suite) if self.suite else None,
            "SCOREGATE_MAX_CASES": self.max_cases,
            "SCOREGATE_REPEATS": repeats,
            "SCOREGATE_TEST_RUN_MESSAGE": self.message,
            "SCOREGATE_MODEL": self.model,
            "SCOREGATE_MODEL_BASE_URL": self.model_base_url,
            "SCOREGATE_MODEL_HEADERS": json.dumps(dict(self.model_headers)) if self.model_headers else None,
            "SCOREGATE_CACHE": None if root is None else cache_at(root, self.cache),
            "SCOREGATE_PRICES": self._prices(),
            "SCOREGATE_MAX_COST": self.max_cost,
            "SCOREGATE_MAX_TOKENS": self.max_tokens,
        }
        return {name: str(value) for name, value in wanted.items() if value is not None}

    def _prices(self) -> str | None:
        prices = {glob: price.model_dump(exclude_none=True) for glob, price in self.prices.items()}
        return json.dumps(prices) if prices else None

    def _repeats(self, suite_ids: tuple[str, ...]) -> int | None:
        overall = None if self.repeats == "auto" else self.repeats
        narrow = {glob: suite.repeats for glob, suite in self.suites.items() if suite.repeats is not None}
        found = [
            next((narrow[glob] for glob in reversed(narrow) if fnmatchcase(suite, glob)), overall)
            for suite in suite_ids
        ]
        return max((count for count in found if count is not None), default=overall)


def setting_names() -> tuple[str, ...]:
    """The names of all that can be set."""
    return tuple(name for name in Settings.model_fields if name not in _PROVENANCE)
