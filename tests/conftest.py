"""Markers, order and fixtures of all tests."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

# The duration of an example, and of its making, depends more on the machine than on the code.
# A commit gets the same examples each time, so that a failure is of its change. `nox -s random` looks for others.
_ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("scoregate", _ANY_SPEED)
settings.register_profile("fast", _ANY_SPEED, max_examples=15)
settings.register_profile("random", _ANY_SPEED, derandomize=False)
settings.load_profile("scoregate")

# The environment of the test run has a terminal width and CI variables, which started programs must not use.
for name in ("COLUMNS", "CI", "GITHUB_ACTIONS"):
    os.environ.pop(name, None)
# A new repository has no examples of hooks, which are most of its files.
os.environ["GIT_TEMPLATE_DIR"] = ""

# Imported and collected objects live until the end: a search for cycles in them finds none, and is slow.
gc.disable()

TESTS = Path(__file__).parent
# Requirements of tests by folder or file. Markers are set nowhere else.
MARKERS = {
    "container": ("e2e/container/",),
    "network": (
        "e2e/", "features/interventions/test_blame_packages.py",
        "features/setup/test_install.py", "features/setup/test_install_layouts.py",
        "features/setup/test_install_node.py", "integration/foreign/", "integration/frameworks/",
        "integration/migrate/",
        "integration/mcp_servers/test_reference_servers.py", "integration/ragas/", "integration/traces/",
        "test_readme.py",
    ),
    "foreign": (
        "integration/foreign/", "integration/frameworks/", "integration/mcp_servers/test_reference_servers.py",
        "integration/migrate/", "integration/ragas/", "integration/traces/",
    ),
    "browser": (
        "integration/page/", "integration/review/test_page.py", "integration/review/test_reviewers.py",
        "integration/review/test_sample.py", "integration/trace_files/test_review_rows.py", "integration/view/",
    ),
    "process": (
        "contract/test_documented_entities.py", "contract/test_documented_examples.py",
        "contract/test_type_checkers.py", "features/attempts/test_jobs.py", "features/broken_cases/",
        "features/imports/test_deepeval_launch.py", "features/imports/test_launch.py",
        "features/measure_again/test_measure_again.py", "integration/convert/test_yaml.py",
        "integration/execution/test_targets.py", "integration/judges/test_commands.py", "integration/mcp/",
        "integration/offline/test_configs.py", "integration/offline/test_traces.py",
        "integration/store/test_commands.py",
        "integration/trace_files/test_add_traces.py", "unit/agents/test_command.py", "unit/kernel/test_dependencies.py",
        "unit/kernel/test_isolation.py", "unit/kernel/test_node_recorder.py",
        "e2e/", "features/affected/", "features/arms/test_jobs.py", "features/arms/test_skill_formats.py",
        "features/arms/test_skills.py", "features/comments/test_jobs.py", "features/costs/test_estimates.py",
        "features/forks/test_jobs.py", "features/history/test_jobs.py", "features/history/test_shared_history.py",
        "features/interventions/test_bad_input.py", "features/interventions/test_blame.py",
        "features/interventions/test_blame_packages.py",
        "features/interventions/test_model_calls.py", "features/interventions/test_mutate.py",
        "features/interventions/test_mutate_comment.py",
        "features/otlp/", "features/resume/", "features/setup/test_install.py",
        "features/setup/test_install_layouts.py", "features/setup/test_install_node.py", "features/skip_label/",
        "features/test_knock_out.py",
        "integration/cookbook/", "integration/execution/test_host.py", "features/cluster/", "integration/foreign/",
        "integration/frameworks/", "integration/host/", "integration/jobs/",
        "features/foreign/listen/", "integration/mcp_servers/", "integration/migrate/",
        "integration/models/test_host.py",
        "integration/models/test_processes.py", "integration/offline/test_host.py", "integration/page/",
        "integration/pytest_plugin/", "integration/ragas/", "integration/review/", "integration/sdk/",
        "integration/store/test_datasets.py",
        "integration/store/test_processes.py", "integration/terminal/", "integration/traces/",
        "integration/trace_files/test_review_rows.py", "integration/view/", "test_benchmarks.py",
        "docs/", "test_docs.py", "test_readme.py", "test_site.py", "test_warm_program.py", "test_warm_scripts.py",
    ),
    # Tests that draw many samples or read many rows.
    "long": (
        "contract/test_evidence_cells.py", "integration/metrics/test_injections.py", "unit/datasets/test_scale.py",
        "unit/report/test_cluster_hints.py", "unit/stats/test_joint_test.py", "unit/trace_files/test_duplicates.py",
    ),
    # Tests that wait, handle many rows, connect several packages, or take long for another reason.
    "slow": (
        "contract/github_fake/", "contract/test_lazy_imports.py", "contract/test_wording.py",
        "features/alert/", "features/check_run/", "features/exemptions/test_exemptions.py",
        "features/forks/test_publish.py", "features/gateway/", "features/history/test_history.py",
        "features/imports/test_damage.py", "features/imports/test_hostile.py", "features/imports/test_pairs.py",
        "features/imports/test_promptfoo.py", "features/imports/test_scales.py",
        "features/interventions/test_table_units.py", "features/slices/", "features/test_steps.py",
        "features/traces/test_span_store.py", "features/variants/test_reports.py", "golden/", "integration/",
        "test_action_yml.py", "test_architecture.py", "test_lock.py", "unit/agents/", "unit/datasets/test_factory.py",
        "unit/datasets/test_files.py", "unit/datasets/test_versions.py", "unit/engine/test_cut_events.py",
        "unit/engine/test_client_headers.py", "unit/entities/test_csv.py", "unit/entities/test_test_set.py",
        "unit/evals/test_evaluate.py", "unit/evals/test_pattern_search.py", "unit/evals/test_pii.py",
        "unit/judges/", "unit/kernel/test_archive.py", "unit/kernel/test_packing.py", "unit/kernel/test_power.py",
        "unit/kernel/test_secrets.py", "unit/kernel/test_trajectories.py", "unit/report/test_case_means.py",
        "unit/report/test_console.py", "unit/report/test_conversations.py", "unit/report/test_heading.py",
        "unit/report/test_html.py", "unit/report/test_junit.py", "unit/report/test_markdown.py",
        "unit/report/test_order.py", "unit/report/test_page_process.py", "unit/report/test_result_json.py",
        "unit/review/",
        "unit/stats/test_clusters.py", "unit/stats/test_permutation.py", "unit/stats/test_properties.py",
        "unit/stats/test_signflip.py", "unit/store/", "unit/testing/test_exceptions.py",
        "unit/testing/test_results.py", "unit/trace_files/",
    ),
}  # fmt: skip

# Files whose tests take minutes start first, so that no worker is alone with one at the end. Those of the container
# are the last of them, as .ci/run builds the image in the meantime.
LONG = (
    "test_docs.py", "test_readme.py", "integration/foreign/", "integration/frameworks/", "integration/migrate/",
    "integration/ragas/", "e2e/",
)  # fmt: skip


# What plain `pytest` leaves out: what starts suites, commands and browsers, draws many samples, or needs a package
# index, packages of other languages or a container. These tests take two thirds of the time.
LEFT_OUT = ("process", "long", "browser", "network", "foreign", "container")
PLAIN = " and ".join(f"not {marker}" for marker in LEFT_OUT)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for all tests."""
    parser.addoption(
        "--all", action="store_true", help=f"run all tests, also those that are marked {' or '.join(LEFT_OUT)}"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Without a path, an expression of markers or `--all`, leave out what needs more than this process and git."""
    if missing := [path for paths in MARKERS.values() for path in paths if not (TESTS / path).exists()]:
        raise pytest.UsageError(f"tests/conftest.py sets markers on what does not exist: {', '.join(missing)}")
    is_plain = config.args_source is not pytest.Config.ArgsSource.ARGS and not config.option.markexpr
    if is_plain and not config.option.all:
        config.option.markexpr = PLAIN
        if not config.option.hypothesis_profile and os.environ.get("TEST_EXAMPLES") != "all":
            settings.load_profile("fast")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file whose tests the expression of markers excludes: each worker would import it for nothing."""
    if collection_path.suffix != ".py" or not config.option.markexpr:
        return None
    known = {marker: marker in _markers_of(collection_path) for marker in MARKERS}
    try:
        return None if eval(config.option.markexpr, {}, known) else True
    except (NameError, SyntaxError):  # other markers, which tests have one by one
        return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out."""
    if config.option.markexpr == PLAIN:
        paths = (TESTS / path for marker in LEFT_OUT for path in MARKERS[marker])
        files = {file for path in paths for file in ([path] if path.is_file() else path.rglob("test_*.py"))}
        terminalreporter.write_line(
            f"Left out: the tests of {len(files)} files, which start suites, commands or a browser, take long, or need "
            "a package index, packages of other languages or a container. `.venv/bin/nox -s all` runs them, too."
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set markers by folder, and put long files first; else the order stays."""
    for item in items:
        for marker in _markers_of(item.path):
            item.add_marker(marker)
    items.sort(key=lambda item: next((rank for rank, path in enumerate(LONG) if _is_in(item.path, (path,))), len(LONG)))


def pytest_collection_finish() -> None:
    """Collect garbage from here on."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # as objects of a command live as long as the command
    gc.enable()


@cache
def _markers_of(file: Path) -> list[str]:
    return [marker for marker, paths in MARKERS.items() if _is_in(file, paths)]


@cache
def _is_in(file: Path, paths: tuple[str, ...]) -> bool:
    return file.relative_to(TESTS).as_posix().startswith(paths)


# Files whose tests share nothing: any worker may take any test of them, so that none is alone with a long file.
INDEPENDENT = ("golden/", "test_docs.py", "contract/test_evidence_cells.py")


class FilesAndTests(LoadScopeScheduling):
    """Gives workers whole files, and of independent files single tests."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if _is_in(TESTS.parent / file, INDEPENDENT) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Divide tests among workers, unless the command names another way than pyproject.toml."""
    return FilesAndTests(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """For `-n auto`, the default: none for single files, which start faster in this process.

    Else one more than there are cores, as many tests only wait for processes that they started.
    """
    if config.args and all(Path(name.partition("::")[0]).suffix == ".py" for name in config.args):
        return 0
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 1


# What a process remembers of the servers of models, by their addresses.
_SERVERS = {"scoregate.models.structured_output": "_capabilities", "scoregate.models.rate_limit": "_limiters"}


@pytest.fixture(autouse=True)
def forget_servers() -> None:
    """Forget what servers of earlier tests refused: one of this test may get the port of theirs."""
    for module, name in _SERVERS.items():
        if module in sys.modules:
            getattr(sys.modules[module], name).clear()


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"
