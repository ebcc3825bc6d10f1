"""`scoregate agreement`: how well judges agree with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import click

from scoregate.ci.report.text import one_line
from scoregate.ci.settings import Settings
from scoregate.cli.options import load_project_settings, project_root
from scoregate.cli.review_records import select_reviews
from scoregate.cli.text_output import print_json, print_line, print_lines, print_table
from scoregate.core.comparison.agreement import Agreement, AgreementLevel, measure_agreement
from scoregate.core.gate import EXIT_CODES, Conclusion
from scoregate.core.records import record
from scoregate.store import OVERRIDES, Override, Source, open_store, split_by_source

_MOST_SCORES = 8
_NAME = 60
_HINT = "Only a random sample (`scoregate review --sample 50`) shows how often a judge is right on all of its scores."


@record
class Entry:
    """The agreement of a judge with people on a random sample of its scores, or on scores that people chose.

    `earlier`: a later judge of this name was sampled, too. `decides`: this agreement is compared with `min_agreement`.
    """

    evaluator: str
    source: Source
    fingerprint: str
    figures: Agreement
    earlier: bool = False
    decides: bool = False

    @property
    def source_text(self) -> str:
        """The source as text."""
        if self.source is Source.CHOSEN:
            return "chosen by people"
        return "sample, earlier judge" if self.earlier else "random sample"

    @property
    def title(self) -> str:
        """Judge and source, on one line."""
        return f"{one_line(self.evaluator, _NAME)} ({self.source_text})"


@click.command("agreement")
@click.argument("evaluator", required=False, metavar="[GLOB]")
@click.option(
    "--min-agreement", type=float, metavar="RATE", help="Fail if the accuracy of a judge is below this (0 to 1)."
)
@click.option("--min-overrides", type=int, metavar="N", help="Minimum number of overrides per judge; default: 10.")
@click.option("--json", "as_json", is_flag=True, help="Print all figures, as a JSON list.")
def command(evaluator: str | None, min_agreement: float | None, min_overrides: int | None, as_json: bool) -> int:
    """Show how well each judge agrees with people, measured by their overrides.

    Accuracy is the share of equal scores; kappa (Cohen's) corrects it for chance. Intervals are 95% intervals. Scores
    drawn at random and scores that people chose are separate rows. The gate min_agreement uses the random sample if
    it is large enough, else the chosen scores. With too few overrides, the exit code is 3 if there is a minimum.
    """
    settings = load_project_settings(project_root(), {"min_agreement": min_agreement, "min_overrides": min_overrides})
    reviews = select_reviews(open_store(), OVERRIDES, evaluator)
    entries = [entry for name, items in reviews for entry in _build_entries(name, items, fewest=settings.min_overrides)]
    if as_json:
        print_json(_to_json(each, settings) for each in entries)
    else:
        _print_entries(entries, settings)
    return EXIT_CODES[_conclude(entries, settings)]


def _conclude(entries: Sequence[Entry], settings: Settings) -> Conclusion:
    """The conclusion over all judges; without a minimum there is nothing to fail."""
    if settings.min_agreement is None:
        return Conclusion.PASSED
    levels = {_conclusion(each, settings) for each in entries if each.decides}
    if AgreementLevel.BELOW in levels:
        return Conclusion.FAILED
    return Conclusion.PASSED if levels == {AgreementLevel.HOLDS} else Conclusion.UNMEASURABLE


def _build_entries(name: str, items: Sequence[Override], *, fewest: int) -> list[Entry]:
    """The agreements of a judge. One decides: the random sample if it is large enough, else the chosen scores."""
    groups = [(*each, measure_agreement(each[-1])) for each in split_by_source(items)]
    entries = [Entry(name, source, judge, figures) for source, judge, _, figures in groups if figures is not None]
    if not entries:
        return []
    last = len(entries) - 1
    is_sampled = entries[last].source is Source.SAMPLE and entries[last].figures.n >= fewest
    deciding = last if is_sampled or entries[0].source is Source.SAMPLE else 0
    return [
        replace(each, earlier=each.source is Source.SAMPLE and index < last, decides=index == deciding)
        for index, each in enumerate(entries)
    ]


def _conclusion(entry: Entry, settings: Settings) -> AgreementLevel | None:
    if not entry.decides:
        return None
    return entry.figures.conclusion(settings.min_agreement, fewest=settings.min_overrides)


def _print_entries(entries: Sequence[Entry], settings: Settings) -> None:
    if not entries:
        print_line("There are no overrides, so no agreement can be measured.")
        return
    rows = []
    for entry in entries:
        figures = entry.figures
        accuracy = f"{figures.accuracy:.3f} [{figures.low:.3f}, {figures.high:.3f}]"
        kappa = "not defined"
        if (value := figures.kappa) is not None:
            has_interval = value.low is not None and value.high is not None
            interval = f" [{value.low:.3f}, {value.high:.3f}]" if has_interval else ", too few for an interval"
            kappa = f"{value.value:.3f}{interval}"
        rows.append((entry.evaluator, entry.source_text, f"{figures.n:,}", accuracy, kappa))
    print_table(("evaluator", "source", "overrides", "accuracy", "kappa"), rows, numbers=range(2, 5))
    for entry in entries:
        if entry.figures.matching < entry.figures.n:
            _print_confusion(entry.title, entry.figures)
    least, origin = settings.min_agreement, settings.origin("min_agreement")
    for entry in entries:
        conclusion, figures = _conclusion(entry, settings), entry.figures
        if conclusion is AgreementLevel.TOO_FEW:
            note = f"note: {entry.title}: {figures.n} of {settings.min_overrides} required overrides"
            print_lines([note], styles=[("note", "yellow")])
        elif conclusion is AgreementLevel.BELOW:
            text = f"accuracy {figures.accuracy:.3f} is below min_agreement {least:g} ({origin})"
            print_lines([f"failed: {entry.title}: {text}"], styles=[("failed", "red")])
    print_lines(["", _HINT])


def _print_confusion(title: str, figures: Agreement) -> None:
    """Print a table with a row for each score of the judge and a column for each score of people."""
    if len(figures.scores) > _MOST_SCORES:
        print_lines(["", f"{title}: {len(figures.scores)} different scores, too many for a table"])
        return
    print_lines(["", f"{title}:"])
    headings = ("judge \\ people", *(f"{person:g}" for person in figures.scores))
    rows = []
    for judge in figures.scores:
        counts = (figures.confusion.get((judge, person)) for person in figures.scores)
        rows.append((f"{judge:g}", *(f"{count:,}" if count else "·" for count in counts)))
    print_table(headings, rows, numbers=range(1, len(headings)))


def _to_json(entry: Entry, settings: Settings) -> dict[str, object]:
    figures = entry.figures
    confusion = [
        {"judge": judge, "person": person, "count": count}
        for (judge, person), count in sorted(figures.confusion.items())
    ]
    fields = {"evaluator": entry.evaluator, "source": entry.source, "fingerprint": entry.fingerprint or None}
    rest = {"confusion": confusion, "scores": figures.scores, "conclusion": _conclusion(entry, settings)}
    return {**fields, **asdict(figures), **rest}
