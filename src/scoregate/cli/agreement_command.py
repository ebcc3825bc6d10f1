"""`scoregate agreement`: how well judges agree with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import click

from scoregate.ci.report.text import one_line
from scoregate.ci.settings import Settings
from scoregate.cli.options import load_project_settings, project_root
from scoregate.cli.review_records import select_reviews
from scoregate.cli.text_output import print_json, print_line, print_lines, print_table
from scoregate.core.agreement import Agreement, Conclusion, Kappa, measure_agreement
from scoregate.store import OVERRIDES, Override, Source, open_store, split_by_source

_MOST_SCORES = 8
_NAME = 60
_HINT = "Only a random sample (`scoregate review --sample 50`) shows how often a judge is right on all of its scores."


@dataclass(frozen=True, slots=True)
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
    it is large enough, else the chosen scores.
    """
    settings = load_project_settings(project_root(), {"min_agreement": min_agreement, "min_overrides": min_overrides})
    reviews = select_reviews(open_store(), OVERRIDES, evaluator)
    found = [entry for name, items in reviews for entry in _build_entries(name, items, fewest=settings.min_overrides)]
    if as_json:
        print_json(_to_json(each, settings) for each in found)
    else:
        _print_entries(found, settings)
    return int(Conclusion.BELOW in (_conclusion(each, settings) for each in found))


def _build_entries(name: str, items: Sequence[Override], *, fewest: int) -> list[Entry]:
    """The agreements of a judge. One decides: the random sample if it is large enough, else the chosen scores."""
    split = [(*each, measure_agreement(each[-1])) for each in split_by_source(items)]
    found = [Entry(name, source, judge, figures) for source, judge, _, figures in split if figures is not None]
    if not found:
        return []
    last = len(found) - 1
    sampled = found[last].source is Source.SAMPLE and found[last].figures.n >= fewest
    deciding = last if sampled or found[0].source is Source.SAMPLE else 0
    return [
        replace(each, earlier=each.source is Source.SAMPLE and at < last, decides=at == deciding)
        for at, each in enumerate(found)
    ]


def _conclusion(entry: Entry, settings: Settings) -> Conclusion | None:
    if not entry.decides:
        return None
    return entry.figures.conclusion(settings.min_agreement, fewest=settings.min_overrides)


def _print_entries(found: Sequence[Entry], settings: Settings) -> None:
    if not found:
        print_line("There are no overrides, so no agreement can be measured.")
        return
    rows = (
        (each.evaluator, each.source_text, f"{each.figures.n:,}", _accuracy(each.figures), _kappa(each.figures.kappa))
        for each in found
    )
    print_table(("evaluator", "source", "overrides", "accuracy", "kappa"), rows, numbers=range(2, 5))
    for each in found:
        if each.figures.matching < each.figures.n:
            _print_confusion(each.title, each.figures)
    print_lines(_list_findings(found, settings), styles=(("note", "yellow"), ("failed", "red")))
    print_lines(["", _HINT])


def _print_confusion(title: str, figures: Agreement) -> None:
    """Print a table with a row for each score of the judge and a column for each score of people."""
    if len(figures.scores) > _MOST_SCORES:
        print_lines(["", f"{title}: {len(figures.scores)} different scores, too many for a table"])
        return
    print_lines(["", f"{title}:"])
    headings = ("judge \\ people", *(f"{person:g}" for person in figures.scores))
    print_table(headings, _confusion(figures), numbers=range(1, len(headings)))


def _confusion(figures: Agreement) -> Iterator[tuple[str, ...]]:
    for judge in figures.scores:
        counts = (figures.confusion.get((judge, person)) for person in figures.scores)
        yield (f"{judge:g}", *(f"{count:,}" if count else "·" for count in counts))


def _list_findings(found: Sequence[Entry], settings: Settings) -> Iterator[str]:
    least = settings.min_agreement
    for each in found:
        conclusion, figures = _conclusion(each, settings), each.figures
        if conclusion is Conclusion.TOO_FEW:
            yield f"note: {each.title}: {figures.n} of {settings.min_overrides} required overrides"
        elif conclusion is Conclusion.BELOW:
            where = settings.origin("min_agreement")
            yield f"failed: {each.title}: accuracy {figures.accuracy:.3f} is below min_agreement {least:g} ({where})"


def _accuracy(figures: Agreement) -> str:
    return f"{figures.accuracy:.3f} [{figures.low:.3f}, {figures.high:.3f}]"


def _kappa(kappa: Kappa | None) -> str:
    if kappa is None:
        return "not defined"
    if kappa.low is None or kappa.high is None:
        return f"{kappa.value:.3f}, too few for an interval"
    return f"{kappa.value:.3f} [{kappa.low:.3f}, {kappa.high:.3f}]"


def _to_json(entry: Entry, settings: Settings) -> dict[str, object]:
    figures = entry.figures
    confusion = [
        {"judge": judge, "person": person, "count": count}
        for (judge, person), count in sorted(figures.confusion.items())
    ]
    about = {"evaluator": entry.evaluator, "source": entry.source, "fingerprint": entry.fingerprint or None}
    rest = {"confusion": confusion, "scores": figures.scores, "conclusion": _conclusion(entry, settings)}
    return {**about, **asdict(figures), **rest}
