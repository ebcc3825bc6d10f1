"""Reports that are written at the same time read each case once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_run, view_of

from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.job.publish.delivery import PublishTarget
from scoregate.kernel.job.publish.files import CasesReader, SharedCases, publish_files
from scoregate.kernel.job.reports import load_renderers
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.cases import CaseResult

CASES = [CaseResult(0, f"case {number}") for number in range(9_999)]


@dataclass
class Source:
    """Cases that can be read several times, with a count of reads."""

    parsed: int = 0
    breaks_at: int | None = None

    def read(self) -> Iterator[CaseResult]:
        for number, case in enumerate(CASES):
            if number == self.breaks_at:
                raise OSError(5, "Input/output error")
            self.parsed += 1
            yield case


def test_close_readers_parse_each_case_once() -> None:
    source = Source()
    shared = SharedCases(source.read)
    first, second = CasesReader(shared), CasesReader(shared)
    pairs = list(zip(first.read(), second.read(), strict=True))
    assert [one for one, _ in pairs] == [other for _, other in pairs] == CASES
    assert first.position == second.position == len(CASES)
    assert source.parsed == len(CASES)


@pytest.mark.parametrize("lead", [1, 999, 1_000, 1_001, 5_000, 9_999])
def test_a_slow_reader_reads_everything(lead: int) -> None:
    source = Source()
    shared = SharedCases(source.read)
    ahead, behind = CasesReader(shared).read(), CasesReader(shared).read()
    read = [next(ahead) for _ in range(lead)]
    assert list(behind) == CASES
    assert [*read, *ahead] == CASES
    assert list(CasesReader(shared).read()) == CASES


def test_unreadable_cases_do_not_end_reading() -> None:
    shared = SharedCases(Source(breaks_at=600).read)
    first, second = CasesReader(shared).read(), CasesReader(shared).read()
    for reader in (first, second):
        with pytest.raises(OSError, match="Input/output"):
            list(reader)


def test_all_reports_of_a_run_read_its_cases_once(tmp_path: Path) -> None:
    trials = [Trial(f"case {number}", [Score("e", 1.0)]) for number in range(6_000)]
    view, parsed = view_of(make_run(ExampleSuite("demo", trials))), 0

    def count_cases() -> Iterator[CaseResult]:
        nonlocal parsed
        for case in view.trials.read():
            parsed += 1
            yield case

    own_view = replace(view, trials=replace(view.trials, read=count_cases))
    target = PublishTarget(tmp_path, load_renderers(), redact_chunks=Redactor().stream)
    assert anyio.run(publish_files, own_view, target).warnings == ()
    assert parsed == len(trials)
    for name, render in load_renderers().items():
        assert (tmp_path / name).read_text() == "".join(render(view)), name


def test_a_report_that_stops_does_not_block_others(tmp_path: Path) -> None:
    def read_some(view: ReportView) -> Iterator[str]:
        yield next(view.trials.read()).hash

    def read_all(view: ReportView) -> Iterator[str]:
        yield from (f"{case.hash}\n" for case in view.trials.read())

    view = view_of(make_run(ExampleSuite("demo", [Trial("c")])))
    view = replace(view, trials=replace(view.trials, read=Source().read))
    anyio.run(publish_files, view, PublishTarget(tmp_path, {"some": read_some, "all": read_all}))
    assert (tmp_path / "some").read_text() == "case 0"
    assert (tmp_path / "all").read_text().splitlines() == [case.hash for case in CASES]
