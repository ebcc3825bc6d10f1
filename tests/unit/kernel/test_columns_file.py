"""The columns of a large run in a file of their own: equal to parsed cases, and used only for exactly these cases."""

import gzip
import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from scoregate.kernel.judge.archive import CASES_FILE, RunWriter, columns_file, read_run
from scoregate.kernel.judge.archive.folder import COLUMNS_FILE, RUN_FILE
from scoregate.kernel.judge.archive.rotation import rotate
from scoregate.kernel.judge.archive.run_json import read_head
from scoregate.kernel.types.evaluation import Evaluation, Label, Threshold, Usage
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo, PairwiseComparison
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_file, "LEAST_CASES", 1)
    monkeypatch.setattr(columns_file, "_ROWS", 3)


def _cases() -> list[CaseResult]:
    """Cases of two suites with every field that columns count."""
    usage = Usage(10, 5, cost=0.25, model="m", answer="a1", cached=True)
    return [
        CaseResult(0, "plain", digest="d", duration_ms=1.5, evaluations={"a": Evaluation(0.5)}),
        CaseResult(0, "late", evaluations={"b": Evaluation(1.0, Threshold(gte=0.5)), "a": Evaluation(0.0)}),
        CaseResult(0, "plain", 1, tags=("x", "ü"), cluster="c", evaluations={"a": Evaluation(1.0)}),
        CaseResult(0, "failed", evaluations={"b": Evaluation(0.1, Threshold(gt=0.5, lte=1))}),
        CaseResult(0, "stored", usage=usage, evaluations={"a": Evaluation(1.0, usage=Usage(1, 1, answer="a2"))}),
        CaseResult(0, "unpriced", usage=Usage(3, 4, model="other"), reused="earlier"),
        CaseResult(0, "error", errors=[CaseError(ErrorInfo("ValueError", "no"), "b", Usage(1, 0, cost=1.0))]),
        CaseResult(0, "unscaled", errors=[CaseError(ErrorInfo(NO_SCALE, "7"), "c")], unscored=("a", "d")),
        CaseResult(0, "label", labels={"kind": Label("good"), "other": Label("x" * 200)}),
        CaseResult(0, "waits", pending=("p",), contests={"p": PairwiseComparison("one", "two")}),
        CaseResult(1, "plain", evaluations={"z": Evaluation(0.75)}),
    ]


def _write(folder: Path, cases: list[CaseResult]) -> None:
    suites = [Columns() for _ in range(3)]
    with RunWriter(folder) as writer:
        for case in cases:
            writer.add(case)
            suites[case.suite].add(case)
        results = tuple(
            SuiteResult(f"s{index}", f"s{index}", complete=True, trials=Trials(each))
            for index, each in enumerate(suites)
        )
        writer.finish(Run("id", 1.0, RunEnd(2.0, complete=True), RunCode("0"), suites=results), with_columns=True)


def _as_text(run: Run) -> list[dict[str, str]]:
    """Columns as text: NaN differs from itself, and the order of evaluators matters."""
    return [{each.name: repr(getattr(suite.columns, each.name)) for each in fields(Columns)} for suite in run.suites]


def _sorted_sets(texts: list[dict[str, str]]) -> list[dict[str, object]]:
    return [{name: sorted(text) if "{" in text else text for name, text in suite.items()} for suite in texts]


def test_columns_equal_those_of_the_parsed_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, _cases())
    with monkeypatch.context() as patched:
        patched.setattr("scoregate.kernel.judge.archive.reader._read_cases", None)
        loaded = read_run(tmp_path)
    (tmp_path / COLUMNS_FILE).unlink()
    parsed = read_run(tmp_path)
    assert loaded.end.complete == parsed.end.complete
    assert loaded.notices == parsed.notices == ()
    assert _sorted_sets(_as_text(loaded)) == _sorted_sets(_as_text(parsed))
    assert [list(suite.columns.scores) for suite in loaded.suites] == [["a", "b", "c"], ["z"], []]
    assert list(loaded.cases) == list(parsed.cases) == _cases()


def test_columns_of_other_cases_are_not_used(tmp_path: Path) -> None:
    _write(tmp_path / "run", _cases())
    _write(tmp_path / "other", _cases()[:4])
    shutil.copy(tmp_path / "run" / COLUMNS_FILE, tmp_path / "other")
    assert len(read_run(tmp_path / "other").suites[0].columns) == 4

    # a changed line is found, as without the file
    lines = gzip.decompress((tmp_path / "run" / CASES_FILE).read_bytes()).replace(b'"score":0.5', b'"score":0.9')
    (tmp_path / "run" / CASES_FILE).write_bytes(gzip.compress(lines))
    changed = read_run(tmp_path / "run")
    assert changed.suites[0].columns.scores["a"][0] == 0.9
    assert "has changed since" in changed.notices[0]


def test_damaged_or_invalid_columns_are_not_used(tmp_path: Path) -> None:
    _write(tmp_path, _cases())
    expected, path = _as_text(read_run(tmp_path)), tmp_path / COLUMNS_FILE
    good, crc32 = path.read_bytes(), read_head(tmp_path / RUN_FILE).crc32
    assert columns_file.read_columns(tmp_path, 3, crc32) is not None
    text = gzip.decompress(good)
    first, block, *rest = text.splitlines(keepends=True)
    invalid = {
        "cut off": good[: len(good) // 2],
        "no gzip": b"{}",
        "empty": gzip.compress(b""),
        "a suite is missing": gzip.compress(first + block),
        "a block appears twice": gzip.compress(first + block + block + b"".join(rest)),
        "a number that is not a score": gzip.compress(text.replace(b"0.75", b"7.5")),
        "a column is shorter": gzip.compress(text.replace(b'"digests":["d","",""]', b'"digests":["d",""]')),
        "a row that doesn't exist": gzip.compress(text.replace(b'"cached":[4]', b'"cached":[400]')),
        "no status": gzip.compress(text.replace(b'"statuses":[3', b'"statuses":[9')),
        "another version": gzip.compress(text.replace(b'"version":2', b'"version":3')),
    }
    for what, data in invalid.items():
        assert data != gzip.compress(text), what
        path.write_bytes(data)
        assert columns_file.read_columns(tmp_path, 3, crc32) is None, what
        assert _sorted_sets(_as_text(read_run(tmp_path))) == _sorted_sets(expected), what


def test_only_large_runs_with_valid_names_have_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, [*_cases(), CaseResult(2, "lone \ud800")])
    assert not (tmp_path / COLUMNS_FILE).exists()
    _write(tmp_path, _cases())
    assert (tmp_path / COLUMNS_FILE).exists()
    monkeypatch.setattr(columns_file, "LEAST_CASES", 1_000)
    _write(tmp_path, _cases())
    assert not (tmp_path / COLUMNS_FILE).exists()


def test_the_file_moves_with_its_run(tmp_path: Path) -> None:
    _write(tmp_path / "run", _cases())
    rotate(tmp_path / "run", 1)
    (earlier,) = (tmp_path / "earlier").iterdir()
    assert (earlier / COLUMNS_FILE).is_file()
    assert len(read_run(earlier).suites[0].columns) == 10
