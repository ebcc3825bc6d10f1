"""The pages with the trials of one run, and what the index needs to know about them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias

from scoregate.kernel.judge.archive.cases_file import CasesFile, CasesReader
from scoregate.kernel.report.cases import describe_confirmation
from scoregate.kernel.report.html.assets import pack_blocks
from scoregate.kernel.report.html.case_list import CaseEntry
from scoregate.kernel.report.html.text_budget import GENEROUS_CASES, TextBudget, text_limits
from scoregate.kernel.report.html.trial import PageMedia, trial_data
from scoregate.kernel.report.text import display_name, one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult

SAMPLES = 10
CaseId: TypeAlias = tuple[int, str]
TrialRow: TypeAlias = tuple[int, int, CaseResult]
Page: TypeAlias = tuple[str, int, list[dict[str, Any]]]
_POSITIONS = 1 << 16
_PAGE = 256 * 1024
_OVERHEAD = 400
_PREVIEW = 110
_SAMPLE = 4000


class TrialIndex:
    """The trials of one run: the ranks of their cases and their positions; -1 if they are not listed.

    Args:
        columns: for each suite of the run, its number in the report and its columns.
    """

    def __init__(self, columns: Mapping[int, tuple[int, Columns]]) -> None:
        self._keys = {suite: (at, each.hashes, each.repeats) for suite, (at, each) in columns.items()}
        self.ranks = {at: array("l", [-1]) * len(each) for at, each in columns.values()}
        self.places = {at: array("l", [-1]) * len(each) for at, each in columns.values()}

    def rows(self, cases: Iterable[CaseResult]) -> Iterator[TrialRow]:
        """The listed trials with their suite and row, in the order of the rows."""
        next_rows = dict.fromkeys(self._keys, 0)
        for case in cases:
            if case.suite not in next_rows:
                continue
            at, hashes, repeats = self._keys[case.suite]
            row = next_rows[case.suite]
            next_rows[case.suite] = row + 1
            is_listed = row < len(repeats) and self.ranks[at][row] >= 0
            if is_listed and hashes[row] == case.hash and repeats[row] == case.repeat:
                yield at, row, case

    @property
    def listed(self) -> int:
        """The number of listed trials."""
        return sum(len(ranks) - ranks.count(-1) for ranks in self.ranks.values())

    def put(self, at: int, row: int, *, page: int, position: int) -> None:
        """Store the position of a trial."""
        self.places[at][row] = page * _POSITIONS + position

    def of(self, suite: int, rows: Sequence[int]) -> list[int]:
        """Page and position of each trial, in one list."""
        places = self.places[suite]
        if len(rows) == 1:
            return list(divmod(place, _POSITIONS)) if (place := places[rows[0]]) >= 0 else []
        return list(chain.from_iterable([divmod(places[row], _POSITIONS) for row in rows if places[row] >= 0]))


@dataclass(slots=True)
class SidePages:
    """The pages of one run. It can be sent to another process, which fills them.

    Attributes:
        index: the listed trials.
        number: the number of the next page. The run has even numbers, the baseline odd ones.
        limits: the most characters of a trial of the `GENEROUS_CASES` that changed most, and of the others.
        show_outputs: whether outputs of the code under test may be shown.
        redact: removes secrets from a text.
        titled: the ranks of the cases whose title is taken from this run; None for all.
        titles: the titles and previews of cases, by the number of the suite and the hash.
        samples: a trial of each of the `SAMPLES` worst cases, for browsers without JavaScript.
        media: the images and audio of the trials.
    """

    index: TrialIndex
    number: int
    limits: tuple[int, int]
    show_outputs: bool
    redact: Callable[[str], str]
    titled: frozenset[int] | None = None
    titles: dict[CaseId, tuple[str, str]] = field(default_factory=dict)
    samples: dict[CaseId, dict[str, Any]] = field(default_factory=dict)
    media: PageMedia = field(default_factory=PageMedia)

    def write(self, cases: Iterable[CaseResult]) -> Iterator[str]:
        """Yield the elements of the pages while the trials are read."""
        return pack_blocks(self._fill(cases), redact=self.redact)

    def _fill(self, cases: Iterable[CaseResult]) -> Iterator[Page]:
        trials: list[dict[str, Any]] = []
        size, names = 0, dict[str, str]()
        for at, row, case in self.index.rows(cases):
            rank = self.index.ranks[at][row]
            data, used = self._trial_data(case, self.limits[rank >= GENEROUS_CASES], names)
            self.index.put(at, row, page=self.number, position=len(trials))
            trials.append(data)
            self._add_facts(at, case, rank, data, names)
            size += used + _OVERHEAD
            if size >= _PAGE:
                yield "page", self.number, trials
                self.number += 2
                trials, size = [], 0
        if trials:
            yield "page", self.number, trials

    def _add_facts(self, at: int, case: CaseResult, rank: int, data: Mapping[str, Any], names: dict[str, str]) -> None:
        """Collect what the index and the samples show of a trial."""
        case_id = at, case.hash
        if "media" in data:
            for rows in data["media"].values():
                self.media.note(rows, rank)
        if (self.titled is None or rank in self.titled) and case_id not in self.titles:
            self.titles[case_id] = display_name(self.redact(case.name or case.hash)), _preview(data)
        if rank < SAMPLES and case_id not in self.samples:
            self.samples[case_id] = self._trial_data(case, _SAMPLE, names)[0]

    def _trial_data(self, case: CaseResult, limit: int, names: dict[str, str]) -> tuple[dict[str, Any], int]:
        """A trial as data, and the number of characters of its texts."""
        budget = TextBudget(limit, self.redact, names)
        data = trial_data(case, budget, show_outputs=self.show_outputs)
        return data, limit - budget.left


def _preview(data: Mapping[str, Any]) -> str:
    """The beginning of the output on one line; for a conversation, of the last answer."""
    conversation, errors = data.get("talk"), data.get("errors")
    text = data.get("output")
    if errors and text is None:
        text = errors[0].get("message")
    elif conversation and conversation["turns"]:
        text = conversation["turns"][-1]["assistant"]
    return one_line(text if isinstance(text, str) else text[0] if text else "", _PREVIEW)


# The start of a process takes as long as the pages of this many trials (measured).
_LEAST_TRIALS = 20_000


@record
class PageJob:
    """What the process needs: the pages to fill, and the arguments of the `CasesFile` with the trials.

    The process inherits the descriptor of the file.
    """

    pages: SidePages
    fd: int
    skipped: frozenset[int]
    suites: int


class PageProcess:
    """A process that makes pages, and what it has written."""

    def __init__(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        self._process, self._output = process, output

    def wait(self) -> bool:
        """Wait until the pages are made; False if the process failed, for example without memory."""
        return self._process.wait() == 0

    def read_output(self) -> Iterator[str | SidePages]:
        """Yield the elements of the pages, then the filled `SidePages`."""
        self._output.seek(0)
        output: str | SidePages = ""
        while isinstance(output, str):
            output = pickle.load(self._output)
            yield output


@contextmanager
def _start_page_process(pages: SidePages, read: Callable[[], Iterable[CaseResult]]) -> Iterator[PageProcess | None]:
    """Start a process for the pages of a baseline, and stop it at the end of the block.

    Yields:
        The process; None if it can't be started or would not save time: for a small baseline, with one processor, or if
        the cases are not read directly from a file.
    """
    is_large = pages.index.listed >= _LEAST_TRIALS and (os.cpu_count() or 1) > 1
    if not (is_large and isinstance(read, CasesReader) and read.suite is None and hasattr(os, "memfd_create")):
        yield None
        return
    job = PageJob(pages, read.file.fd, frozenset(read.file.skipped), read.file.suites)
    with os.fdopen(os.memfd_create("job"), "w+b") as source, TemporaryFile() as output:
        pickle.dump(job, source)
        source.seek(0)
        try:
            process = _start_process(source, output, job.fd)
        except OSError:
            yield None
            return
        with process:
            try:
                yield PageProcess(process, output)
            finally:
                process.kill()


def _start_process(source: IO[bytes], output: IO[bytes], fd: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
    return subprocess.Popen(command, stdin=source, stdout=output, stderr=subprocess.DEVNULL, pass_fds=(fd,))


def main() -> None:
    """Make the pages of the job."""
    job: PageJob = pickle.load(sys.stdin.buffer)
    cases = CasesFile(job.fd, job.skipped, job.suites).cases()
    for element in job.pages.write(cases):
        pickle.dump(element, sys.stdout.buffer)
    pickle.dump(replace(job.pages, redact=str), sys.stdout.buffer)


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
    with _start_page_process(pages.before, view.trials.read_base) as process:
        yield from pages.now.write(view.trials.read())
        if process is None or not process.wait():
            yield from pages.before.write(view.trials.read_base())
            return
        for part in process.read_output():
            if isinstance(part, str):
                yield part
            else:
                pages.before = part
