"""The pages with the trials of one run, and what the index needs to know about them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

from scoregate.kernel.report.html.assets import pack_blocks
from scoregate.kernel.report.html.media import PageMedia
from scoregate.kernel.report.html.text_budget import GENEROUS_CASES, TextBudget
from scoregate.kernel.report.html.trial import trial_data
from scoregate.kernel.report.text import display_name, one_line
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
