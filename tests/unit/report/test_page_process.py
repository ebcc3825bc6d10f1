"""A second process makes the pages of a large baseline: the report is the same with and without it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.media import GREEN, RED
from tests.unit.report.runs import CONTEXT, make_view
from tests.unit.report.test_html import read_blocks, read_index

from scoregate import Media
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.judge.archive import RunWriter, read_run
from scoregate.kernel.report.html import render, side_pages
from scoregate.kernel.report.html.side_pages import PageProcess
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.media import MediaFile
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.policy import Policy
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult

SECRET = "a password of the service"
NAME, PLACES, OLD_PLACES = 2, 15, 16


def make_case(number: int, score: float, suite: int = 0, repeat: int = 0) -> CaseResult:
    output = {0: f"the {SECRET}", 1: [Media.from_bytes(RED).reference(), Media.from_bytes(GREEN).reference()]}
    return CaseResult(
        suite,
        f"case-{number}",
        repeat,
        name=f"Case {number} with {SECRET}",
        input={"question": "why? " * 2_000 * (number == 2)},
        output=output.get(number, f"answer {number}"),
        digest="same",
        evaluations={"correct": Evaluation(score, Threshold(gte=0.5))},
    )


def store_run(folder: Path, cases: Iterable[CaseResult], *files: bytes) -> Run:
    columns = [Columns(), Columns()]
    with RunWriter(folder) as writer:
        for data in files:
            writer.add_media(MediaFile("image/png", data))
        for case in cases:
            columns[case.suite].add(case)
            writer.add(case)
        suites = tuple(
            SuiteResult(id=name, label=name, complete=True, trials=Trials(each))
            for name, each in zip(("bot", "search"), columns, strict=True)
        )
        writer.finish(Run(folder.name, 1.0, RunEnd(2.0, complete=True), RunCode("1"), suites=suites))
    return read_run(folder)


@pytest.fixture
def view(tmp_path: Path) -> ReportView:
    """A run with newly failing cases, compared with a baseline with more cases, repeats and images."""
    now = [make_case(number, number % 3 / 2) for number in range(2, 30)]
    now += [make_case(number, 1.0, suite=1) for number in range(5)]
    before = [make_case(number, 1.0, repeat=repeat) for number in range(25) for repeat in (0, 1)]
    before += [make_case(number, 1.0, suite=1) for number in range(5)]
    run = store_run(tmp_path / "run", now)
    comparison = compare(run, store_run(tmp_path / "base", before, RED, GREEN))
    redactor = Redactor()
    redactor.learn_from(f"::add-mask::{SECRET}")
    return make_view(comparison, evaluate_gates(comparison, Policy()), replace(CONTEXT, redact=redactor.text))


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each process succeeded; processes are started for small baselines, too."""
    results: list[bool] = []

    def wait(process: PageProcess) -> bool:
        results.append(waited := original(process))
        return waited

    original = PageProcess.wait
    monkeypatch.setattr(PageProcess, "wait", wait)
    monkeypatch.setattr(side_pages, "_LEAST_TRIALS", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    return results


needs_memory_files = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files in memory")


@needs_memory_files
def test_the_report_is_the_same_with_a_second_process(
    view: ReportView, results: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = "".join(render(view))
    assert results == [True]
    monkeypatch.setattr(side_pages, "_LEAST_TRIALS", sys.maxsize)
    assert "".join(render(view)) == report
    assert results == [True]

    assert SECRET not in report
    blocks = read_blocks(report)
    assert SECRET not in str(blocks)
    rows = {row[NAME]: row for row in read_index(report)}
    removed, kept = rows["Case 0 with ***"], rows["Case 7 with ***"]
    assert removed[PLACES] == []
    page, position = removed[OLD_PLACES][:2]
    assert blocks[f"page-{page}"][position]["output"] == "the ***"
    assert len(kept[OLD_PLACES]) == 4
    assert report.count('data-media="image/png"') == 2


@needs_memory_files
@pytest.mark.parametrize("executable", ["/bin/false", "/no/such/file"])
def test_a_process_that_fails_changes_nothing(
    view: ReportView, results: list[bool], monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    report = "".join(render(view))
    monkeypatch.setattr(sys, "executable", executable)
    assert "".join(render(view)) == report
    assert results == [True, False][: 2 if executable == "/bin/false" else 1]


@needs_memory_files
def test_a_report_that_is_not_finished_stops_the_process(
    view: ReportView, results: list[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexec sleep 600\n")
    script.chmod(0o755)
    processes: list[subprocess.Popen[bytes]] = []
    start = side_pages._start_process

    def record_process(*arguments: object) -> subprocess.Popen[bytes]:
        processes.append(start(*arguments))  # type: ignore[arg-type]
        return processes[-1]

    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(side_pages, "_start_process", record_process)
    parts = render(view)
    while "page-0" not in next(parts):
        pass
    (process,) = processes
    assert process.poll() is None
    parts.close()  # type: ignore[attr-defined]
    assert process.poll() is not None
    assert results == []
