"""What reports say about accepted regressions and the cases in quarantine: their effect on the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.features.exemptions.view import (
    ExemptionView,
    QuarantinedView,
    build_exemptions,
    build_quarantined,
    describe_compared,
)
from scoregate.kernel.types.exemptions import ExemptionState
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.slots import CaseNote, Place, Section

if TYPE_CHECKING:
    from scoregate.kernel.judge.judgement import Judged
    from scoregate.kernel.report.view import ReportView

_NAME = "exemptions"


def build_sections(judged: Judged) -> Iterator[Section]:
    """The sections of a comparison: entries, and cases in quarantine."""
    comparison = judged.comparison
    entries, cases = build_exemptions(comparison), build_quarantined(comparison.quarantined)
    shown = tuple(each for each in entries if each.needs_attention)
    accepted = sum(each.state is ExemptionState.ACCEPTED for each in entries)
    effect = _describe_effect(cases)
    content = {"shown": shown, "quarantined": cases, "effect": effect}
    yield Section(_NAME, Place.VERDICT, sentences=tuple(comparison.exemptions.notices))
    yield Section(
        _NAME,
        Place.GATES,
        title="Exemptions",
        anchor="exemptions",
        summary=f"{number_format.count(accepted, 'regression')} accepted" if accepted else "",
        content=content,
        comment="features/exemptions/entries.md.j2" if shown else "",
        page="features/exemptions/page.html.j2" if shown or cases else "",
        terminal=partial(_print_entries, shown),
        brief=partial(_print_entries, [each for each in shown if each.state is ExemptionState.EXPIRED]),
        data={"exemptions": [asdict(each) | {"state": str(each.state)} for each in entries]},
        wants_comment=bool(shown),
    )
    yield Section(_NAME, Place.ROWS, sentences=tuple(describe_compared(comparison.quarantined)))
    yield Section(
        _NAME,
        Place.CASES,
        summary=f"{number_format.count(len(cases), 'case')} in quarantine" if cases else "",
        content=content,
        comment="features/exemptions/quarantine.md.j2" if cases else "",
        terminal=partial(_print_quarantine, cases, effect),
        cases=tuple(_build_note(case) for case in cases if case.ran),
        data={"quarantined": [asdict(each) for each in cases]},
        wants_comment=any(case.fails for case in cases),
    )


def _build_note(case: QuarantinedView) -> CaseNote:
    """A case that fails is skipped, since readers count failures as they like."""
    terms = f"until {case.until}, owner {case.owner}: {case.reason}"
    skipped = f"in quarantine {terms}" if case.fails else ""
    return CaseNote(case.suite, case.name, skipped, f"{case.status} in this run", (("quarantine", terms),))


def _print_entries(entries: Sequence[ExemptionView], _: ReportView, full: bool, __: str) -> Iterable[Any]:
    from scoregate.features.exemptions.terminal import list_entries

    return list_entries(entries, full=full)


def _print_quarantine(
    cases: Sequence[QuarantinedView], effect: str, view: ReportView, full: bool, _: str
) -> Iterable[Any]:
    from scoregate.features.exemptions.terminal import list_quarantine

    return list_quarantine(cases, effect, full=full, has_base=view.base is not None)


def _describe_effect(cases: Sequence[QuarantinedView]) -> str:
    """Which gates the cases in quarantine are left out of."""
    if compared := sum(each.compared for each in cases):
        them = "it" if len(cases) == 1 else "them"
        still = them if compared == len(cases) else f"{compared:,} of them"
        return f"left out of the gates, but gates that compare scores still count {still}"
    return "left out of every gate"
