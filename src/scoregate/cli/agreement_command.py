"""`scoregate agreement`: how well judges agree with people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scoregate.ci.report.text import one_line
from scoregate.ci.settings import Settings
from scoregate.cli.options import project_root, settings_of
from scoregate.cli.people import chosen
from scoregate.cli.terminal import terminal
from scoregate.core.agreement import Agreement, Conclusion, Kappa, agreement
from scoregate.store import OVERRIDES, open_store

_MOST_SCORES = 8
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
        click.echo(json.dumps([_row(name, each, settings) for name, each in found.items()], indent=1))
    else:
        _show(found, settings, terminal())
    return int(Conclusion.BELOW in (_conclusion(each, settings) for each in found.values()))


def _conclusion(figures: Agreement, settings: Settings) -> Conclusion | None:
    return figures.conclusion(settings.min_agreement, fewest=settings.min_overrides)


def _show(found: Found, settings: Settings, console: Console) -> None:
    if not found:
        console.print(Text("There are no overrides, so nothing can be said of any judge."))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("evaluator", "overrides", "accuracy", "kappa"):
        table.add_column(heading, justify="left" if heading == "evaluator" else "right")
    for name, each in found.items():
        accuracy = f"{each.accuracy:.3f} [{each.low:.3f}, {each.high:.3f}]"
        table.add_row(*map(Text, (one_line(name, 60), f"{each.n:,}", accuracy, _kappa(each.kappa))))
    console.print(table)
    for name, each in found.items():
        if each.matching < each.n:
            console.print(Text(), _confusion(name, each))
    for line, style in _findings(found, settings):
        console.print(Text(line, style=style))


def _confusion(name: str, figures: Agreement) -> Table | Text:
    """A row a score of the judge's, a column a score of people's."""
    title = one_line(name, 60)
    if len(figures.scores) > _MOST_SCORES:
        return Text(f"{title}: {len(figures.scores)} different scores, too many for a table")
    table = Table(box=None, pad_edge=False)
    table.add_column(Text(f"{title}: judge \\ people"))
    for person in figures.scores:
        table.add_column(f"{person:g}", justify="right")
    for judge in figures.scores:
        counts = (figures.confusion.get((judge, person), 0) for person in figures.scores)
        table.add_row(f"{judge:g}", *(f"{count:,}" if count else "·" for count in counts))
    return table


def _findings(found: Found, settings: Settings) -> Iterator[tuple[str, str]]:
    least = settings.min_agreement
    for name, each in found.items():
        conclusion, title = _conclusion(each, settings), one_line(name, 60)
        if conclusion is Conclusion.TOO_FEW:
            yield f"note: {title}: {each.n} of the {settings.min_overrides} overrides that it takes to say", "yellow"
        elif conclusion is Conclusion.BELOW:
            where = settings.origin("min_agreement")
            yield f"failed: {title}: accuracy {each.accuracy:.3f} is below min_agreement {least:g} ({where})", "red"


def _kappa(kappa: Kappa | None) -> str:
    return "not defined" if kappa is None else f"{kappa.value:.3f} [{kappa.low:.3f}, {kappa.high:.3f}]"


def _row(name: str, figures: Agreement, settings: Settings) -> dict[str, object]:
    confusion = [
        {"judge": judge, "person": person, "count": count}
        for (judge, person), count in sorted(figures.confusion.items())
    ]
    rest = {"confusion": confusion, "scores": figures.scores, "conclusion": _conclusion(figures, settings)}
    return {"evaluator": name, **asdict(figures), **rest}
