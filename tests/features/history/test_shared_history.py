"""The shared history in a real PostgreSQL: migrations, COPY, writers that are killed, rights, passwords."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.cli import run_cli
from tests.features.history.cluster import ENCODED, PASSWORD, Cluster
from tests.features.history.runs import START, write_run

from scoregate.errors import HistoryError, UsageError
from scoregate.features.history.embedded import EmbeddedHistory
from scoregate.features.history.folders import import_folders, list_run_folders
from scoregate.features.history.names import check_case, check_runs, check_suite
from scoregate.features.history.postgres import PostgresHistory
from scoregate.features.history.queries import (
    COST_GROUPS,
    RunFilter,
    list_series,
    load_case,
    load_costs,
    load_flaky,
    load_trend,
)
from scoregate.features.history.rows import RunSource, read_rows
from scoregate.features.history.tables import TABLES
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import Fingerprint

SOURCE = RunSource("owner/name")
HOSTILE = "x'; DROP TABLE runs; -- \x1b[31m\u202e%_%s\0:since \\ \t\n"
WRITER = """
import sys
from pathlib import Path
from scoregate.features.history.folders import import_folders, list_run_folders
from scoregate.features.history.postgres import PostgresHistory
from scoregate.features.history.rows import RunSource

print("ready", flush=True)
store = PostgresHistory(sys.argv[1])
import_folders(store, list_run_folders(Path(sys.argv[2]))[:: int(sys.argv[3])], RunSource("owner/name"))
"""


def make_environment(address: str) -> dict[str, str]:
    """The environment of a command with a shared history."""
    names = (name for name in ("PATH", "PYTHONPATH") if name in os.environ)
    return {**{name: os.environ[name] for name in names}, "SCOREGATE_HISTORY": address, "COLUMNS": "160"}


def write_runs(folder: Path, number: int, cases: int = 20) -> Path:
    """Write runs with flaky cases, several evaluators, and a judge that changes."""
    source = random.Random(1)
    for index in range(number):
        scores = {name: [float(source.random() < 0.8) for _ in range(cases)] for name in ("exact", "helpful")}
        used = Usage(100, 10, cost=0.001, model=f"model-{index % 2}")
        marks = {"helpful": Fingerprint(model=f"judge-{index * 2 // number}")}
        write_run(folder / str(index), index, scores, evaluators=marks, usage=used)
    return folder


def test_both_databases_answer_alike(tmp_path: Path, address: str) -> None:
    folders = list_run_folders(write_runs(tmp_path / "runs", 12))
    embedded, shared = EmbeddedHistory(tmp_path / "h" / "x.sqlite"), PostgresHistory(address, migrates=True)
    for store in (embedded, shared):
        assert import_folders(store, folders, SOURCE).added == 12
        assert import_folders(store, folders, SOURCE).known == 12
    for chosen in (RunFilter(), RunFilter(runs=5), RunFilter("owner/name", "main", since=START + 400_000)):
        assert load_trend(embedded, "bot", "helpful", chosen) == load_trend(shared, "bot", "helpful", chosen) != []
        assert load_case(embedded, "case-1", chosen) == load_case(shared, "case-1", chosen) != []
        assert load_flaky(embedded, chosen) == load_flaky(shared, chosen) != []
        assert load_flaky(embedded, chosen, suite="bot") == load_flaky(shared, chosen, suite="bot") != []
        assert list_series(embedded, chosen) == list_series(shared, chosen) != []
        for by in COST_GROUPS:
            assert load_costs(embedded, by, chosen) == pytest.approx(load_costs(shared, by, chosen)) != []
    known = RunFilter("owner/name", "main")
    for check in (
        lambda store: check_runs(store, RunFilter("owner/nam")),
        lambda store: check_runs(store, RunFilter("owner/name", "mian")),
        lambda store: check_suite(store, known, "bott"),
        lambda store: check_suite(store, known, "bot", "helpfull"),
        lambda store: check_case(store, known, "Case case-1"),
    ):
        problems = []
        for store in (embedded, shared):
            check_runs(store, known)
            check_case(store, known, "case-1")
            with pytest.raises(UsageError) as caught:
                check(store)
            problems.append((caught.value.message, caught.value.advice))
        assert problems[0] == problems[1]
        assert "Did you mean" in problems[0][1] or "Name a hash" in problems[0][1]
    embedded.close()
    shared.close()


def test_both_databases_have_the_same_columns(cluster: Cluster, address: str) -> None:
    PostgresHistory(address, migrates=True).close()
    rows = cluster.execute(
        address.rpartition("/")[2],
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        " AND table_name <> 'alembic_version' ORDER BY table_name, ordinal_position",
    )
    results: dict[str, list[str]] = {}
    for table, column in rows:
        results.setdefault(table, []).append(column)
    assert results == {table.name: list(table.columns) for table in TABLES}


def test_only_requested_monthly_partitions_are_read(tmp_path: Path, cluster: Cluster, address: str) -> None:
    store = PostgresHistory(address, migrates=True)
    for number in (0, 40, 70):
        write_run(tmp_path / str(number), number, {"exact": [1.0]})
    import_folders(store, list_run_folders(tmp_path), SOURCE)
    database = address.rpartition("/")[2]
    parts = cluster.execute(
        database, "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'scores'::regclass ORDER BY 1"
    )
    assert [part for (part,) in parts] == ["scores_202601", "scores_202602", "scores_202603"]
    plan = cluster.execute(database, "EXPLAIN SELECT * FROM scores WHERE month >= 202603")
    assert "scores_202601" not in str(plan)
    store.close()


def test_names_are_no_sql(tmp_path: Path, address: str) -> None:
    store = PostgresHistory(address, migrates=True)
    about = {"id": HOSTILE, "branch": "'; --", "commit": HOSTILE, "message": HOSTILE}
    used = Usage(1, 1, model=HOSTILE)
    write_run(tmp_path / "0", 0, {HOSTILE: [1.0]}, suite=HOSTILE, cases=[HOSTILE], usage=used, **about)
    assert import_folders(store, [tmp_path / "0"], RunSource("'; DROP TABLE runs", key=HOSTILE)).added == 1
    ((suite, evaluator, _),) = list_series(store, RunFilter())
    assert suite == HOSTILE.replace("\0", "\ufffd")
    assert len(load_trend(store, suite, evaluator, RunFilter(branch="'; --"))) == 1
    assert [row.case for row in load_case(store, "x'; DROP", RunFilter())] == [suite]
    assert load_flaky(store, RunFilter(project="' OR 1 = 1 --"), suite="' OR 1 = 1 --") == []
    assert load_costs(store, "model", RunFilter(project="'; DROP TABLE runs"))[0].group == suite
    assert store.query("SELECT COUNT(*) FROM runs", {}) == [(1,)]
    store.close()


def test_killed_writers_lose_and_duplicate_nothing(tmp_path: Path, cluster: Cluster, address: str) -> None:
    PostgresHistory(address, migrates=True).close()
    folder = write_runs(tmp_path / "runs", 48, cases=200)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    source = random.Random(3)

    def start(step: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WRITER, address, str(folder), str(step)]
        return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    # Each writer takes the runs from the start or from the end, so that all of them meet at the same runs.
    writers = [start(1 if index % 2 else -1) for index in range(8)]
    for index, writer in enumerate(writers):
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        if index < 6:
            time.sleep(source.random() * 0.3)
            writer.send_signal(signal.SIGKILL)
    errors = [writer.communicate(timeout=300)[1] for writer in writers]
    assert [writer.returncode for writer in writers[6:]] == [0, 0], "\n".join(errors)
    counts = cluster.execute(
        address.rpartition("/")[2],
        "SELECT (SELECT COUNT(*) FROM runs), (SELECT COUNT(*) FROM trials), (SELECT COUNT(*) FROM scores),"
        " (SELECT COUNT(*) FROM (SELECT DISTINCT run_id, case_id, evaluator_id, repeat FROM scores) s),"
        " (SELECT COUNT(*) FROM series), (SELECT COUNT(*) FROM cases)",
    )
    assert counts == [(48, 48 * 200, 48 * 400, 48 * 400, 96, 200)]


def test_writers_that_start_a_month_together_find_one_partition(tmp_path: Path, address: str) -> None:
    stores = [PostgresHistory(address, migrates=True) for _ in range(8)]
    for number in range(3):
        write_run(tmp_path / str(number), number * 31, {"exact": [1.0]})
        runs = [read_rows(tmp_path / str(number), SOURCE)]
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(PostgresHistory.add_runs, stores, [runs] * 8)) == 1
    for store in stores:
        store.close()


def test_a_server_that_restarts_is_tried_again(tmp_path: Path, cluster: Cluster, address: str) -> None:
    store = PostgresHistory(address, migrates=True)
    folders = list_run_folders(write_runs(tmp_path / "runs", 2))
    cluster.stop("fast")
    cluster.start()
    assert import_folders(store, folders, SOURCE).added == 2
    assert len(load_trend(store, "bot", "exact", RunFilter())) == 2
    cluster.stop("fast")
    try:
        with pytest.raises(HistoryError, match="can't be used"):
            store.find_known([1])
    finally:
        cluster.start()
    assert len(load_trend(store, "bot", "exact", RunFilter())) == 2
    store.close()


def test_the_password_is_in_no_error(tmp_path: Path, cluster: Cluster, address: str) -> None:
    PostgresHistory(address, migrates=True).close()
    invalid = [
        address.replace(ENCODED, quote("wr0ng/" + PASSWORD, safe="")),
        address.replace(f":{cluster.port}", ":1"),
        address.replace("127.0.0.1", f"{ENCODED}.invalid"),
        f"{address}?sslmode={ENCODED}",
        f"{address}?{ENCODED}=1",
        address.replace(ENCODED, f"{ENCODED}%zz"),
        address.replace("postgresql://", f"{ENCODED}://"),
        address.replace("@127", f"@{PASSWORD}@127"),
    ]
    for each in invalid:
        with pytest.raises((HistoryError, UsageError)) as caught:
            PostgresHistory(each)
        text = "".join(traceback.format_exception(caught.value, chain=False))
        assert PASSWORD not in text, text
        assert ENCODED not in text, text
        environ = {"PATH": os.environ["PATH"], "SCOREGATE_HISTORY": each}
        outcome = run_cli(
            "history", "flaky", cwd=tmp_path, environ={**environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        )
        assert outcome.returncode == 2
        assert PASSWORD not in outcome.stdout + outcome.stderr
        assert ENCODED not in outcome.stdout + outcome.stderr


def test_a_writer_needs_no_right_to_create_and_a_reader_none_to_write(
    tmp_path: Path, cluster: Cluster, address: str
) -> None:
    database = address.rpartition("/")[2]
    folders = [write_run(tmp_path / "0", 0, {"exact": [1.0]})]
    with pytest.raises(HistoryError, match="has no tables"):
        PostgresHistory(address)
    PostgresHistory(address, migrates=True).close()
    PostgresHistory(address, migrates=True).close()
    for name in ("ci", "guest"):
        cluster.execute(database, f"CREATE USER {name} PASSWORD 'word-of-{name}'")
    cluster.execute(
        database,
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO ci, guest",
        "GRANT INSERT ON ALL TABLES IN SCHEMA public TO ci",
        "GRANT EXECUTE ON FUNCTION scoregate_add_month, scoregate_trim_bases TO ci",
    )
    guest = PostgresHistory(cluster.address(database, user="guest", password="word-of-guest"))
    with pytest.raises(HistoryError, match="permission denied"):
        import_folders(guest, folders, SOURCE)
    writer = PostgresHistory(cluster.address(database, user="ci", password="word-of-ci"))
    assert import_folders(writer, folders, SOURCE).added == 1
    assert len(load_trend(guest, "bot", "exact", RunFilter())) == 1
    for store in (guest, writer):
        with pytest.raises(HistoryError, match="permission denied"):
            store.query("DELETE FROM runs", {})
        store.close()


def test_tables_of_a_newer_version_are_refused(cluster: Cluster, address: str) -> None:
    PostgresHistory(address, migrates=True).close()
    cluster.execute(address.rpartition("/")[2], "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(HistoryError, match="Update scoregate"):
        PostgresHistory(address)


def test_the_commands_use_the_shared_history(tmp_path: Path, address: str) -> None:
    write_runs(tmp_path / "runs", 4)
    environ = make_environment(address)

    def history(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_cli("history", *arguments, cwd=tmp_path, environ=environ)

    refusal = history("import", "runs")
    assert (refusal.returncode, "Run `scoregate history upgrade`" in refusal.stderr) == (2, True)
    assert history("upgrade").stdout.endswith("its tables are those that this version needs\n")
    assert f"4 runs added to {tmp_path.name}" in history("import", "runs").stdout
    assert "judge-1" not in history("trend", "bot", "helpful").stdout
    assert history("trend", "bot", "helpful").stdout.count("main@") == 4
    assert "case-" in history("flaky").stdout
    assert history("import", "runs", "--rebuild").returncode == 2
    assert not (tmp_path / ".scoregate-cache").exists()
