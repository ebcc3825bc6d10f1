"""The settings of a run: one frozen object, with the place that each value came from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field

from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS, LimitFields
from scoregate.kernel.judge.settings.setting_fields import SettingFields
from scoregate.kernel.judge.settings.sources import COMMAND_LINE, OF_BASE, OWN_FILE, SHARED_FILE
from scoregate.kernel.types.declarations.declaration import insert_names
from scoregate.kernel.types.declarations.fields import (
    BaselineKind,
    Origins,
    PolicySource,
    absolute_cache,
    parse_baseline_kind,
)
from scoregate.kernel.types.runs.policy import DEFAULTS, OF_SET, Criteria, Limits, Policy, gather_limits
from scoregate.kernel.types.selection import WHOLE, CaseSelection

SuiteKind: TypeAlias = Literal["paths", "commands", "configs"]


class Settings(SettingFields):
    """The settings of a run, with the place that each value came from.

    `origins` has these places by paths of keys, and `notices` are warnings, such as a misspelled environment variable.
    `file_values` are the values in the project's file. If the base's settings judge a change, `proposed` are the
    change's own; `policy_problem` is the reason why the base's settings are missing. `selection` is what the command
    line selects of the cases; no other place can set it.
    """

    origins: Origins = Field(default_factory=dict)
    notices: tuple[str, ...] = ()
    file_values: Mapping[str, Any] = Field(default_factory=dict)
    proposed: Settings | None = None
    policy_problem: str = ""
    selection: CaseSelection = WHOLE

    def origin(self, *path: str) -> str:
        """Where a value was set, such as `pyproject.toml` or `--repeats`; `default` if it is not set."""
        return self.origins.get(path, "default")

    def is_from_file(self, name: str) -> bool:
        """Whether a file sets it, the project's or the base's."""
        return self.origin(name).removesuffix(OF_SET).removesuffix(OF_BASE) in (OWN_FILE, SHARED_FILE)

    def is_from_change(self, *path: str) -> bool:
        """Whether a file of the measured change sets it, and neither the base's file nor the workflow."""
        origin = self.origin(*path)
        return origin.startswith((OWN_FILE, SHARED_FILE)) and not origin.removesuffix(OF_SET).endswith(OF_BASE)

    def is_for_run(self, name: str) -> bool:
        """Whether a flag, an input or a variable sets it, for this one run."""
        return self.origin(name) != "default" and not self.is_from_file(name)

    @property
    def filters(self) -> tuple[str, ...]:
        """Globs; a suite's id must match one of them to be in this run. Without any, all are."""
        return (*self.suite, *map(escape, self.config))

    @property
    def file_filters(self) -> tuple[str, ...]:
        """The filters that a file sets, and neither a flag, an input nor a variable."""
        suites = self.suite if self.is_from_file("suite") else ()
        return (*suites, *map(escape, self.config if self.is_from_file("config") else ()))

    @property
    def narrowed(self) -> bool:
        """Whether what to run was named for this one run, and not in the project's file."""
        return any(getattr(self, name) and not self.is_from_file(name) for name in ("paths", "commands", "config"))

    def skip_reason(self, kind: SuiteKind) -> str:
        """Why suites of this kind are skipped, if others were named for this one run; else empty."""
        is_named: Mapping[SuiteKind, bool] = {
            "paths": self.origin("paths") == COMMAND_LINE,
            "commands": self.origin("commands") == COMMAND_LINE,
            "configs": bool(self.config),
        }
        if is_named[kind] or not any(is_named.values()):
            return ""
        return f"the {next(each for each in is_named if is_named[each])} to run were named"

    @property
    def baseline_kind(self) -> BaselineKind:
        """What `baseline` names."""
        return parse_baseline_kind(self.baseline)

    @property
    def rerun_ref(self) -> str | None:
        """The commit named by `rerun:REF`; None if the setting names none."""
        return self.baseline.partition(":")[2] or None

    def policy(self) -> Policy:
        """The limits, each with where it was set."""
        default = DEFAULTS.merge(self._limits(self))
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
        return Limits(**gather_limits(values), origin=origin)

    def criteria(self) -> Criteria:
        """The criteria by which differences count."""
        narrow = {glob: own.criteria() for glob, own in self.evaluators.items()}
        return Criteria(
            self.alpha,
            self.min_effect,
            self.margin,
            self.min_ratio,
            max_dropped=self.max_error_rate,
            evaluators=narrow,
        )

    def environment(self, suite_ids: tuple[str, ...] | None = None, *, root: Path | None = None) -> dict[str, str]:
        """The variables that set what a suite's process runs, and which models it may use.

        Args:
            suite_ids: the ids in it; None if unknown.
            root: the cache's folder is relative to it.
        """
        repeats = self._repeats(suite_ids or ())
        prices = {glob: price.model_dump(exclude_none=True) for glob, price in self.prices.items()}
        variables = {
            "SCOREGATE_FILTERS_TEST_SUITES": json.dumps(self.suite) if self.suite else None,
            "SCOREGATE_MAX_CASES": self.max_cases,
            "SCOREGATE_REPEATS": repeats,
            "SCOREGATE_TEST_RUN_MESSAGE": self.message,
            "SCOREGATE_MODEL": self.model,
            "SCOREGATE_MODEL_BASE_URL": self.model_base_url,
            "SCOREGATE_MODEL_HEADERS": json.dumps(dict(self.model_headers)) if self.model_headers else None,
            "SCOREGATE_CACHE": None if root is None else absolute_cache(root, self.cache),
            "SCOREGATE_PRICES": json.dumps(prices) if prices else None,
            "SCOREGATE_MAX_COST": self.max_cost,
            "SCOREGATE_MAX_TOKENS": self.max_tokens,
        }
        return {name: str(value) for name, value in variables.items() if value is not None}

    def _repeats(self, suite_ids: tuple[str, ...]) -> int | None:
        overall = None if self.repeats == "auto" else self.repeats
        narrow = {glob: suite.repeats for glob, suite in self.suites.items() if suite.repeats is not None}
        counts = [
            next((narrow[glob] for glob in reversed(narrow) if fnmatchcase(suite, glob)), overall)
            for suite in suite_ids
        ]
        return max((count for count in counts if count is not None), default=overall)


def setting_names() -> tuple[str, ...]:
    """The names of all that can be set, in the order of lists."""
    inserted = {each.name: each.after for each in FEATURE_SETTINGS if each.after}
    names = [name for name in SettingFields.model_fields if name not in inserted]
    return tuple(insert_names(names, inserted.items()))
