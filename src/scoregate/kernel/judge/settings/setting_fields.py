"""Everything that can be set, besides what features declare: the names, types, defaults and descriptions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated

from pydantic import ConfigDict, Field, SecretStr

from scoregate.kernel.judge.settings.limit_fields import FeatureSettings, LimitFields, SuiteSettings
from scoregate.kernel.judge.settings.tables import (
    AgentSettings,
    ArmsSettings,
    Commands,
    EvaluatorSettings,
    OfflineConfigs,
)
from scoregate.kernel.types.declarations.fields import (
    ApprovedText,
    BaseRuns,
    Cache,
    Comment,
    CommentMode,
    Count,
    Factor,
    GateSet,
    NonNegativeInt,
    PolicySource,
    PriceSettings,
    Rate,
    Repeats,
    Seconds,
    ShowOutputs,
    Text,
    Texts,
)


class SettingFields(FeatureSettings, LimitFields):
    """Everything that can be set. Paths are relative to the root; rates and scores are in [0, 1].

    `working_directory` is the root itself, so a file in it can't set it.
    `config` names test configs that are run as suites, `configs` sets how.
    `timeout` is in seconds, for each suite process.
    """

    # Some versions warn about fields that are named `model_…`.
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, protected_namespaces=())

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
    runs for it. On a developer's machine, `auto` is `previous`: the newest complete run in `out` that passed its
    gates on changes. `artifact` or `branch`: only that one. `history`: a run that a push to the base branch wrote
    to the history of `SCOREGATE_HISTORY`. `rerun` or `rerun:REF`: the same suites run at another commit. `none`:
    nothing. Anything else is the folder of a run.
    """
    base_branch: Text | None = None
    """The branch that changes are merged into. Without it: the pull request's target, else the default branch."""
    out: Text = "scoregate-out"
    """The folder for the run and its reports. No other program may write there."""
    keep_runs: NonNegativeInt = 5
    """How many earlier runs stay in `earlier/` inside `out` when a newer run replaces them, besides the baseline of the
    next run. CI jobs keep none.
    """
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
    gates: GateSet | None = None
    """A set of gates, instead of one setting for each: `usual` or `strict`. A limit that is set by itself in the same
    place, or in one that wins over it, keeps its value.
    """
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
    min_agreement: Rate | None = None
    """`scoregate agreement` fails if a judge's balanced accuracy against people's reviews is lower, or the share of
    failures that it finds.
    """
    min_overrides: Count = 10
    """How many reviews it takes before `min_agreement` and `min_judge_agreement` apply. A judge is checked again each
    time their number has doubled.
    """
    evaluators: Mapping[str, EvaluatorSettings] = Field(default_factory=dict)
    """How scores of some scorers are read and compared, by globs of their names: tables `[evaluators."GLOB"]`."""
    suites: Mapping[str, SuiteSettings] = Field(default_factory=dict)
    """Gates for some suites, by globs of their ids: tables `[suites."GLOB"]`. Later tables win."""
