"""The pages with the texts of the listed trials of both runs, the worst cases with the most text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoregate.kernel.report.cases import describe_confirmation
from scoregate.kernel.report.html.case_list import CaseEntry
from scoregate.kernel.report.html.media import PageMedia
from scoregate.kernel.report.html.page_process import start_page_process
from scoregate.kernel.report.html.side_pages import SAMPLES, CaseId, SidePages, TrialIndex
from scoregate.kernel.report.html.text_budget import text_limits
from scoregate.kernel.report.view import ReportView


@dataclass(slots=True)
class TrialPages:
    """The pages of the run (`now`) and of the baseline (`before`). `tries` holds the results of rerunning cases."""

    now: SidePages
    before: SidePages
    tries: Mapping[tuple[str, str], str]

    def title(self, case: CaseId) -> tuple[str, str]:
        """The title and the preview of a case; empty if no trial of it can be read."""
        return self.now.titles.get(case) or self.before.titles.get(case, ("", ""))

    def samples(self, case: CaseId) -> dict[str, dict[str, Any]]:
        """A trial of one of the worst cases in each run."""
        sides = {"now": self.now.samples, "before": self.before.samples}
        return {name: trials[case] for name, trials in sides.items() if case in trials}

    def join_media(self) -> PageMedia:
        """The images and audio of both runs."""
        self.now.media.add(self.before.media)
        return self.now.media


def plan_pages(view: ReportView, listed: Sequence[CaseEntry]) -> TrialPages:
    """Plan the pages of these cases, the worst first."""
    now = TrialIndex({at: (at, paired_suite.now) for at, paired_suite in enumerate(view.paired_suites)})
    paired = ((at, paired_suite.base_index, paired_suite.before) for at, paired_suite in enumerate(view.paired_suites))
    before = TrialIndex({index: (at, old) for at, index, old in paired if index is not None and old is not None})
    for rank, entry in enumerate(listed):
        for row in entry.now:
            now.ranks[entry.suite][row] = rank
        for row in entry.before:
            before.ranks[entry.suite][row] = rank
    context = view.context
    limits = text_limits(sum(len(entry.now) + len(entry.before) for entry in listed))
    titled = frozenset(rank for rank, entry in enumerate(listed) if rank < SAMPLES or not entry.now)
    return TrialPages(
        SidePages(now, 0, limits, context.show_outputs, context.redact),
        SidePages(before, 1, limits, context.show_outputs, context.redact, titled),
        {(each.suite, each.case): describe_confirmation(each) for each in view.confirmations},
    )


def write_pages(view: ReportView, pages: TrialPages) -> Iterator[str]:
    """Yield the pages while the cases are read, those of the run first.

    A second process makes those of a large baseline at the same time.
    """
    with start_page_process(pages.before, view.trials.read_base) as process:
        yield from pages.now.write(view.trials.read())
        if process is None or not process.wait():
            yield from pages.before.write(view.trials.read_base())
            return
        for part in process.read_output():
            if isinstance(part, str):
                yield part
            else:
                pages.before = part
