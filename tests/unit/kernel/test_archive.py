"""A run on disk: it round-trips, and readers see all of it or nothing."""

from __future__ import annotations

import gzip
import json
import random
import resource
from dataclasses import fields, replace
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.runs import change_run

from scoregate.errors import RecordError
from scoregate.kernel.judge.archive import RunWriter, read_run, run_folder
from scoregate.kernel.judge.archive.run_json import SUITE_FIELDS
from scoregate.kernel.types.evaluation import Assertion, Evaluation, Label, Threshold, Usage
from scoregate.kernel.types.event_values import (
    ErrorInfo,
    EvaluatorInfo,
    Fingerprint,
    HumanReviewField,
    HumanReviewFieldContentType,
    Origin,
    PairwiseComparison,
)
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.reducer import add_undeclared
from scoregate.kernel.types.runs.reuse import REUSED_FROM, ReusedRun
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, RunInfo, Script, SuiteResult
from scoregate.kernel.types.runs.run_scope import RunScope
from scoregate.kernel.types.slots import NO_SLOTS, Slot

FULL = CaseResult(
    0,
    "a1",
    2,
    "a name",
    {"q": [1, None, 2.5]},
    {"answer": None, "é": "\u2028"},
    True,
    1.25,
    3,
    "d1",
    ("critical",),
    "talk",
    {
        "plain": Evaluation(0.5),
        "full": Evaluation(
            1.0,
            Threshold(gte=0.5, lt=2),
            {"why": ["x"]},
            (Assertion("polite", True, False, {"m": 1}), Assertion("true", False, True)),
            Usage(1, 2, 3, 0.25, "m-1"),
        ),
    },
    [CaseError(ErrorInfo("E", "message", "trace", "advice"), "judge"), CaseError(ErrorInfo("F", "task"))],
    ("left out",),
    ("waits",),
    Usage(7, 8),
    {"trace_id": "t", "spans": [{"name": "ask"}]},
    {"plain": Label("odd"), "full": Label("kind", {"why": ["x"]}, Usage(1, 2, 3, 0.25, "m-1"))},
    Origin("evals/refunds.csv", 12),
    {"waits": PairwiseComparison("old", "new", "what counts", Threshold(gte=0.5))},
    "an earlier run",
    "item-7",
    (HumanReviewField("question", "*why*", HumanReviewFieldContentType.MARKDOWN),),
    (HumanReviewField("answer", "so"),),
)


def make_run(count: int = 1, **changes: Any) -> Run:
    suites = tuple(SuiteResult(f"s{index}", f"s{index}", complete=True) for index in range(count))
    return change_run(Run("id", 1.0, RunEnd(2.5, complete=True), RunCode("0.1"), suites=suites), **changes)


def write(folder: Path, cases: list[CaseResult], run: Run | None = None) -> Run:
    run = run or make_run(1 + max((case.suite for case in cases), default=0))
    columns = [Columns() for _ in run.suites]
    with RunWriter(folder) as writer:
        for case in cases:
            writer.add(case)
            columns[case.suite].add(case)
        suites = (suite.with_columns(each) for suite, each in zip(run.suites, columns, strict=True))
        return writer.finish(replace(run, suites=tuple(suites)))


def make_cases(count: int, suite: int = 0) -> list[CaseResult]:
    return [
        CaseResult(suite, f"h{index}", evaluations={"e": Evaluation(1.0, Threshold(gte=0.5))}) for index in range(count)
    ]


def are_equal(one: Run, other: Run) -> bool:
    """Compare two runs with their undeclared evaluators, which a stored run names."""
    bare = (
        replace(run, read=None, read_inputs=None, read_media=None, suites=tuple(map(bare_suite, run.suites)))
        for run in (one, other)
    )
    return repr(next(bare)) == repr(next(bare))


def bare_suite(suite: SuiteResult) -> SuiteResult:
    return replace(
        suite, trials=replace(suite.trials, read=None), evaluators=add_undeclared(suite.evaluators, suite.columns)
    )


def test_a_full_case_has_every_field() -> None:
    empty = CaseResult(0, "")
    alike = [field.name for field in fields(FULL) if getattr(FULL, field.name) == getattr(empty, field.name)]
    assert alike == ["suite"]


