"""The history of runs in its embedded database: import, trends, cases, flaky cases, costs."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.cli import run_cli
from tests.features.history.runs import DAY, START, write_run
from tests.unit.kernel.builders import mark_source

from scoregate.features.history.embedded import EmbeddedHistory
from scoregate.features.history.folders import import_folders, list_run_folders
from scoregate.features.history.location import embedded_path
from scoregate.features.history.project import find_project_name
from scoregate.features.history.queries import RunFilter, list_series, load_case, load_costs, load_flaky, load_trend
from scoregate.features.history.rows import CaseCollector, RunSource, make_id, read_rows
from scoregate.features.history.tables import TABLES, clean_text
from scoregate.kernel.compare.statistics.intervals import wilson_interval
from scoregate.kernel.types.evaluation import Evaluation, Threshold, Usage
from scoregate.kernel.types.event_values import Fingerprint
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Script, SuiteResult
from scoregate.kernel.types.runs.run_scope import RunShard

SOURCE = RunSource("owner/name")
ALL = RunFilter()
HOSTILE = "x'; DROP TABLE runs; -- \x1b[31m\u202e%_\0:since"


_OPENED: list[EmbeddedHistory] = []


def open_store(folder: Path) -> EmbeddedHistory:
    """A history that is closed at the end of the test."""
    _OPENED.append(EmbeddedHistory(embedded_path(folder)))
    return _OPENED[-1]


@pytest.fixture(autouse=True)
def close_stores() -> Iterator[None]:
    yield
    while _OPENED:
        _OPENED.pop().close()


def test_trends_mark_changes_of_judges_and_models(tmp_path: Path) -> None:
    marks = [Fingerprint(model="judge-1"), Fingerprint(model="judge-1"), Fingerprint(model="judge-2", prompt="new")]
    for number, mark in enumerate(marks):
        used = Usage(10, 5, model="gpt-a" if number < 1 else "gpt-b")
        scores = {"exact": [1.0, number / 2]}
        write_run(tmp_path / str(number), number, scores, evaluators={"exact": mark}, usage=used)
    store = open_store(tmp_path)
    assert import_folders(store, list_run_folders(tmp_path), SOURCE).added == 3
    points = load_trend(store, "bot", "exact", ALL)
    assert [point.mean for point in points] == [0.5, 0.75, 1.0]
    assert [(point.passed, point.failed) for point in points] == [(1, 1), (2, 0), (2, 0)]
    assert [point.changes for point in points] == [(), ("models",), ("model", "prompt")]
    assert [point.judge for point in points] == ["judge-1", "judge-1", "judge-2"]
    assert all(0 <= point.low < point.mean <= point.high <= 1 for point in points if point.mean and point.low)
    assert (points[2].low, points[2].high) == (pytest.approx(wilson_interval(2, 2)[0]), 1.0)
    assert [point.run for point in load_trend(store, "bot", "exact", RunFilter(since=START + DAY))] == [
        "run-1",
        "run-2",
    ]
    assert [point.run for point in load_trend(store, "bot", "exact", RunFilter(runs=1))] == ["run-2"]
    assert load_trend(store, "bot", "exact", RunFilter(project="other")) == []
    assert load_trend(store, "bot", "exact", RunFilter(branch="fix")) == []
    assert list_series(store, ALL) == [("bot", "exact", 3)]


def test_a_run_is_imported_once(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / "a", 1, {"exact": [1.0]})]
    store = open_store(tmp_path)
    assert (import_folders(store, folders, SOURCE).added, import_folders(store, folders, SOURCE).known) == (1, 1)
    other = import_folders(store, folders, RunSource("owner/other"))
    assert (other.added, other.known) == (1, 0)
    counts = {table.name: store.query(f"SELECT COUNT(*) FROM {table.name}", {})[0][0] for table in TABLES}
    assert (counts["runs"], counts["scores"], counts["evaluators"]) == (2, 2, 1)


def test_a_damaged_run_is_reported_and_the_others_are_imported(tmp_path: Path) -> None:
    for number in range(3):
        write_run(tmp_path / str(number), number, {"exact": [1.0]})
    (tmp_path / "1" / "run.json").write_text("{")
    write_run(tmp_path / "late", 10**6, {"exact": [1.0]})  # in the year 4763
    store = open_store(tmp_path)
    result = import_folders(store, list_run_folders(tmp_path), SOURCE)
    assert result.added == 2
    assert [problem.split(" ")[-1] for problem in result.problems if "right" in problem] == ["right"]
    assert any("is damaged" in problem for problem in result.problems)


def test_shards_are_refused(tmp_path: Path) -> None:
    shard = write_run(tmp_path / "shard", 1, {"exact": [1.0]}, shard=RunShard("f" * 16, 1, 4, "a" * 16))
    merged = write_run(tmp_path / "merged", 2, {"exact": [1.0, 0.0]})
    store = open_store(tmp_path)
    result = import_folders(store, [shard, merged], SOURCE)
    assert (result.added, result.known) == (1, 0)
    assert ["is shard 1 of 4" in problem for problem in result.problems] == [True]
    assert [point.n for point in load_trend(store, "bot", "exact", RunFilter())] == [2]


def test_a_case_is_found_by_its_hash_and_its_changes_are_marked(tmp_path: Path) -> None:
    write_run(tmp_path / "0", 0, {"exact": [1.0, 0.0]}, cases=["abc1", "abc2"], digests=["d1", "d1"])
    write_run(tmp_path / "1", 1, {"exact": [0.0, 0.0]}, cases=["abc1", "abc2"], digests=["d2", "d1"])
    write_run(
        tmp_path / "2",
        2,
        {"exact": [0.0]},
        cases=["abc1"],
        digests=["d2"],
        evaluators={"exact": Fingerprint(prompt="p")},
    )
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    rows = load_case(store, "abc1", ALL)
    assert [(row.score, row.passed, row.status, row.changes) for row in rows] == [
        (1.0, True, "passed", ()),
        (0.0, False, "failed", ("definition",)),
        (0.0, False, "failed", ("evaluator",)),
    ]
    assert {row.case for row in load_case(store, "abc", ALL)} == {"abc1", "abc2"}
    assert load_case(store, "%", ALL) == load_case(store, "ab_1", ALL) == []


def test_flaky_cases_flip_without_a_change(tmp_path: Path) -> None:
    # Case 0 flips at each run. Case 1 flips once. Case 2 changes its definition, case 3 never passes.
    for number in range(6):
        scores = [float(number % 2), float(number > 2), float(number % 2), 0.0]
        digests = ["d", "d", f"d{number}", "d"]
        write_run(tmp_path / str(number), number, {"exact": scores}, digests=digests, commit=f"{number // 2:040x}")
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    flaky_cases = load_flaky(store, ALL)
    assert [(each.case, each.flips, each.pairs, each.trials, each.passed) for each in flaky_cases] == [
        ("case-0", 5, 5, 6, 3),
        ("case-1", 1, 5, 6, 3),
    ]
    assert [each.same_commit for each in flaky_cases] == [3, 1]
    assert [(each.low, each.high) for each in flaky_cases] == [wilson_interval(5, 5), wilson_interval(1, 5)]
    assert [each.case for each in load_flaky(store, RunFilter(runs=2))] == ["case-0"]
    assert load_flaky(store, ALL, suite="other") == []
    assert len(load_flaky(store, ALL, suite="bot")) == 2


def test_flips_between_runs_with_uncommitted_changes_are_not_at_one_commit(tmp_path: Path) -> None:
    for number, dirty in enumerate((False, True, False, False)):
        write_run(tmp_path / str(number), number, {"exact": [float(number % 2)]}, commit="a" * 40, dirty=dirty)
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    assert [(case.flips, case.same_commit) for case in load_flaky(store, ALL)] == [(3, 1)]


def test_flips_within_a_run_are_at_one_commit_whatever_is_uncommitted(tmp_path: Path) -> None:
    write_run(tmp_path / "0", 0, {"exact": [1.0, 0.0]}, cases=["a", "a"], repeats=[0, 1], dirty=True)
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    assert [(case.flips, case.same_commit) for case in load_flaky(store, ALL)] == [(1, 1)]


def test_a_change_of_the_fingerprint_is_no_flip(tmp_path: Path) -> None:
    for number in range(4):
        mark = {"exact": Fingerprint(prompt=f"p{number}")}
        write_run(tmp_path / str(number), number, {"exact": [float(number % 2)]}, evaluators=mark)
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    assert load_flaky(store, ALL) == []


def test_cached_answers_are_no_pairs(tmp_path: Path) -> None:
    for number in range(4):
        stored = Usage(10, 5, cached=number > 1, answer="a")
        write_run(tmp_path / str(number), number, {"exact": [float(number % 2)]}, usage=stored)
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    assert [(each.flips, each.pairs) for each in load_flaky(store, ALL)] == [(1, 1)]


def test_costs_are_summed_by_each_group(tmp_path: Path) -> None:
    write_run(tmp_path / "0", 0, {"exact": [1.0, 1.0]}, usage=Usage(100, 10, cost=0.25, model="gpt-a"))
    write_run(tmp_path / "1", 40, {"exact": [1.0]}, usage=Usage(100, 10, model="gpt-b"))
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    by_model = load_costs(store, "model", ALL)
    assert [(each.group, each.runs, each.calls, each.cost, each.unpriced) for each in by_model] == [
        ("gpt-a", 1, 2, 0.5, 0),
        ("gpt-b", 1, 1, None, 1),
    ]
    assert [each.group for each in load_costs(store, "month", ALL)] == ["202601", "202602"]
    assert [each.input_tokens for each in load_costs(store, "suite", ALL)] == [300]
    assert [each.group for each in load_costs(store, "model", RunFilter(since=START + 30 * DAY))] == ["gpt-b"]


def test_calls_are_counted_instead_of_records(tmp_path: Path) -> None:
    write_run(tmp_path / "0", 0, {"exact": [1.0, 1.0]}, usage=Usage(100, 10, cost=0.25, model="gpt-a", calls=3))
    write_run(tmp_path / "1", 1, {"exact": [1.0]}, usage=Usage(cost=0.0, model="gpt-a", cached=True, calls=2))
    # A mark of an output as made from stored answers is no call; older versions didn't count calls.
    write_run(tmp_path / "2", 2, {"exact": [1.0]}, usage=Usage(answer="a", cached=True, calls=0))
    write_run(tmp_path / "3", 3, {"exact": [1.0]}, usage=Usage(answer="a", cached=True))
    write_run(tmp_path / "4", 4, {"exact": [1.0]}, usage=Usage(9, model="new", calls=4))
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    by_model = [(each.group, each.calls, each.cost, each.unpriced) for each in load_costs(store, "model", ALL)]
    assert by_model == [("gpt-a", 8, 0.5, 0), ("new", 4, None, 4)]


def test_calls_of_any_suite_cost_their_script(tmp_path: Path) -> None:
    script = Script("evals/two.sh", exit_code=0, usage=Usage(7, cost=0.5, model="gpt-a", calls=3))
    write_run(tmp_path / "0", 0, {"exact": [1.0]}, usage=Usage(1, cost=0.25, model="gpt-a"), scripts=(script,))
    store = open_store(tmp_path)
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    by_suite = {each.group: (each.calls, each.cost) for each in load_costs(store, "suite", ALL)}
    assert by_suite == {"evals/two.sh": (3, 0.5), "bot": (1, 0.25)}


def test_names_are_no_sql(tmp_path: Path) -> None:
    write_run(
        tmp_path / "0",
        0,
        {HOSTILE: [1.0]},
        suite=HOSTILE,
        cases=[HOSTILE],
        id=HOSTILE,
        branch="'; --",
        commit=HOSTILE,
        usage=Usage(1, 1, model=HOSTILE),
    )
    store = open_store(tmp_path)
    assert import_folders(store, list_run_folders(tmp_path), RunSource("'; DROP TABLE runs")).added == 1
    ((suite, evaluator, _),) = list_series(store, ALL)
    assert "DROP TABLE" in suite
    assert len(load_trend(store, suite, evaluator, RunFilter(branch="'; --"))) == 1
    assert [row.case for row in load_case(store, "x'; DROP", ALL)] == [suite]
    assert load_flaky(store, RunFilter(project="' OR 1 = 1 --"), suite="' OR 1 = 1 --") == []
    assert len(load_costs(store, "model", RunFilter(project="'; DROP TABLE runs"))) == 1
    assert store.query("SELECT COUNT(*) FROM runs", {}) == [(1,)]
    assert clean_text("\ud800" + "x" * 1000).encode() == b"?" + b"x" * 498 + "…".encode()


def test_a_damaged_or_outdated_file_is_replaced(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / "a", 1, {"exact": [1.0]})]
    path = embedded_path(tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"not a database" * 100)
    store = open_store(tmp_path)
    assert import_folders(store, folders, SOURCE).added == 1
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    store = open_store(tmp_path)
    assert store.find_known([make_id(SOURCE.project, "run-1")]) == set()
    assert import_folders(store, folders, SOURCE).added == 1
    assert (path.parent / ".gitignore").read_text() == "*\n"


def history(project: Path, *arguments: str, **environ: str) -> Any:
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    if "PYTHONPATH" in os.environ:
        known["PYTHONPATH"] = os.environ["PYTHONPATH"]
    return run_cli("history", *arguments, cwd=project, environ={**known, "COLUMNS": "160", **environ})


def test_commands_read_the_output_folder(tmp_path: Path) -> None:
    for number in range(4):
        used = Usage(1000, 10, cost=0.5, model="gpt-a")
        write_run(tmp_path / "scoregate-out" / "run", number, {"exact": [1.0, float(number % 2)]}, usage=used)
        done = history(tmp_path, "trend", "bot", "exact")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("main@") == number + 1
    assert "2026-01-05 00:01 UTC  main@0000000  0.500" in done.stdout
    flaky = history(tmp_path, "flaky")
    assert "3 of 3" in flaky.stdout
    assert "100.0%" in flaky.stdout
    assert "$4.00" in history(tmp_path, "cost", "--by", "model", "--since", "2026-01-01").stdout
    assert "No run used a model." in history(tmp_path, "cost", "--since", "1h").stdout
    case = history(tmp_path, "case", "case-1")
    assert case.stdout.count("failed") == 2
    assert "These runs have no scores of it." in history(tmp_path, "case", "case-1", "--since", "1h").stdout
    assert "No run since then has scores of it." in history(tmp_path, "trend", "bot", "exact", "--since", "1h").stdout
    since = history(tmp_path, "flaky", "--since", "yesterday")
    assert (since.returncode, "Write 36h" in since.stderr) == (2, True)


def test_unknown_names_are_errors_with_suggestions(tmp_path: Path) -> None:
    assert "the history has no runs" in history(tmp_path, "flaky").stderr
    write_run(tmp_path / "scoregate-out" / "run", 1, {"exact": [1.0, 0.0], "polite": [1.0, 1.0]})
    project = tmp_path.name
    for arguments, problem, advice in (
        (("trend", "bot", "exakt"), "no run has scores of 'exakt' in the suite 'bot'", "Did you mean 'exact'?"),
        (("trend", "bott", "exact"), "no run has scores of the suite 'bott'", "Did you mean 'bot'?"),
        (("trend", "bot", "zzz"), "no run has scores of 'zzz'", "There are: 'exact', 'polite'"),
        (("flaky", "--suite", "boot"), "no run has scores of the suite 'boot'", "Did you mean 'bot'?"),
        (("case", "nothing"), "no case has a hash that starts with 'nothing'", "The hashes are in result.json"),
        (("case", "Case case-1"), "no case has a hash that starts with 'Case case-1'", "'case-1' is 'Case case-1'"),
        *(
            ((*command, *option), problem, advice)
            for command in (("trend", "bot", "exact"), ("flaky",), ("cost",), ("page",), ("case", "case-1"))
            for option, problem, advice in (
                (("--branch", "mian"), "no run is of the branch 'mian'", "Did you mean 'main'?"),
                (("--project", "other"), "no runs of the project 'other'", f"There are: {project!r}"),
            )
        ),
    ):
        done = history(tmp_path, *arguments)
        shown = " ".join(done.stderr.split())  # long lines wrap
        assert (done.returncode, problem in shown, advice in shown) == (2, True, True), (arguments, shown)
    assert not (tmp_path / "scoregate-out" / "history.html").exists()


def test_an_import_counts_added_runs(tmp_path: Path) -> None:
    for number in range(3):
        write_run(tmp_path / "scoregate-out" / "earlier" / str(number), number, {"exact": [1.0]})
    for arguments, added, known in (((), 3, 0), ((), 0, 3), (("--rebuild",), 3, 0)):
        line = " ".join(history(tmp_path, "import", *arguments).stdout.split())
        assert line.endswith(f"{added} runs added to {tmp_path.name}, {known} known already"), arguments


def test_a_history_is_rebuilt_from_folders(tmp_path: Path) -> None:
    for number in range(2):
        write_run(tmp_path / "runs" / str(number), number, {"exact": [1.0]})
    done = history(tmp_path, "import", "runs")
    again = history(tmp_path, "import", "runs")
    rebuilt = history(tmp_path, "import", "runs", "--rebuild")
    for each, added, known in ((done, 2, 0), (again, 0, 2), (rebuilt, 2, 0)):
        line = " ".join(each.stdout.split())  # long paths wrap
        assert line.endswith(f"{added} runs added to {tmp_path.name}, {known} known already")
    missing = history(tmp_path, "import", "nothing")
    assert (missing.returncode, "nothing does not exist" in missing.stderr) == (2, True)


def test_formats_hold_the_same_rows(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: Parquet is NOT tested")
    for number in range(3):
        write_run(tmp_path / str(number), number, {"=cmd()": [1.0, float(number % 2)]})
    history(tmp_path, "import", ".")
    rows = json.loads(history(tmp_path, "flaky", "--format", "json").stdout)
    table = list(csv.DictReader(io.StringIO(history(tmp_path, "flaky", "--format", "csv").stdout)))
    done = history(tmp_path, "flaky", "--format", "parquet", "--output", "flaky.parquet")
    assert done.stdout == "flaky.parquet: 1 rows\n"
    assert parquet.read_table(tmp_path / "flaky.parquet").to_pylist() == rows
    assert rows[0]["evaluator"] == "=cmd()"
    assert table[0]["evaluator"] == "'=cmd()"
    assert float(table[0]["low"]) == rows[0]["low"]
    trend = json.loads(history(tmp_path, "trend", "bot", "=cmd()", "--format", "json").stdout)
    assert [row["finished"] for row in trend] == [f"2026-01-0{5 + day}T00:01:00+00:00" for day in range(3)]
    history(tmp_path, "trend", "bot", "=cmd()", "--format", "parquet", "--output", "trend.parquet")
    assert [row["finished"].timestamp() for row in parquet.read_table(tmp_path / "trend.parquet").to_pylist()] == [
        START + day * DAY + 60 for day in range(3)
    ]


def test_a_project_is_named_by_its_repository(tmp_path: Path) -> None:
    assert anyio.run(find_project_name, tmp_path, {}) == tmp_path.name
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    urls = ("https://me:secret@github.com/owner/name.git", "git@github.com:owner/name", "https://h/group/owner/name/")
    for url in urls:
        subprocess.run(["git", "config", "remote.origin.url", url], cwd=tmp_path, check=True)
        assert anyio.run(find_project_name, tmp_path, {}) == "owner/name"
    (tmp_path / "sub").mkdir()
    assert anyio.run(find_project_name, tmp_path / "sub", {}) == "owner/name/sub"
    job = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "job/repository"}
    assert anyio.run(find_project_name, tmp_path, job) == "job/repository"


def test_queries_of_a_year_are_fast(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number in range(60):
        write_run(
            tmp_path / "r" / str(number), number, {"exact": [float((number * index) % 7 > 2) for index in range(200)]}
        )
    import_folders(store, list_run_folders(tmp_path / "r"), SOURCE)
    began = time.process_time()
    assert len(load_flaky(store, RunFilter(runs=100))) > 100
    assert len(load_trend(store, "bot", "exact", ALL)) == 60
    assert time.process_time() - began < 2


def test_scores_of_other_suites_keep_their_trials() -> None:
    collector, columns = CaseCollector(), (Columns(), Columns())
    for number in range(6):
        score = Evaluation(number / 10, Threshold(gte=0.3))
        case = CaseResult(number % 2, f"case {number}", evaluations={"exact": score, "short": score})
        columns[case.suite].add(case)
        collector.add(case)
    carried, own = (SuiteResult("s", "s", trials=Trials(each)) for each in columns)
    carried = mark_source(carried, carried=CarriedFrom("1", "main"))
    collector.leave_out_others([carried.evidence, own.evidence])
    scores = [(collector.trials[index][1], name, score, passed) for index, name, score, passed, _ in collector.scores]
    assert scores == [
        (f"case {number}", name, number / 10, number >= 3) for number in (1, 3, 5) for name in ("exact", "short")
    ]


def test_skipped_suites_are_no_measurement(tmp_path: Path) -> None:
    used = Usage(10, 5, cost=0.1, model="small")
    folders = [write_run(tmp_path / str(index), index, {"exact": [1.0, 0.0]}, usage=used) for index in range(2)]
    head = json.loads((folders[1] / "run.json").read_text())
    head["suites"][0]["carried"] = {"id": "run-0", "name": "main@0000000"}
    (folders[1] / "run.json").write_text(json.dumps(head))
    rows = read_rows(folders[1], SOURCE)
    assert not any(rows.rows[name] for name in ("suite_runs", "series", "costs", "trials", "scores", "cases"))
    assert len(read_rows(folders[0], SOURCE).rows["scores"]) == 2


def test_kept_results_are_no_measurement(tmp_path: Path) -> None:
    used = Usage(10, 5, cost=0.1, model="small")
    folder = write_run(tmp_path, 1, {"exact": [1.0, 0.0]}, usage=used, reused={1: "run-0"})
    head = json.loads((folder / "run.json").read_text())
    head["suites"][0]["kept"] = {"id": "run-0", "name": "main@0000000"}
    (folder / "run.json").write_text(json.dumps(head))
    rows = read_rows(folder, SOURCE).rows
    # As in the history of run.json, a suite has no point unless all of it ran.
    counts = {name: len(rows[name]) for name in ("suite_runs", "series", "costs", "trials", "scores", "cases")}
    assert list(counts.values()) == [0, 0, 1, 1, 1, 1]
