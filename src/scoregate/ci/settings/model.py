"""The settings themselves: one frozen object, with the place that each value came from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase

from pydantic import Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from scoregate.ci.settings.fields import (
    BaselineKind,
    Commands,
    Count,
    Origins,
    Rate,
    Scores,
    Seconds,
    SuiteSettings,
    Text,
    Texts,
)
from scoregate.ci.settings.layers import COMMAND_LINE
from scoregate.core.policy import Limits, Policy

_PROVENANCE = ("origins", "notices")


class Settings(BaseSettings):
    """Everything that can be set. Paths are relative to the root; rates and scores are in [0, 1].

    `timeout` is in seconds, for each suite process. `origins` tells by path of keys where a value was set, and
    `notices` what was found beside the way, such as a misspelt environment variable.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    paths: Texts = ()
    suite: Texts = ()
    baseline: Text = "none"
    base_branch: Text | None = None
    out: Text = "scoregate-out"
    max_suites: Count = Field(default_factory=lambda: os.cpu_count() or 1)
    max_cases: Count | None = None
    repeats: Count | None = None
    timeout: Seconds = 3600.0
    message: Text | None = None
    python: Text | None = None
    commands: Commands = ()
    min_pass_rate: Rate = 1.0
    min_score: Scores = Field(default_factory=dict)
    max_error_rate: Rate = 0.05
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
        head = self.baseline.partition(":")[0]
        return BaselineKind(head) if head in ("none", "rerun") else BaselineKind.FILE

    @property
    def rerun_ref(self) -> str | None:
        """The commit named by `rerun:REF`; None where it is to be found."""
        return self.baseline.partition(":")[2] or None

    def policy(self) -> Policy:
        """The limits, each with where it was set."""
        default = Limits(self.min_pass_rate, self.max_error_rate, self.min_score, origin=self._limit_origins())
        narrow = {
            glob: Limits(suite.min_pass_rate, suite.max_error_rate, suite.min_score, origin=self._limit_origins(glob))
            for glob, suite in self.suites.items()
        }
        return Policy(default, narrow)

    def _limit_origins(self, glob: str | None = None) -> dict[str, str]:
        above = () if glob is None else ("suites", glob)
        table: Settings | SuiteSettings = self if glob is None else self.suites[glob]
        rates = (name for name in ("min_pass_rate", "max_error_rate") if getattr(table, name) is not None)
        found = {name: self.origin(*above, name) for name in rates}
        return found | {f"min_score.{name}": self.origin(*above, "min_score", name) for name in table.min_score}

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
        narrow = {glob: suite.repeats for glob, suite in self.suites.items() if suite.repeats is not None}
        found = [
            next((narrow[glob] for glob in reversed(narrow) if fnmatchcase(suite, glob)), self.repeats)
            for suite in suite_ids
        ]
        return max((count for count in found if count is not None), default=self.repeats)


def setting_names() -> tuple[str, ...]:
    """The names of all that can be set."""
    return tuple(name for name in Settings.model_fields if name not in _PROVENANCE)
