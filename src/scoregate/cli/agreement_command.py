"""`scoregate agreement`: how well judges agree with people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from scoregate.ci.report.text import one_line
from scoregate.ci.settings import Settings
from scoregate.cli.listing import say, show_json, show_lines, show_table
from scoregate.cli.options import project_root, settings_of
from scoregate.cli.people import chosen
from scoregate.core.agreement import Agreement, Conclusion, Kappa, agreement
from scoregate.store import OVERRIDES, open_store

_MOST_SCORES = 8
_NAME = 60
Found = dict[str, Agreement]


@click.command("agreement")
@click.argument("evaluator", required=False, metavar="[GLOB]")
@click.option("--min-agreement", type=float, metavar="RATE", help="Fail when a judge's accuracy is below; 0 to 1.")
@click.option("--min-overrides", type=int, metavar="N", help="Fewer than these say nothing; default: 10.")
@click.option("--json", "as_json", is_flag=True, help="All figures, as a JSON list.")
def command(evaluator: str | None, min_agreement: float | None, min_overrides: int | None, as_json: bool) -> int:
    """Show how well each judge agrees with the overrides that people made of its scores.

    Accuracy is the share of equal scores, kappa (Cohen's) what is left of it beyond chance; intervals are of 95 %.
    """
    settings = settings_of(project_root(), {"min_agreement": min_agreement, "min_overrides": min_overrides})
    said = chosen(open_store(), OVERRIDES, evaluator)
    found = {name: figures for name, items in said if (figures := agreement(items))}
    if as_json:
        show_json(_row(name, each, settings) for name, each in found.items())
    else:
        _show(found, settings)
    return int(Conclusion.BELOW in (_conclusion(each, settings) for each in found.values()))


def _conclusion(figures: Agreement, settings: Settings) -> Conclusion | None:
    return figures.conclusion(settings.min_agreement, fewest=settings.min_overrides)


def _show(found: Found, settings: Settings) -> None:
    if not found:
        say("There are no overrides, so nothing can be said of any judge.")
        return
    rows = ((name, f"{each.n:,}", _accuracy(each), _kappa(each.kappa)) for name, each in found.items())
    show_table(("evaluator", "overrides", "accuracy", "kappa"), rows, numbers=range(1, 4))
    for name, each in found.items():
        if each.matching < each.n:
            _show_confusion(one_line(name, _NAME), each)
    show_lines(_findings(found, settings), styles=(("note", "yellow"), ("failed", "red")))


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


def _findings(found: Found, settings: Settings) -> Iterator[str]:
    least = settings.min_agreement
    for name, each in found.items():
        conclusion, title = _conclusion(each, settings), one_line(name, _NAME)
        if conclusion is Conclusion.TOO_FEW:
            yield f"note: {title}: {each.n} of the {settings.min_overrides} overrides that it takes to say"
        elif conclusion is Conclusion.BELOW:
            where = settings.origin("min_agreement")
            yield f"failed: {title}: accuracy {each.accuracy:.3f} is below min_agreement {least:g} ({where})"


def _accuracy(figures: Agreement) -> str:
    return f"{figures.accuracy:.3f} [{figures.low:.3f}, {figures.high:.3f}]"


def _kappa(kappa: Kappa | None) -> str:
    if kappa is None:
        return "not defined"
    if kappa.low is None or kappa.high is None:
        return f"{kappa.value:.3f}, too few for an interval"
    return f"{kappa.value:.3f} [{kappa.low:.3f}, {kappa.high:.3f}]"


def _row(name: str, figures: Agreement, settings: Settings) -> dict[str, object]:
    confusion = [
        {"judge": judge, "person": person, "count": count}
        for (judge, person), count in sorted(figures.confusion.items())
    ]
    rest = {"confusion": confusion, "scores": figures.scores, "conclusion": _conclusion(figures, settings)}
    return {"evaluator": name, **asdict(figures), **rest}
