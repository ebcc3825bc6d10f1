"""The settings themselves: one frozen object, with the place that each value came from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, SecretStr

from scoregate.kernel.judge.settings.agent_fields import AgentSettings, ArmsSettings
from scoregate.kernel.judge.settings.command_fields import Commands
from scoregate.kernel.judge.settings.config_fields import OfflineConfigs
from scoregate.kernel.judge.settings.evaluator_fields import EvaluatorSettings
from scoregate.kernel.judge.settings.fields import (
    ApprovedText,
    BaselineKind,
    BaseRuns,
    Cache,
    Comment,
    CommentMode,
    Count,
    Factor,
    GroupNames,
    NonNegativeInt,
    Origins,
    PolicySource,
    PriceSettings,
    Rate,
    Repeats,
    Seconds,
    ShowOutputs,
    Text,
    Texts,
    absolute_cache,
    parse_baseline_kind,
)
from scoregate.kernel.judge.settings.gateway_fields import GatewaySettings
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS, FeatureSettings, LimitFields, SuiteSettings
from scoregate.kernel.judge.settings.sources import COMMAND_LINE, OF_BASE, OWN_FILE, SHARED_FILE
from scoregate.kernel.types.declarations.declaration import insert_names
from scoregate.kernel.types.runs.policy import DEFAULTS, Criteria, Limits, Policy, gather_limits
from scoregate.kernel.types.selection.partial import WHOLE, CaseSelection

_PROVENANCE = ("origins", "notices", "file_values", "proposed", "policy_problem", "selection")
SuiteKind: TypeAlias = Literal["paths", "commands", "configs"]


class Settings(FeatureSettings, LimitFields):
    """Everything that can be set. Paths are relative to the root; rates and scores are in [0, 1].

    `working_directory` is the root itself, so a file in it can't set it.
    `config` names test configs that are run as suites, `configs` sets how.
    `timeout` is in seconds, for each suite process. `install` is `auto`, a keyword or a command. `origins` has the
    place of each value by path of keys, and `notices` are warnings, such as a misspelled environment variable.
    `file_values` are the values in the project's file. If the base's settings judge a change, `proposed` are the
    change's own; `policy_problem` is the reason why the base's settings are missing. `selection` is what the command
    line selects of the cases; no other place can set it.
    """

    # Some versions warn about fields that are named `model_…`.
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, protected_namespaces=())

    affected: bool = False
    """On a pull request, run only suites that the change can affect. The others keep the results of the base's run,
    which recorded what they depend on because it has this setting too. In doubt a suite runs.
    """
    affected_push: bool = False
    """With `affected`, a push to the base branch also runs only suites that changed since its last complete run."""
    approved: ApprovedText | None = None
    """The pull request and the commit that `scoregate answer` approved, as `NUMBER@SHA`. The run measures exactly this
    commit, as the pull request's newest one. A settings file can't set it.
    """
    base_runs: BaseRuns = 5
    """How many of the newest runs of the base branch a score is compared with. Runs of other commits count if the
    records of `affected` prove that nothing which the suite depends on changed. 1: only runs of the base's commit.
    """
    working_directory: Text | None = None
    """The project's folder, if it isn't the whole repository. Its settings, suites and paths are relative to it. A
    settings file can't set it.
    """
    paths: Texts = ()
    """Files and folders in which suites are found. Without it: all folders `evals/`, and `eval_*.py`, `*_eval.py`,
    `*.eval.py` and `*.testset.toml`, anywhere that git doesn't ignore.
    """
    suite: Texts = ()
    """Globs of suite ids. Only suites that match one of them run."""
    config: Texts = ()
    """Names of test configs in `.scoregate/`. Only these run."""
    baseline: Text = "auto"
    """What the run is compared with. `auto`: the artifact of a job of the base branch, else the data branch; nothing
    runs for it. On a developer's machine, `auto` is `previous`: the previous complete run in `out`, which
    `scoregate run` left. `artifact` or `branch`: only that one. `history`: a run that a push to the base branch wrote
    to the history of `SCOREGATE_HISTORY`. `rerun` or `rerun:REF`: the same suites run at another commit. `none`:
    nothing. Anything else is the folder of a run.
    """
    base_branch: Text | None = None
    """The branch that changes are merged into. Without it: the pull request's target, else the default branch."""
    out: Text = "scoregate-out"
    """The folder for the run and its reports. No other program may write there."""
    keep_runs: NonNegativeInt = 5
    """How many earlier runs stay in `earlier/` inside `out` when a newer run replaces them. CI jobs keep none."""
    max_suites: Count = Field(default_factory=lambda: os.cpu_count() or 1)
    """How many scripts run at a time."""
    max_cases: Count | None = None
    """Run only the first N cases of each suite."""
    repeats: Repeats | None = None
    """Run every case N times. `auto` repeats only the cases that differ from the baseline, and needs `baseline =
    "rerun"`.
    """
    timeout: Seconds = 3600.0
    """Seconds that one script may run."""
    message: Text | None = None
    """The title of the run in all reports."""
    env_file: Text | None = None
    """A file with variables for the suites, such as `.env`. Variables that are set already win. Without this setting,
    no such file is read. If a settings file names it, it may be missing, as in CI.
    """
    python: Text | None = None
    """The Python interpreter that runs suites. Without it: the active virtual environment, `.venv`, `uv run`, Poetry's
    environment, or the interpreter of scoregate, whichever is found first.
    """
    python_version: Text | None = None
    """The Python version of the environment that `install` creates. Without it: the version that the project
    asks for.
    """
    install: Text = "auto"
    """How the environment of the suites is created: `uv-sync`, `poetry`, `pdm`, `pipenv`, `requirements`, `project`,
    `node`, `none`, or a shell command. `auto` creates one only in the action, from the first of these files: `uv.lock`
    (also of a workspace), `poetry.lock`, `pdm.lock`, `pylock.toml`, `Pipfile.lock`, `requirements.txt`,
    `pyproject.toml`, `setup.py`. Commands that need Node.js get it there, too, with the packages of `package.json`.
    `node` provides only these.
    """
    install_groups: GroupNames = ()
    """Dependency groups and extras that `install` adds, by name."""
    commands: Commands = ()
    """Suites that are commands, in any language: tables `[[commands]]`."""
    configs: OfflineConfigs = ()
    """Test configs that run as suites: tables `[[configs]]`."""
    agent: AgentSettings | None = None
    """The agent that skills are measured with: a table `[agent]`. With it, each folder with `SKILL.md` and
    `evals/evals.json` or `eval.yaml` is a suite.
    """
    arms: ArmsSettings | None = None
    """Other files for agents, such as `AGENTS.md`, that are measured with and without: a table `[arms]`."""
    min_pass_rate: Rate = 1.0
    """Fail if a smaller share of the cases with a threshold passes."""
    max_error_rate: Rate = 0.05
    """The run is unmeasurable if a larger share of a suite's cases has errors."""
    require_baseline: bool = False
    """The run is unmeasurable if there is no baseline to compare it with."""
    comment: Comment = CommentMode.ALWAYS
    """When to comment on a pull request: always, on changes (a score is better, worse, new or removed, or a gate
    failed), on failures, or never.
    """
    show_outputs: ShowOutputs = ShowOutputs.FULL
    """`none` keeps outputs of models out of reports and stored runs; only scores are kept."""
    annotations: bool = True
    """Show failures as annotations at the lines of their suites."""
    check_run: bool = False
    """Add a check run of its own to the head commit. It needs the permission `checks: write`."""
    key: Text | None = None
    """Identifies one of several uses in a repository, such as a leg of a matrix. Without it: workflow and job."""
    github_token: SecretStr | None = None
    """The token that reads baselines and writes comments. Suites never get it. A settings file can't set it."""
    policy_from: PolicySource = PolicySource.HEAD
    """`base` takes limits from the settings of the base commit, so that a change can't loosen its own gate."""
    alpha: Annotated[Rate, Field(gt=0, lt=1)] = 0.05
    """The significance level of *better* and *worse*, over all rows of the run."""
    min_effect: Rate = 0.01
    """The smallest change of a mean score that can be *better* or *worse*."""
    min_ratio: Factor = 0.05
    """The smallest relative change of latency, cost and tokens that is shown as a change."""
    margin: Rate = 0.02
    """Changes that are certainly smaller than this are *equivalent*."""
    model: Text | None = None
    """The model of judges, synthesizers and everything else that asks one: a name of OpenAI's, or `provider/name`
    (`azure`, `ollama`, `vllm`, `openrouter`, `anthropic`, `gemini`, …). A class that sets a model itself keeps it.
    """
    model_base_url: Text | None = None
    """The address of the model's API. Without it: the provider's. The key comes from the provider's variable, such as
    `OPENAI_API_KEY`, or from `SCOREGATE_MODEL_API_KEY`.
    """
    model_headers: Mapping[str, Text] = Field(default_factory=dict)
    """HTTP headers that are sent with every request to a model."""
    cache: Cache = "on"
    """The cache of model answers: a folder, or a mode with an optional folder (`MODE:FOLDER`). `on` uses
    `.scoregate-cache`. `off` asks again. `readonly` replays answers without a key. `refresh` asks again and stores.
    """
    prices: Mapping[str, PriceSettings] = Field(default_factory=dict)
    """Prices of models, by globs of their names: tables `[prices."GLOB"]`. Without it: those of the package
    genai-prices.
    """
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)  # one made here would build its validator
    """The gateway between suites and the providers of models: `off`, `on`, `record` or `replay`, or a table
    `[gateway]`. Suites get a token of the run instead of the keys; calls in any language are limited, counted and
    priced.
    """
    min_agreement: Rate | None = None
    """`scoregate agreement` fails if a judge's balanced accuracy against people's reviews is lower, or the share of
    failures that it finds.
    """
    min_overrides: Count = 10
    """How many reviews it takes before `min_agreement` and `min_judge_agreement` apply. A judge is checked again each
    time their number has doubled.
    """
    evaluators: Mapping[str, EvaluatorSettings] = Field(default_factory=dict)
    """How scores of some evaluators are read and compared, by globs of their names: tables `[evaluators."GLOB"]`."""
    suites: Mapping[str, SuiteSettings] = Field(default_factory=dict)
    """Gates for some suites, by globs of their ids: tables `[suites."GLOB"]`. Later tables win."""
    origins: Origins = Field(default_factory=dict, repr=False)
    notices: tuple[str, ...] = Field(default=(), repr=False)
    file_values: Mapping[str, Any] = Field(default_factory=dict, repr=False)
    proposed: Settings | None = Field(default=None, repr=False)
    policy_problem: str = Field(default="", repr=False)
    selection: CaseSelection = Field(default=WHOLE, repr=False)

    def origin(self, *path: str) -> str:
        """Where a value was set, such as `pyproject.toml` or `--repeats`; `default` if it is not set."""
        return self.origins.get(path, "default")

    def is_from_file(self, name: str) -> bool:
        """Whether a file sets it, the project's or the base's."""
        return self.origin(name).removesuffix(OF_BASE) in (OWN_FILE, SHARED_FILE)

    def is_from_change(self, *path: str) -> bool:
        """Whether a file of the measured change sets it, and neither the base's file nor the workflow."""
        origin = self.origin(*path)
        return origin.startswith((OWN_FILE, SHARED_FILE)) and not origin.endswith(OF_BASE)

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
        variables = {
            "SCOREGATE_FILTERS_TEST_SUITES": json.dumps(self.suite) if self.suite else None,
            "SCOREGATE_MAX_CASES": self.max_cases,
            "SCOREGATE_REPEATS": repeats,
            "SCOREGATE_TEST_RUN_MESSAGE": self.message,
            "SCOREGATE_MODEL": self.model,
            "SCOREGATE_MODEL_BASE_URL": self.model_base_url,
            "SCOREGATE_MODEL_HEADERS": json.dumps(dict(self.model_headers)) if self.model_headers else None,
            "SCOREGATE_CACHE": None if root is None else absolute_cache(root, self.cache),
            "SCOREGATE_PRICES": self._prices(),
            "SCOREGATE_MAX_COST": self.max_cost,
            "SCOREGATE_MAX_TOKENS": self.max_tokens,
        }
        return {name: str(value) for name, value in variables.items() if value is not None}

    def _prices(self) -> str | None:
        prices = {glob: price.model_dump(exclude_none=True) for glob, price in self.prices.items()}
        return json.dumps(prices) if prices else None

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
    names = [name for name in Settings.model_fields if name not in (*_PROVENANCE, *inserted)]
    return tuple(insert_names(names, inserted.items()))
