"""What a project keeps between runs, in its repository: people's words, champions; by default in `.scoregate/`."""

from typing import Any

from scoregate.store.champions import CHAMPIONS, Champion, champions, crown
from scoregate.store.configs import CONFIGS, StoredConfig, stored_configs
from scoregate.store.datasets import DATASETS
from scoregate.store.directory import DirectoryStore
from scoregate.store.endpoints import ENDPOINTS, StoredEndpoint
from scoregate.store.judges import JUDGE_HISTORY, JUDGES, StoredJudge, StoredVersion
from scoregate.store.kinds import Kind, Layout, Shelf
from scoregate.store.labels import BEHAVIORS, CATEGORIES, TOPICS
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
from scoregate.store.test_sets import LOOSE_TESTS, TEST_SETS
from scoregate.store.throne import Throne
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
    "Champion",
    "DirectoryStore",
    "Kind",
    "Layout",
    "Override",
    "Shelf",
    "Source",
    "Store",
    "StoredConfig",
    "StoredEndpoint",
    "StoredJudge",
    "StoredMetric",
    "StoredVersion",
    "Throne",
    "Verdict",
    "Winner",
    "Writer",
    "add_override",
    "add_verdict",
    "champions",
    "crown",
    "current_store",
    "keep_trace",
    "open_store",
    "overrides",
    "read_calibrations",
    "recent_overrides",
    "split_by_source",
    "stored_configs",
    "stored_trace",
    "use_store",
    "verdict_on",
    "verdicts",
]
