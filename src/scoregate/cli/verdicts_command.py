"""`scoregate verdicts`: verdicts of people on pairs of outputs."""

from __future__ import annotations

import click

from scoregate.cli.review_records import (
    export_command,
    import_command,
    print_reviews,
    remove_command,
    reviewer_name,
    select_reviews,
)
from scoregate.cli.text_output import CommandGroup, print_line
from scoregate.store import VERDICTS, Verdict, Winner, add_verdict, open_store

_COLUMNS = {
    "case": lambda item: item.case,
    "winner": lambda item: item.winner.value,
    "baseline": lambda item: item.baseline,
    "challenger": lambda item: item.challenger,
    "comment": lambda item: item.comment,
}
_KEYS = "case, baseline, challenger, winner (baseline, challenger or tie), comment, by, created_at, id"


@click.group("verdicts", cls=CommandGroup)
def command() -> None:
    """Manage verdicts: which of two outputs is better, stored in .scoregate/verdicts, used by manual battles."""


@command.command("list")
@click.argument("evaluator", required=False, metavar="[GLOB]")
@click.option("--json", "as_json", is_flag=True, help="Print every field, as a JSON list.")
def list_(evaluator: str | None, as_json: bool) -> None:
    """List verdicts, the oldest first."""
    print_reviews(select_reviews(open_store(), VERDICTS, evaluator), _COLUMNS, what="verdicts", as_json=as_json)


@command.command("add")
@click.argument("evaluator", metavar="SCORER")
@click.option("--case", required=True, metavar="HASH", help="Hash of the test case of both outputs.")
@click.option("--baseline", required=True, metavar="TEXT", help="Output of the baseline.")
@click.option("--challenger", required=True, metavar="TEXT", help="New output.")
@click.option("--winner", type=click.Choice([each.value for each in Winner]), required=True, help="Better output.")
@click.option("--comment", default="", metavar="TEXT", help="Comment on the verdict.")
@click.option("--by", metavar="NAME", help="Name of the reviewer; default: git's user.name.")
def add(evaluator: str, case: str, baseline: str, challenger: str, winner: str, comment: str, by: str | None) -> None:
    """Store which of two outputs is better. It replaces your earlier verdict on this pair."""
    pair = {"case": case, "baseline": baseline, "challenger": challenger}
    verdict = Verdict.model_validate({**pair, "winner": winner, "comment": comment, "by": reviewer_name(by)})
    store = open_store()
    add_verdict(store, evaluator, verdict)
    print_line(f"written to {store.location(VERDICTS, (evaluator,))}")


command.add_command(remove_command(VERDICTS))
command.add_command(import_command(VERDICTS, _KEYS))
command.add_command(export_command(VERDICTS))