def test_a_run_round_trips(tmp_path: Path) -> None:
    suite = SuiteResult(
        "s",
        "s (a.py)",
        Origin("a.py", 3),
        "a.py",
        {"e": EvaluatorInfo("e", Fingerprint("1", "2", "3", "m"), higher_is_better=False)},
        {"model": "x", "k": 1},
        4,
        errors=(ErrorInfo("E", "m"),),
        reviews=("review",),
        complete=True,
        assertion_failed=True,
        duration_s=1.5,
        usage=Usage(3, 4, cost=0.5),
        skipped=True,
        unfinished=2,
    )
    script = Script(
        "a.py",
        ("python", "a.py"),
        -9,
        timed_out=True,
        duration_s=2.0,
        error=ErrorInfo("K", "killed"),
        expected=("s",),
        usage=Usage(3, cost=0.5, calls=2, stored=1, unpriced="b"),
    )
    run = make_run(
        message="hi\n",
        commit="c" * 40,
        branch="main",
        dirty=True,
        attempt=2,
        suites=(suite,),
        scripts=(script,),
        notices=("one",),
        policy={"default": {"min_pass_rate": 1.0}},
        filters=("s*",),
    )
    written = write(tmp_path / "run", [FULL, *make_cases(2)], run)
    stored_run = read_run(tmp_path / "run")
    assert are_equal(stored_run, written)
    assert list(stored_run.cases) == list(written.cases) == [FULL, *make_cases(2)]
    assert list(stored_run.suites[0].cases) == [FULL, *make_cases(2)]


def test_run_json_has_every_field(tmp_path: Path) -> None:
    write(tmp_path, make_cases(1))
    stored = json.loads((tmp_path / "run.json").read_text(encoding="utf-8")).keys() | {"dependencies", "history"}
    parts = {each.name for part in (RunCode, RunEnd, RunScope) for each in fields(part)}
    assert {each.name for each in fields(RunInfo)} - {"code", "end", "scope"} | parts <= stored
    assert {each.name for each in fields(SuiteResult)} - {*SUITE_FIELDS} == {"trials"}


def test_slots_that_were_fields_keep_their_place_in_run_json(tmp_path: Path) -> None:
    reused = ReusedRun("a", 1.0, 2.0)
    write(tmp_path, make_cases(1))
    empty = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    write(tmp_path, make_cases(1), make_run(slots=NO_SLOTS.put(Slot("newer", int), 1).put(REUSED_FROM, reused)))
    full = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert list(empty)[-4:] == ["reused_from", "model_calls", "shard", "estimate"]
    assert (empty["reused_from"], empty["estimate"]) == (None, None)
    assert list(full) == [*empty, "newer"]
    assert full["reused_from"] == {"id": "a", "started": 1.0, "finished": 2.0, "attempt": 1}
    assert read_run(tmp_path).slots.get(REUSED_FROM) == reused


def test_run_json_has_totals_of_cases(tmp_path: Path) -> None:
    write(tmp_path, make_cases(3))
    head = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert head["cases"] == head["suites"][0]["statuses"]["passed"] == 3
    assert head["schema_version"] == 1


def test_suites_read_their_own_cases_in_order(tmp_path: Path) -> None:
    mixed = [case for pair in zip(make_cases(5), make_cases(5, 1), strict=True) for case in pair]
    stored_run = read_run(write(tmp_path, mixed) and tmp_path)
    assert [case.suite for case in stored_run.cases] == [0, 1] * 5
    for index in (0, 1):
        assert [case.hash for case in stored_run.suites[index].cases] == stored_run.suites[index].columns.hashes
        assert {case.suite for case in stored_run.suites[index].cases} == {index}


@pytest.mark.parametrize("name", [".", "run", "run/run.json", "run/cases.jsonl.gz"])
def test_a_run_is_found_by_any_of_its_names(tmp_path: Path, name: str) -> None:
    write(tmp_path / "run", [])
    assert run_folder(tmp_path / name) == tmp_path / "run"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SCORES = st.floats(0, 1)
CASES = st.builds(
    CaseResult,
    suite=st.integers(0, 1),
    hash=st.text(),
    repeat=st.integers(0, 3),
    name=st.text(),
    input=JSON,
    output=JSON,
    truncated=st.booleans(),
    duration_ms=st.none() | st.floats(0, 1e9),
    attempts=st.integers(1, 5),
    tags=st.lists(st.text(), max_size=2).map(tuple),
    cluster=st.none() | st.text(),
    origin=st.none() | st.builds(Origin, st.text(), st.integers(-1, 10**6)),
    evaluations=st.dictionaries(st.text(), st.builds(Evaluation, SCORES, metadata=st.none() | JSON), max_size=3),
    usage=st.none() | st.builds(Usage, st.integers(0, 10**6), st.integers(0, 10**6), cost=st.none() | st.floats(0, 10)),
)


