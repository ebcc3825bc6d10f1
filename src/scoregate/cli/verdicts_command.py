"""`scoregate verdicts`: what people said of pairs of outputs."""

from __future__ import annotations

import click

from scoregate.cli.listing import say
from scoregate.cli.people import chosen, show, speaker
from scoregate.cli.people_commands import export_command, import_command, remove_command
from scoregate.store import VERDICTS, Verdict, Winner, add_verdict, open_store

_COLUMNS = {
    "case": lambda item: item.case,
    "winner": lambda item: item.winner.value,
    "baseline": lambda item: item.baseline,
    "challenger": lambda item: item.challenger,
    "comment": lambda item: item.comment,
}
_KEYS = "case, baseline, challenger, winner (baseline, challenger or tie), comment, by, created_at, id"


@click.group("verdicts")
def command() -> None:
    """People's verdicts on pairs of outputs: kept in .scoregate/verdicts, counted by manual battles."""


@command.command("list")
@click.argument("evaluator", required=False, metavar="[GLOB]")
@click.option("--json", "as_json", is_flag=True, help="Every field, as a JSON list.")
def list_(evaluator: str | None, as_json: bool) -> None:
    """Show them, the oldest first."""
    show(chosen(open_store(), VERDICTS, evaluator), _COLUMNS, what="verdicts", as_json=as_json)


@command.command("add")
@click.argument("evaluator")
@click.option("--case", required=True, metavar="HASH", help="Of the test case that both outputs answer.")
@click.option("--baseline", required=True, metavar="TEXT", help="The output so far.")
@click.option("--challenger", required=True, metavar="TEXT", help="The new output.")
@click.option("--winner", type=click.Choice([each.value for each in Winner]), required=True)
@click.option("--comment", default="", metavar="TEXT")
@click.option("--by", metavar="NAME", help="Who says so; default: git's user.name.")
def add(evaluator: str, case: str, baseline: str, challenger: str, winner: str, comment: str, by: str | None) -> None:
    """Say which of two outputs is better. Your later word on the same pair replaces an earlier."""
    pair = {"case": case, "baseline": baseline, "challenger": challenger}
    verdict = Verdict.model_validate({**pair, "winner": winner, "comment": comment, "by": speaker(by)})
    store = open_store()
    add_verdict(store, evaluator, verdict)
    say(f"written to {store.where(VERDICTS, (evaluator,))}")


command.add_command(remove_command(VERDICTS))
command.add_command(import_command(VERDICTS, _KEYS))
command.add_command(export_command(VERDICTS))
