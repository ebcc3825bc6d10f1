"""What a project keeps between runs, in its repository: people's words, champions; by default in `.scoregate/`."""

from typing import Any

from scoregate.store.baseline_outputs import CHAMPIONS, BaselineOutputs, Champion, champions, set_baseline_outputs
from scoregate.store.datasets import DATASETS
from scoregate.store.directory import DirectoryStore
from scoregate.store.endpoints import ENDPOINTS, StoredEndpoint
from scoregate.store.judges import (
    CONFIGS,
    JUDGE_HISTORY,
    JUDGES,
    StoredConfig,
    StoredJudge,
    StoredVersion,
    stored_configs,
)
from scoregate.store.kinds import Key, Kind, Layout
from scoregate.store.location import current_store, open_store, use_store
from scoregate.store.metrics import METRICS, StoredMetric
from scoregate.store.overrides import (
    OVERRIDES,
    Override,
    Source,
    add_override,
    overrides,
    read_calibrations,
    recent_overrides,
    split_by_source,
)
from scoregate.store.protocol import Store, Writer
from scoregate.store.test_runs import TEST_RUNS
from scoregate.store.test_sets import BEHAVIORS, CATEGORIES, LOOSE_TESTS, TEST_SETS, TOPICS
from scoregate.store.traces import TRACES, keep_trace, stored_trace
from scoregate.store.verdicts import VERDICTS, Verdict, Winner, add_verdict, verdict_on, verdicts

KINDS: tuple[Kind[Any], ...] = (
    OVERRIDES,
    VERDICTS,
    CHAMPIONS,
    DATASETS,
    JUDGES,
    JUDGE_HISTORY,
    CONFIGS,
    TRACES,
    METRICS,
    TEST_SETS,
    LOOSE_TESTS,
    BEHAVIORS,
    CATEGORIES,
    TOPICS,
    TEST_RUNS,
    ENDPOINTS,
)

__all__ = [
    "BEHAVIORS",
    "CATEGORIES",
    "CHAMPIONS",
    "CONFIGS",
    "DATASETS",
    "ENDPOINTS",
    "JUDGES",
    "JUDGE_HISTORY",
    "KINDS",
    "LOOSE_TESTS",
    "METRICS",
    "OVERRIDES",
    "TEST_RUNS",
    "TEST_SETS",
    "TOPICS",
    "TRACES",
    "VERDICTS",
    "BaselineOutputs",
    "Champion",
    "DirectoryStore",
    "Key",
    "Kind",
    "Layout",
    "Override",
    "Source",
    "Store",
    "StoredConfig",
    "StoredEndpoint",
    "StoredJudge",
    "StoredMetric",
    "StoredVersion",
    "Verdict",
    "Winner",
    "Writer",
    "add_override",
    "add_verdict",
    "champions",
    "current_store",
    "keep_trace",
    "open_store",
    "overrides",
    "read_calibrations",
    "recent_overrides",
    "set_baseline_outputs",
    "split_by_source",
    "stored_configs",
    "stored_trace",
    "use_store",
    "verdict_on",
    "verdicts",
]