@pytest.mark.parametrize(
    "given",
    [
        b'"score":NaN',
        b'"score":null',
        b'"score":1e999',
        b'"score":1.5',
        b'"score":"0.5"',
        b'"score":true',
        b'"score":1,"threshold":{"above":1}',
        b'"score":1,"assertions":[{"criterion":1}]',
    ],
)
def test_an_invalid_score_is_an_error_of_its_evaluator(tmp_path: Path, given: bytes) -> None:
    line = b'{"suite":0,"hash":"x","duration_ms":NaN,"evaluations":{"good":{"score":1},"bad":{' + given + b"}}}"
    columns = write_damaged(tmp_path, line).suites[0].columns
    assert (columns.score("good", 3), columns.errored) == (1.0, {"bad": {3}})
    assert isnan(columns.durations_ms[3])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(CASES, max_size=6, unique_by=lambda case: (case.suite, case.key)))
def test_any_text_of_suites_round_trips(tmp_path: Path, cases: list[CaseResult]) -> None:
    written = write(tmp_path, cases, make_run(2))
    stored_run = read_run(tmp_path)
    assert list(stored_run.cases) == cases
    assert are_equal(stored_run, written)


def test_values_without_a_json_form_are_still_written(tmp_path: Path) -> None:
    odd = CaseResult(0, "a", output=[float("nan"), b"\xff", {1, 2}, object], input="\ud800 lone", name="\udfff")
    written = write(tmp_path, [odd])
    (case,) = written.cases
    assert case.output[:3] == [None, "_w==", [1, 2]]
    assert (case.input, case.name) == ("? lone", "?")


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name, [FULL, *make_cases(50)])
    for file in ("run.json", "cases.jsonl.gz"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_the_old_run_stays_until_the_new_one_ends(tmp_path: Path) -> None:
    write(tmp_path, make_cases(1))
    with RunWriter(tmp_path) as writer:
        writer.add(CaseResult(0, "new"))
        assert read_run(tmp_path).suites[0].columns.hashes == ["h0"]
    assert read_run(tmp_path).suites[0].columns.hashes == ["h0"]
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "cases.jsonl.gz"}


def test_an_open_run_stays_readable_when_a_newer_one_replaces_it(tmp_path: Path) -> None:
    write(tmp_path, make_cases(3))
    old = read_run(tmp_path)
    write(tmp_path, make_cases(1))
    assert [case.hash for case in old.cases] == ["h0", "h1", "h2"]
    assert len(list(read_run(tmp_path).cases)) == 1


def test_two_readers_do_not_disturb_each_other(tmp_path: Path) -> None:
    run = write(tmp_path, make_cases(3000))
    pairs = zip(run.cases, run.suites[0].cases, strict=True)
    assert all(one == other for one, other in pairs)


def test_two_writers_of_one_folder_do_not_disturb_each_other(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    with RunWriter(tmp_path) as first:
        first.add(CaseResult(0, "first"))
        write(tmp_path, make_cases(2))
        first.finish(make_run())
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "cases.jsonl.gz", "mine.txt"}
    assert [case.hash for case in read_run(tmp_path).cases] == ["first"]


def test_an_uncreatable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="--out"):
        RunWriter(tmp_path / "file" / "run")


def test_a_full_disk_is_reported_and_keeps_the_old_run(tmp_path: Path) -> None:
    write(tmp_path, make_cases(1))
    large = (CaseResult(0, f"h{index}", output=random.Random(index).randbytes(10_000)) for index in range(100))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(RecordError, match=r"can't be written to .*: File too large"):
            write(tmp_path, list(large))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "cases.jsonl.gz"}
    assert read_run(tmp_path).suites[0].columns.hashes == ["h0"]


