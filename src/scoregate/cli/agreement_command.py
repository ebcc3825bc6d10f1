"""`scoregate agreement`: how well judges agree with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import click

from scoregate.ci.report.text import one_line
from scoregate.ci.settings import Settings
from scoregate.cli.listing import say, show_json, show_lines, show_table
from scoregate.cli.options import project_root, settings_of
from scoregate.cli.people import chosen
from scoregate.core.agreement import Agreement, Conclusion, Kappa, agreement
from scoregate.store import OVERRIDES, Override, Source, open_store, split_by_source

_MOST_SCORES = 8
_NAME = 60
_CLAIM = "Only a random sample (`scoregate review --sample 50`) tells how often a judge is right on all of its scores."


@dataclass(frozen=True, slots=True)
class Entry:
    """How well a judge agrees with people on a sample of its scores, or on those that people chose to review.

    `earlier`: another judge of this name was sampled since. `decides`: this is held against `min_agreement`.
    """

    evaluator: str
    source: Source
    fingerprint: str
    figures: Agreement
    earlier: bool = False
    decides: bool = False

    @property
    def told(self) -> str:
        """The source in words."""
        if self.source is Source.CHOSEN:
            return "chosen by people"
        return "sample, earlier judge" if self.earlier else "random sample"

    @property
    def title(self) -> str:
        """Judge and source, on one line."""
        return f"{one_line(self.evaluator, _NAME)} ({self.told})"


@click.command("agreement")
@click.argument("evaluator", required=False, metavar="[GLOB]")
@click.option("--min-agreement", type=float, metavar="RATE", help="Fail when a judge's accuracy is below; 0 to 1.")
@click.option("--min-overrides", type=int, metavar="N", help="Fewer than these say nothing; default: 10.")
@click.option("--json", "as_json", is_flag=True, help="All figures, as a JSON list.")
def command(evaluator: str | None, min_agreement: float | None, min_overrides: int | None, as_json: bool) -> int:
    """Show how well each judge agrees with the overrides that people made of its scores.

    Accuracy is the share of equal scores, kappa (Cohen's) what is left of it beyond chance; intervals are of 95 %.
    Scores that were drawn at random and those that people chose to review stand apart. The sample is held against
    min_agreement once it is large enough, before that what people chose.
    """
    settings = settings_of(project_root(), {"min_agreement": min_agreement, "min_overrides": min_overrides})
    said = chosen(open_store(), OVERRIDES, evaluator)
    found = [entry for name, items in said for entry in _entries(name, items, fewest=settings.min_overrides)]
    if as_json:
        show_json(_row(each, settings) for each in found)
    else:
        _show(found, settings)
    return int(Conclusion.BELOW in (_conclusion(each, settings) for each in found))


def _entries(name: str, items: Sequence[Override], *, fewest: int) -> list[Entry]:
    """What is known of a judge, one of them to decide: the sample if it is large enough, else what people chose."""
    split = [(*each, agreement(each[-1])) for each in split_by_source(items)]
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


def _show(found: Sequence[Entry], settings: Settings) -> None:
    if not found:
        say("There are no overrides, so nothing can be said of any judge.")
        return
    rows = (
        (each.evaluator, each.told, f"{each.figures.n:,}", _accuracy(each.figures), _kappa(each.figures.kappa))
        for each in found
    )
    show_table(("evaluator", "source", "overrides", "accuracy", "kappa"), rows, numbers=range(2, 5))
    for each in found:
        if each.figures.matching < each.figures.n:
            _show_confusion(each.title, each.figures)
    show_lines(_findings(found, settings), styles=(("note", "yellow"), ("failed", "red")))
    show_lines(["", _CLAIM])


def _show_confusion(title: str, figures: Agreement) -> None:
    """A row a score of the judge's, a column a score of people's."""
    if len(figures.scores) > _MOST_SCORES:
        show_lines(["", f"{title}: {len(figures.scores)} different scores, too many for a table"])
        return
    show_lines(["", f"{title}:"])
    headings = ("judge \\ people", *(f"{person:g}" for person in figures.scores))
    show_table(headings, _confusion(figures), numbers=range(1, len(headings)))


def _confusion(figures: Agreement) -> Iterator[tuple[str, ...]]:
    for judge in figures.scores:
        counts = (figures.confusion.get((judge, person)) for person in figures.scores)
        yield (f"{judge:g}", *(f"{count:,}" if count else "·" for count in counts))


def _findings(found: Sequence[Entry], settings: Settings) -> Iterator[str]:
    least = settings.min_agreement
    for each in found:
        conclusion, figures = _conclusion(each, settings), each.figures
        if conclusion is Conclusion.TOO_FEW:
            yield f"note: {each.title}: {figures.n} of the {settings.min_overrides} overrides that it takes to say"
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


def _row(entry: Entry, settings: Settings) -> dict[str, object]:
    figures = entry.figures
    confusion = [
        {"judge": judge, "person": person, "count": count}
        for (judge, person), count in sorted(figures.confusion.items())
    ]
    about = {"evaluator": entry.evaluator, "source": entry.source, "fingerprint": entry.fingerprint or None}
    rest = {"confusion": confusion, "scores": figures.scores, "conclusion": _conclusion(entry, settings)}
    return {**about, **asdict(figures), **rest}
