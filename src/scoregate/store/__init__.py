"""The store: what a project keeps in its repository between runs, by default in the folder `.scoregate/`."""

from typing import TYPE_CHECKING

from scoregate.kernel.types.lazy_names import make_dir, make_getattr

if TYPE_CHECKING:
    from scoregate.store.baseline_outputs import (
        BASELINE_OUTPUTS,
        BaselineOutput,
        BaselineOutputs,
        load_baseline_outputs,
        set_baseline_outputs,
    )
    from scoregate.store.datasets import DATASETS
    from scoregate.store.directory import DirectoryStore
    from scoregate.store.endpoints import ENDPOINTS, StoredEndpoint
    from scoregate.store.judges import (
        CONFIGS,
        JUDGE_HISTORY,
        JUDGES,
        TEST_SUITES,
        StoredConfig,
        StoredJudge,
        StoredSuiteCase,
        StoredTestSuite,
        StoredVersion,
        list_configs,
    )
    from scoregate.store.kinds import Key, Kind, Layout
    from scoregate.store.location import current_store, open_store, use_store
    from scoregate.store.metrics import METRICS, StoredMetric
    from scoregate.store.overrides import (
        OVERRIDES,
        Override,
        Source,
        add_override,
        read_calibrations,
        read_overrides,
        recent_overrides,
        split_by_source,
    )
    from scoregate.store.protocol import Store, Writer
    from scoregate.store.test_runs import TEST_RUNS
    from scoregate.store.test_sets import BEHAVIORS, CATEGORIES, LOOSE_TESTS, TEST_SETS, TOPICS
    from scoregate.store.traces import TRACES, load_trace, save_trace
    from scoregate.store.verdicts import VERDICTS, Verdict, Winner, add_verdict, majority_winner, read_verdicts

__all__ = [
    "BASELINE_OUTPUTS",
    "BEHAVIORS",
    "CATEGORIES",
    "CONFIGS",
    "DATASETS",
    "ENDPOINTS",
    "JUDGES",
    "JUDGE_HISTORY",
    "LOOSE_TESTS",
    "METRICS",
    "OVERRIDES",
    "TEST_RUNS",
    "TEST_SETS",
    "TEST_SUITES",
    "TOPICS",
    "TRACES",
    "VERDICTS",
    "BaselineOutput",
    "BaselineOutputs",
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
    "StoredSuiteCase",
    "StoredTestSuite",
    "StoredVersion",
    "Verdict",
    "Winner",
    "Writer",
    "add_override",
    "add_verdict",
    "current_store",
    "list_configs",
    "load_baseline_outputs",
    "load_trace",
    "majority_winner",
    "open_store",
    "read_calibrations",
    "read_overrides",
    "read_verdicts",
    "recent_overrides",
    "save_trace",
    "set_baseline_outputs",
    "split_by_source",
    "use_store",
]

# Most users need one of these modules, and their models take 50 ms to build (measured), so each is imported when it is
# first asked for.
__dir__ = make_dir(__name__)
__getattr__ = make_getattr(
    __name__,
    {
        ".baseline_outputs": (
            "BASELINE_OUTPUTS",
            "BaselineOutput",
            "BaselineOutputs",
            "load_baseline_outputs",
            "set_baseline_outputs",
        ),
        ".datasets": ("DATASETS",),
        ".directory": ("DirectoryStore",),
        ".endpoints": ("ENDPOINTS", "StoredEndpoint"),
        ".judges": (
            "CONFIGS",
            "JUDGE_HISTORY",
            "JUDGES",
            "TEST_SUITES",
            "StoredConfig",
            "StoredJudge",
            "StoredSuiteCase",
            "StoredTestSuite",
            "StoredVersion",
            "list_configs",
        ),
        ".kinds": ("Key", "Kind", "Layout"),
        ".location": ("current_store", "open_store", "use_store"),
        ".metrics": ("METRICS", "StoredMetric"),
        ".overrides": (
            "OVERRIDES",
            "Override",
            "Source",
            "add_override",
            "read_calibrations",
            "read_overrides",
            "recent_overrides",
            "split_by_source",
        ),
        ".protocol": ("Store", "Writer"),
        ".test_runs": ("TEST_RUNS",),
        ".test_sets": ("BEHAVIORS", "CATEGORIES", "LOOSE_TESTS", "TEST_SETS", "TOPICS"),
        ".traces": ("TRACES", "load_trace", "save_trace"),
        ".verdicts": ("VERDICTS", "Verdict", "Winner", "add_verdict", "majority_winner", "read_verdicts"),
    },
)
