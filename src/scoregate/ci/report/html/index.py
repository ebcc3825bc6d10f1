"""The index of the page: a row for each listed case, with its scores in both runs and the positions of its trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from math import isnan
from typing import Any

from scoregate.ci.report.html.assets import block
from scoregate.ci.report.html.case_list import CaseEntry, mean_score
from scoregate.ci.report.html.trial_pages import TrialPages
from scoregate.ci.report.suites import PairedSuite
from scoregate.ci.report.text import display_name, one_line
from scoregate.ci.report.view import ReportView
from scoregate.core.cases import STATUSES, Columns, Status

_FIRST, _REST = 300, 5000
_TAGS = 20


def render_index(view: ReportView, listed: Sequence[CaseEntry], pages: TrialPages) -> Iterator[str]:
    """Yield the index in blocks, a small one first, then the head that describes them."""
    redact = view.context.redact
    evaluators = [
        list(
            dict.fromkeys(
                [*paired_suite.now.scores, *(paired_suite.before.scores if paired_suite.before is not None else ())]
            )
        )
        for paired_suite in view.paired_suites
    ]
    rows = (
        _row(entry, view.paired_suites[entry.suite], evaluators[entry.suite], pages=pages, view=view)
        for entry in listed
    )
    blocks = 0
    while part := list(islice(rows, _REST if blocks else _FIRST)):
        yield block("index", blocks, part, redact=redact)
        blocks += 1
    suites = [_suite(at, names, view) for at, names in enumerate(evaluators)]
    about = {"base": view.base is not None, "side": view.context.side}
    head = {"suites": suites, "blocks": blocks, "cases": len(listed), **about}
    yield block("head", 0, head, redact=redact)


def _suite(at: int, evaluators: Sequence[str], view: ReportView) -> dict[str, Any]:
    paired_suite, suite, redact = view.paired_suites[at], view.suites[at], view.context.redact
    return {
        "place": None if suite.file is None else one_line(redact(f"{suite.file}:{suite.line}"), 200),
        "label": display_name(redact(paired_suite.label)),
        "url": paired_suite.url,
        "evaluators": [display_name(redact(each)) for each in evaluators],
        "upwards": [paired_suite.higher_is_better.get(each, True) for each in evaluators],
        "apart": [each in paired_suite.incomparable for each in evaluators],
    }


def _row(
    entry: CaseEntry, paired_suite: PairedSuite, evaluators: Sequence[str], *, pages: TrialPages, view: ReportView
) -> list[Any]:
    """The fields of a row, in the order of FIELDS in `data.js`."""
    now, before, old = entry.now, entry.before, paired_suite.before
    shown, preview = pages.titles.get((entry.suite, entry.hash), ("", ""))
    redact = view.context.redact
    columns, rows = (paired_suite.now, now) if now else (old, before)
    tags = columns.tags.get(rows[0], ()) if columns is not None else ()
    return [
        case_address(paired_suite.label, entry.hash),
        entry.suite,
        shown or display_name(redact(entry.hash)),
        int(entry.kind),
        round(entry.gain, 4),
        _mean_scores(paired_suite.now, evaluators, now),
        _mean_scores(old, evaluators, before) if old is not None and before else 0,
        _main_status(paired_suite.now, now),
        _main_status(old, before) if old is not None else -1,
        _average(paired_suite.now.durations_ms, now),
        _average(old.durations_ms, before) if old is not None else None,
        _average(paired_suite.now.costs, now, 7),
        _average(old.costs, before, 7) if old is not None else None,
        [display_name(redact(tag), 60) for tag in tags[:_TAGS]] if tags else [],
        preview,
        pages.now.of(entry.suite, now),
        pages.before.of(entry.suite, before) if before else [],
        pages.tries.get((paired_suite.label, entry.hash), ""),
    ]


def case_address(suite: str, case: str) -> str:
    """A short id for a case that is the same in every run."""
    return blake2b(f"{suite}\0{case}".encode("utf-8", "replace"), digest_size=6).hexdigest()


def _mean_scores(columns: Columns, evaluators: Sequence[str], rows: tuple[int, ...]) -> list[float | None]:
    return [None if (score := mean_score(columns, each, rows)) is None else round(score, 4) for each in evaluators]


def _main_status(columns: Columns, rows: Sequence[int]) -> int:
    """The most frequent status of trials, the worse of equally frequent ones; -1 if there are none."""
    if len(rows) == 1:
        return columns.statuses[rows[0]]
    statuses = [columns.statuses[row] for row in rows]
    order = [STATUSES.index(each) for each in (Status.FAILED, Status.ERRORED)]
    return max(statuses, key=lambda each: (statuses.count(each), each in order), default=-1)


def _average(values: Sequence[float], rows: tuple[int, ...], digits: int = 1) -> float | None:
    if len(rows) == 1:
        value = values[rows[0]]
        return None if isnan(value) else round(value, digits)
    known = [values[row] for row in rows if not isnan(values[row])]
    return round(sum(known) / len(known), digits) if known else None
