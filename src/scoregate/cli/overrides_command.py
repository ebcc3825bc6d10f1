"""`scoregate overrides`: people's corrections of judges."""

from __future__ import annotations

import click

from scoregate.cli.choices import check_overrides
from scoregate.cli.listing import say
from scoregate.cli.people import chosen, show, speaker
from scoregate.cli.people_commands import export_command, import_command, remove_command
from scoregate.core.override import EvaluationOverride, EvaluationOverrideComment, EvaluationOverrideField
from scoregate.store import OVERRIDES, add_override, open_store

_SCORE = click.FloatRange(0, 1)
_COLUMNS = {
    "judge": lambda item: f"{item.original_score:g}",
    "person": lambda item: f"{item.override_score:g}",
    "input": lambda item: _texts(item.input_fields),
    "output": lambda item: _texts(item.output_fields),
    "comments": lambda item: " · ".join(comment.comment_text for comment in item.comments),
}
_KEYS = (
    "original_score, override_score, input, output, comment, by, created_at, id, fingerprint, sampled; in JSON lines, "
    "and where there are several, input_fields, output_fields and comments"
)


@click.group("overrides")
def command() -> None:
    """People's corrections of judges: kept in .scoregate/overrides, shown to judges as examples."""


@command.command("list")
@click.argument("evaluator", required=False, metavar="[GLOB]")
@click.option("--json", "as_json", is_flag=True, help="Every field, as a JSON list.")
def list_(evaluator: str | None, as_json: bool) -> None:
    """Show them, the oldest first."""
    found = chosen(open_store(), OVERRIDES, evaluator)
    show(found, _COLUMNS, what="overrides", as_json=as_json, numbers=("judge", "person"))


@command.command("add")
@click.argument("evaluator")
@click.option("--original", type=_SCORE, required=True, help="The judge's score; 0 to 1.")
@click.option("--score", type=_SCORE, required=True, help="Yours; the same where the judge is right.")
@click.option("--input", "given", default="", metavar="TEXT", help="What the output answers.")
@click.option("--output", required=True, metavar="TEXT", help="What was judged.")
@click.option("--comment", default="", metavar="TEXT")
@click.option("--by", metavar="NAME", help="Who says so; default: git's user.name.")
def add(evaluator: str, original: float, score: float, given: str, output: str, comment: str, by: str | None) -> None:
    """Correct the score that EVALUATOR gave to an output. Your later word on the same output replaces an earlier.

    Where the last run knows what the judge chooses among, yours is one of these.
    """
    override = EvaluationOverride(
        original,
        score,
        [EvaluationOverrideField("input", "input", given)] if given else [],
        [EvaluationOverrideField("output", "output", output)],
        [EvaluationOverrideComment("", "", comment)] if comment else [],
    )
    check_overrides(evaluator, [override])
    store = open_store()
    add_override(store, evaluator, override, by=speaker(by))
    say(f"written to {store.where(OVERRIDES, (evaluator,))}")


command.add_command(remove_command(OVERRIDES))
command.add_command(import_command(OVERRIDES, _KEYS, check=check_overrides))
command.add_command(export_command(OVERRIDES))


def _texts(fields: tuple[EvaluationOverrideField, ...]) -> str:
    return " · ".join(field.value for field in fields)
