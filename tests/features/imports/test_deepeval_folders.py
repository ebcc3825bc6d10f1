"""The files of deepeval's test runs: which are found, which are read, and in which order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import pytest

from scoregate.errors import ImportFailed
from scoregate.features.imports import deepeval_runs
from scoregate.features.imports.appended_files import EarlierContents
from scoregate.features.imports.deepeval_runs import (
    VARIABLE,
    ResultsFolder,
    check_missing_tests,
    open_results_folder,
    read_outcomes,
    select_test_runs,
)
from scoregate.kernel.run.plan import Launch, ResultImport, SourceKind, SuiteSource
from scoregate.kernel.types.test_outcomes import TestOutcome, TestOutcomes

RUN = "test_run_20260105_120000{0}.json"


def write(path: Path, data: bytes = b"{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def open_path(path: Path) -> BinaryIO:
    return path.open("rb")


def make_folder(tmp_path: Path) -> ResultsFolder:
    return ResultsFolder(tmp_path / "runs", {}, tmp_path / "project", tmp_path / "outcomes")


def test_test_runs_are_found_four_folders_deep(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    found = [
        write(folder.path / RUN.format("")),
        write(folder.path / "20260105_120000"),
        write(folder.cwd / "a" / "b" / "c" / "d" / RUN.format("_2")),
    ]
    for other in (
        "test_run.json",
        RUN.format("").upper(),
        f"x{RUN.format('')}",
        "20260105_120000.json",
        ".latest_run_full.json",
    ):
        write(folder.path / other)
    write(folder.cwd / "a" / "b" / "c" / "d" / "e" / RUN.format(""))
    for skipped in (".git", ".venv", "venv", ".tox", ".nox", "node_modules", "__pycache__"):
        write(folder.cwd / skipped / RUN.format(""))
    (folder.cwd / "linked").symlink_to(folder.path)
    (folder.cwd / RUN.format("_3")).symlink_to(found[0])
    assert sorted(folder.list_files()) == sorted([*found, folder.cwd / RUN.format("_3")])
    assert ResultsFolder(tmp_path / "none", {}, tmp_path / "nowhere", tmp_path).list_files() == []


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path)
    monkeypatch.setattr(deepeval_runs, "_MOST_FILES", 2)
    for number in (1, 2):
        write(folder.path / RUN.format(f"_{number}"))
    assert len(folder.list_files()) == 2
    write(folder.path / "other")
    with pytest.raises(ImportFailed, match="more than 2 files"):
        folder.list_files()


def make_launch(cwd: Path, *formats: str) -> Launch:
    imports = tuple(ResultImport(each, "x") for each in formats)
    source = SuiteSource("evals", SourceKind.COMMAND, imports=imports)
    return Launch("evals", ("true",), cwd, SourceKind.COMMAND, source)


def test_a_launch_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    launch = make_launch(tmp_path / "project", "junit", "deepeval")
    outcomes = tmp_path / "events" / "test_outcomes.json"
    made = open_results_folder(launch, {VARIABLE: " "}, tmp_path, None)
    path = tmp_path / "deepeval"
    assert made == ResultsFolder(path, {VARIABLE: str(path)}, launch.cwd, outcomes)
    assert path.stat().st_mode & 0o777 == 0o700
    own = open_results_folder(launch, {VARIABLE: " results "}, tmp_path, None)
    assert own == ResultsFolder(launch.cwd / "results", {}, launch.cwd, outcomes)
    assert open_results_folder(make_launch(tmp_path, "junit"), {VARIABLE: "results"}, tmp_path, None) is None


def test_each_test_run_is_read_once_in_the_order_of_writing(tmp_path: Path) -> None:
    runs = [write(tmp_path / RUN.format(each), each.encode()) for each in ("_10", "", "_9")]
    other = write(tmp_path / "own.json")
    selected, others = select_test_runs([*runs, other, runs[0], tmp_path / "." / runs[1].name], open_path)
    assert [path.name for path in selected] == [RUN.format(each) for each in ("", "_9", "_10")]
    assert others == [other]


def test_the_latest_run_is_no_other_run_if_it_is_one_of_them(tmp_path: Path) -> None:
    first, last = (write(tmp_path / RUN.format(each), data) for each, data in (("", b"first"), ("_2", b"other")))
    latest = write(tmp_path / ".deepeval" / ".latest_run_full.json", b"other")
    assert select_test_runs([first, last, latest], open_path) == ([first, last], [])
    for data in (b"wrong", b"others", b"othe"):
        latest.write_bytes(data)
        with pytest.raises(
            ImportFailed, match=r"'.deepeval/.latest_run_full.json' keeps only .* and that run is not in"
        ):
            select_test_runs([first, last, latest], open_path)
    with pytest.raises(ImportFailed, match=r"keeps only .* and the folder DEEPEVAL_RESULTS_FOLDER has no test run"):
        select_test_runs([latest], open_path)


def test_large_files_are_compared_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deepeval_runs, "_CHUNK", 4)
    run, latest = (
        write(tmp_path / RUN.format(""), b"0123456789"),
        write(tmp_path / ".latest_run_full.json", b"0123456789"),
    )
    assert select_test_runs([run, latest], open_path) == ([run], [])
    latest.write_bytes(b"0123456780")
    with pytest.raises(ImportFailed):
        select_test_runs([run, latest], open_path)


def test_a_version_that_keeps_one_run_is_refused(tmp_path: Path) -> None:
    old = write(tmp_path / "20260105_120000")
    with pytest.raises(
        ImportFailed, match="'20260105_120000' was written by a version of deepeval that keeps only one"
    ):
        select_test_runs([old], open_path)


def test_outcomes_are_read_if_the_plugin_wrote_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path)
    assert read_outcomes(None, open_path) is read_outcomes(folder, open_path) is None
    line = TestOutcome("a.py::test_a", "why").to_line()
    write(folder.outcomes, line)
    outcomes = read_outcomes(folder, open_path)
    assert outcomes is not None
    assert outcomes.list_missing() == ["a.py::test_a"]
    monkeypatch.setattr(deepeval_runs, "_LARGEST_OUTCOMES", len(line))
    assert read_outcomes(folder, open_path) is not None
    monkeypatch.setattr(deepeval_runs, "_LARGEST_OUTCOMES", len(line) - 1)
    with pytest.raises(ImportFailed, match=r"test_outcomes\.json is larger than"):
        read_outcomes(folder, open_path)
    monkeypatch.undo()
    for damaged in (b"{", b"[" * 100_000, b'["a"]\n'):
        write(folder.outcomes, damaged)
        with pytest.raises(ImportFailed, match=r"test_outcomes\.json can't be read"):
            read_outcomes(folder, open_path)


def test_failed_tests_without_a_case_are_named() -> None:
    def check(*outcomes: TestOutcome) -> list[str]:
        return [
            error.message
            for error in check_missing_tests(TestOutcomes.parse(b"".join(each.to_line() for each in outcomes)))
        ]

    assert check(TestOutcome("a"), TestOutcome("b", "why", ("case",)), TestOutcome("c", "why", is_recorded=True)) == []
    (one,) = check(TestOutcome("a.py::test_a", "why"))
    assert one.startswith("1 failed test has no metric, so the results of deepeval lack them: a.py::test_a. Mark")
    (many,) = check(*(TestOutcome(f"t{number}", "why") for number in range(6)))
    assert many.startswith(
        "6 failed tests have no metric, so the results of deepeval lack them: t0, t1, t2, t3, t4. Mark"
    )


def test_contents_from_before_a_command_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, grown, changed = (write(tmp_path / name, b"one\n") for name in ("kept", "grown", "changed"))
    empty, removed = write(tmp_path / "empty", b""), write(tmp_path / "removed", b"one\n")
    paths = [kept, grown, changed, empty, removed, tmp_path / "new", tmp_path]
    before = EarlierContents.read(paths)
    assert before.files.keys() == {kept, grown, changed, removed}
    grown.write_bytes(b"one\ntwo\n")
    changed.write_bytes(b"two\none\n")
    write(tmp_path / "new", b"one\n")
    write(empty, b"one\n")
    removed.unlink()
    os.mkfifo(removed)
    (notice,) = before.describe_appended(paths)
    assert notice.startswith("'grown' begins with everything that it held before the command.")
    monkeypatch.setattr("scoregate.features.imports.appended_files._MOST_BYTES", 7)
    assert EarlierContents.read([grown, kept]).files.keys() == {kept}
    monkeypatch.setattr("scoregate.features.imports.appended_files._MOST_BYTES", 8)
    assert EarlierContents.read([grown, kept]).files.keys() == {grown, kept}
