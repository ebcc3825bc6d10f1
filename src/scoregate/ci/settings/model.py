"""The settings themselves: one frozen object, with the place that each value came from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from scoregate.ci.settings.fields import (
    BaselineKind,
    Commands,
    CommentMode,
    Confirm,
    Count,
    EvaluatorSettings,
    Factor,
    LimitFields,
    Origins,
    PolicySource,
    Rate,
    Repeats,
    Seconds,
    ShowOutputs,
    SuiteSettings,
    Text,
    Texts,
    baseline_kind,
)
from scoregate.ci.settings.layers import COMMAND_LINE
from scoregate.core.criteria import Criteria, EvaluatorCriteria
from scoregate.core.policy import DEFAULTS, Limits, Policy

_PROVENANCE = ("origins", "notices")


class Settings(LimitFields, BaseSettings):
    """Everything that can be set. Paths are relative to the root; rates and scores are in [0, 1].

    `timeout` is in seconds, for each suite process. `origins` tells by path of keys where a value was set, and
    `notices` what was found beside the way, such as a misspelt environment variable.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    paths: Texts = ()
    suite: Texts = ()
    baseline: Text = "auto"
    base_branch: Text | None = None
    out: Text = "scoregate-out"
    max_suites: Count = Field(default_factory=lambda: os.cpu_count() or 1)
    max_cases: Count | None = None
    repeats: Repeats | None = None
    repeats_budget: Factor = 1.0
    timeout: Seconds = 3600.0
    message: Text | None = None
    python: Text | None = None
    commands: Commands = ()
    min_pass_rate: Rate = 1.0
    max_error_rate: Rate = 0.05
    require_baseline: bool = False
    comment: CommentMode = CommentMode.ALWAYS
    show_outputs: ShowOutputs = ShowOutputs.FULL
    annotations: bool = True
    check_run: bool = False
    key: Text | None = None
    github_token: SecretStr | None = None
    confirm: Confirm = Confirm.OFF
    policy_from: PolicySource = PolicySource.HEAD
    alpha: Annotated[Rate, Field(gt=0, lt=1)] = 0.05
    min_effect: Rate = 0.01
    min_ratio: Factor = 0.05
    margin: Rate = 0.02
    min_agreement: Rate | None = None
    min_overrides: Count = 10
    evaluators: Mapping[str, EvaluatorSettings] = Field(default_factory=dict)
    suites: Mapping[str, SuiteSettings] = Field(default_factory=dict)
    origins: Origins = Field(default_factory=dict, repr=False)
    notices: tuple[str, ...] = Field(default=(), repr=False)

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

    @property
    def paths_named(self) -> bool:
        """Whether the paths were given for this one run, so that nothing else is wanted."""
        return self.origin("paths") == COMMAND_LINE

    @property
    def baseline_kind(self) -> BaselineKind:
        """What `baseline` names."""
        return baseline_kind(self.baseline)

    @property
    def rerun_ref(self) -> str | None:
        """The commit named by `rerun:REF`; None where it is to be found."""
        return self.baseline.partition(":")[2] or None

    def policy(self) -> Policy:
        """The limits, each with where it was set."""
        default = DEFAULTS.over(self._limits(self))
        narrow = {glob: self._limits(suite, "suites", glob) for glob, suite in self.suites.items()}
        return Policy(default, narrow, self.require_baseline, self.alpha)

    def _limits(self, table: LimitFields, *above: str) -> Limits:
        values = {name: getattr(table, name) for name in LimitFields.model_fields}
        places = {keys: place for keys, place in self.origins.items() if keys[: len(above)] == above}
        origin = {".".join(keys[len(above) :]): place for keys, place in places.items() if keys[len(above)] in values}
        return Limits(**values, origin=origin)

    def criteria(self) -> Criteria:
        """By what measure differences count."""
        narrow = {glob: EvaluatorCriteria(**own.model_dump()) for glob, own in self.evaluators.items()}
        return Criteria(self.alpha, self.min_effect, self.margin, self.min_ratio, evaluators=narrow)

    def environment(self, suite_ids: tuple[str, ...] | None = None) -> dict[str, str]:
        """The variables that tell a suite's process what to run. `suite_ids` are those in it, None where unknown."""
        repeats = self._repeats(suite_ids or ())
        wanted = {
            "SCOREGATE_FILTERS_TEST_SUITES": json.dumps(self.suite) if self.suite else None,
            "SCOREGATE_MAX_CASES": self.max_cases,
            "SCOREGATE_REPEATS": repeats,
            "SCOREGATE_TEST_RUN_MESSAGE": self.message,
        }
        return {name: str(value) for name, value in wanted.items() if value is not None}

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
