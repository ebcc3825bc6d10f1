"""The speed of the history: import of run folders, and each query.

It measures the PostgreSQL of SCOREGATE_HISTORY, whose database should be empty, else the embedded history.
"""

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rows import HEAD, Row

from scoregate.features.history.folders import import_folders
from scoregate.features.history.location import open_history, shared_address
from scoregate.features.history.queries import RunFilter, load_case, load_costs, load_flaky, load_trend
from scoregate.features.history.rows import RunSource
from scoregate.features.history.stores import HistoryStore
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.types.evaluation import Evaluation, Threshold, Usage
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult

CASES, EVALUATORS, SUITES = 2_000, ("exact", "helpful", "safe", "short"), 10
START, HOUR = 1_735_689_600.0, 3_600.0  # 2025-01-01
HALF = Threshold(gte=0.5)
LEAST_PER_SECOND, MOST_SECONDS = 50_000, 1.0


def write_run(folder: Path, number: int, runs: int, source: random.Random) -> None:
    """Write a run of 2,000 cases in ten suites, of which every tenth case is flaky; the judge changes twice."""
    columns = [Columns() for _ in range(SUITES)]
    with RunWriter(folder) as writer:
        for at in range(CASES):
            score = float(source.random() < 0.7) if at % 10 == 0 else 1.0
            scores = {name: Evaluation(score if name == "helpful" else 1.0, HALF) for name in EVALUATORS}
            usage = Usage(900, 120, cost=0.0004, model=f"model-{number * 3 // runs}")
            name = f"Question {at}"
            case = CaseResult(
                at % SUITES, f"{at:032x}", name=name, digest="d", evaluations=scores, usage=usage, duration_ms=80.0
            )
            columns[case.suite].add(case)
            writer.add(case)
        mark = Fingerprint(model=f"judge-{number * 3 // runs}", prompt="p")
        infos = {name: EvaluatorInfo(name, mark) for name in EVALUATORS}
        suite = SuiteResult(id="", label="", evaluators=infos, complete=True)
        suites = (
            replace(suite, id=f"suite-{at}", label=f"suite-{at}", trials=Trials(columns[at])) for at in range(SUITES)
        )
        started = START + number * 8 * HOUR
        end, code = RunEnd(started + 60, complete=True), RunCode("1", commit=f"{number:040x}", branch="main")
        writer.finish(Run(f"run-{number}", started, end, code, suites=tuple(suites)))


def measure_import(store: HistoryStore, runs: int, folder: Path) -> Iterator[Row]:
    """Import the runs in batches, so that they need little of the disk."""
    source, seconds, cpu, batch = random.Random(1), 0.0, 0.0, 50
    for first in range(0, runs, batch):
        folders = [folder / str(number) for number in range(first, min(first + batch, runs))]
        for number, each in enumerate(folders, first):
            write_run(each, number, runs, source)
        began, used = time.perf_counter(), time.process_time()
        result = import_folders(store, folders, RunSource("bench/project"))
        seconds += time.perf_counter() - began
        cpu += time.process_time() - used
        assert (result.added, result.problems) == (len(folders), [])
        for each in folders:
            for file in each.iterdir():
                file.unlink()
    scores = runs * CASES * len(EVALUATORS)
    note = f"{scores:,} scores of {runs:,} runs in {seconds:.1f} s; CPU {cpu:.1f} s"
    target = 1e6 / LEAST_PER_SECOND if shared_address(os.environ) else None
    yield Row("history, import, each score", seconds / scores * 1e6, "µs", target, note)


def measure_queries(store: HistoryStore, repeats: int) -> Iterator[Row]:
    """Ask each question several times."""
    everything, recent = RunFilter("bench/project"), RunFilter("bench/project", runs=100)
    questions: dict[str, Callable[[], list[object]]] = {
        "trend": lambda: list(load_trend(store, "suite-0", "helpful", everything)),
        "case": lambda: list(load_case(store, f"{10:032x}", everything)),
        "flaky, last 100 runs": lambda: list(load_flaky(store, recent)),
        "flaky, one suite, all runs": lambda: list(load_flaky(store, everything, suite="suite-0")),
        "cost by model": lambda: list(load_costs(store, "model", everything)),
        "cost by suite": lambda: list(load_costs(store, "suite", everything)),
    }
    for name, ask in questions.items():
        times, rows = [], 0
        for _ in range(repeats):
            began = time.perf_counter()
            rows = len(ask())
            times.append(time.perf_counter() - began)
        yield Row(f"history, {name}", statistics.median(times), "s", MOST_SECONDS, f"{rows:,} rows; {max(times):.2f} s")


def measure(runs: int, repeats: int) -> Iterator[Row]:
    """Yield microseconds of the import for each score, and seconds of each query."""
    with TemporaryDirectory() as folder:
        store = open_history(Path(folder), os.environ, migrates=True)
        yield from measure_import(store, runs, Path(folder) / "runs")
        yield from measure_queries(store, repeats)
        store.close()


def main() -> int:
    """Measure and return the exit code: 1 where a target is missed and `--check` was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    parser.add_argument("--runs", type=int, default=1_000, help="how many runs of 8,000 scores (default 1,000)")
    parser.add_argument("--repeats", type=int, default=3, help="how often each question is asked (default 3)")
    arguments = parser.parse_args()
    print(HEAD)
    missed = False
    for row in measure(arguments.runs, arguments.repeats):
        print(row, flush=True)
        missed |= row.missed
    return int(missed and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