def write_damaged(folder: Path, *lines: bytes) -> Run:
    """A run of three good cases, with these lines after them."""
    write(folder, make_cases(3))
    good = gzip.decompress((folder / "cases.jsonl.gz").read_bytes())
    (folder / "cases.jsonl.gz").write_bytes(gzip.compress(good + b"".join(line + b"\n" for line in lines)))
    return read_run(folder)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"suite":0}',
        b'{"suite":true,"hash":"x"}',
        b'{"suite":7,"hash":"x"}',
        b'{"suite":-1,"hash":"x"}',
        b'{"suite":0,"hash":3}',
        b'{"suite":0,"hash":"x","repeat":99999999999999999999}',
        b'{"suite":0,"hash":"x","duration_ms":1' + b"0" * 400 + b"}",
        b'{"suite":0,"hash":"x","tags":"abc"}',
        b'{"suite":0,"hash":"x","evaluations":{"e":3}}',
        b'{"suite":0,"hash":"x","evaluations":[1]}',
        b'{"suite":0,"hash":"x","errors":[{"error":{"type":1,"message":"m"}}]}',
        b'{"suite":0,"hash":"x","usage":{"input_tokens":-1}}',
    ],
)
def test_an_invalid_case_line_is_a_notice(tmp_path: Path, line: bytes) -> None:
    run = write_damaged(tmp_path, line, b'{"suite":0,"hash":"last"}')
    assert any("1 lines are not valid cases; the first is line 4" in notice for notice in run.notices)
    assert not run.end.complete
    assert [case.hash for case in run.suites[0].cases] == run.suites[0].columns.hashes == ["h0", "h1", "h2", "last"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_line_breaks_the_reader(tmp_path: Path, line: bytes) -> None:
    assert write_damaged(tmp_path, line).suites[0].columns.hashes[:3] == ["h0", "h1", "h2"]


def test_an_endless_line_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.kernel.judge.archive.cases.MAX_LINE_BYTES", 1000)
    run = write_damaged(tmp_path, b'{"suite":0,"hash":"' + b"x" * 5000 + b'"}', b'{"suite":0,"hash":"last"}')
    assert "line 4: longer than" in " ".join(run.notices)
    assert run.suites[0].columns.hashes[-1] == "last"


def test_a_duplicate_case_counts_once(tmp_path: Path) -> None:
    run = write_damaged(tmp_path, b'{"suite":0,"hash":"h1"}')
    assert any("1 cases appear twice" in notice for notice in run.notices)
    assert not run.end.complete
    assert len(run.suites[0].columns) == len(list(run.cases)) == 3


def test_lines_of_other_writers_are_read(tmp_path: Path) -> None:
    run = write_damaged(tmp_path, b'{ "hash": "x", "suite": 0 }', b'{"suite": 0, "hash": "y"}')
    assert [case.hash for case in run.suites[0].cases] == run.suites[0].columns.hashes == ["h0", "h1", "h2", "x", "y"]


def test_a_changed_file_is_reported(tmp_path: Path) -> None:
    assert any(
        "has changed since" in notice for notice in write_damaged(tmp_path, b'{"suite":0,"hash":"added"}').notices
    )


def test_a_truncated_file_keeps_its_cases(tmp_path: Path) -> None:
    write(tmp_path, [replace(case, input=str(hash(case.hash))) for case in make_cases(20_000)])
    path = tmp_path / "cases.jsonl.gz"
    data = path.read_bytes()
    for kept in (0.9, 0.5, 0.01, 0):
        path.write_bytes(data[: int(len(data) * kept)])
        run = read_run(tmp_path)
        assert (run.end.complete, run.suites[0].complete) == (False, False)
        assert any("are missing" in notice for notice in run.notices)
        assert len(list(run.cases)) == len(run.suites[0].columns) == pytest.approx(20_000 * kept, rel=0.2, abs=300)


def test_a_truncated_small_file_keeps_its_cases(tmp_path: Path) -> None:
    write(tmp_path, [replace(case, input=str(hash(case.hash))) for case in make_cases(40)])
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])
    run = read_run(tmp_path)
    assert 20 < len(run.suites[0].columns) < 40
    assert len(list(run.cases)) == len(run.suites[0].columns)


def test_an_uncompressed_file_is_reported(tmp_path: Path) -> None:
    write(tmp_path, make_cases(3))
    (tmp_path / "cases.jsonl.gz").write_bytes(b"hello")
    run = read_run(tmp_path)
    assert not run.end.complete
    assert any("cut off or damaged" in notice for notice in run.notices)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 2}, "has schema version 2; this scoregate reads versions up to 1"),
        ({"id": 3}, "is damaged: id"),
        ({"suites": [{}]}, r"is damaged: suites\.0\.id"),
        ({"started": "soon"}, "is damaged: started"),
        ({"schema_version": "one"}, "is damaged: schema_version: Input should be a valid integer"),
        ({"reused_from": {"id": 5}}, r"is damaged: reused_from\.id: Input should be a valid string"),
    ],
)
def test_an_unreadable_run_json_is_an_error(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write(tmp_path, make_cases(1))
    head = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    (tmp_path / "run.json").write_text(json.dumps(head | change), encoding="utf-8")
    with pytest.raises(RecordError, match=message) as exc_info:
        read_run(tmp_path)
    assert exc_info.value.advice


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"null"])
def test_an_invalid_run_json_is_an_error(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, make_cases(1))
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(RecordError, match=r"run\.json is damaged"):
        read_run(tmp_path)


def test_missing_files_are_reported_with_advice(tmp_path: Path) -> None:
    for path, message in ((tmp_path, "holds no run.json"), (tmp_path / "no", "does not exist")):
        with pytest.raises(RecordError, match=message) as exc_info:
            read_run(path)
        assert "scoregate run" in exc_info.value.advice
    write(tmp_path, [])
    (tmp_path / "cases.jsonl.gz").unlink()
    with pytest.raises(RecordError, match="together"):
        read_run(tmp_path)
