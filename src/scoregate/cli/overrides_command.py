"""`scoregate overrides`: corrections of scores of judges."""

from __future__ import annotations

import click

from scoregate.cli.review_records import (
    check_evaluator_name,
    check_overrides,
    export_command,
    import_command,
    print_reviews,
    remove_command,
    reviewer_name,
    select_reviews,
)
from scoregate.cli.text_output import CommandGroup, print_line
from scoregate.kernel.types.evaluation import EvaluationOverride, EvaluationOverrideComment, EvaluationOverrideField
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
    "original_score, override_score, input, output, comment, by, created_at, id, fingerprint, sampled, threshold, "
    "failing_share; in JSON lines also input_fields, output_fields and comments, for several of each"
)


@click.group("overrides", cls=CommandGroup)
def command() -> None:
    """Manage overrides: corrections of scores of judges, stored in .scoregate/overrides."""


@command.command("list")
@click.argument("evaluator", required=False, metavar="[GLOB]")
@click.option("--json", "as_json", is_flag=True, help="Print every field, as a JSON list.")
def list_(evaluator: str | None, as_json: bool) -> None:
    """List overrides, the oldest first."""
    reviews = select_reviews(open_store(), OVERRIDES, evaluator)
    print_reviews(reviews, _COLUMNS, what="overrides", as_json=as_json, numbers=("judge", "person"))


@command.command("add")
@click.argument("evaluator", metavar="SCORER")
@click.option("--original", type=_SCORE, required=True, help="Score of the judge (0 to 1).")
@click.option("--score", type=_SCORE, required=True, help="Right score (0 to 1); the same if the judge is right.")
@click.option("--input", "given", default="", metavar="TEXT", help="Input of the case.")
@click.option("--output", required=True, metavar="TEXT", help="Output that was judged.")
@click.option("--comment", default="", metavar="TEXT", help="Comment on the correction.")
@click.option("--by", metavar="NAME", help="Name of the reviewer; default: git's user.name.")
@click.option("--new", "is_new", is_flag=True, help="Accept a SCORER whose name is close to a known one.")
def add(
    evaluator: str,
    original: float,
    score: float,
    given: str,
    output: str,
    comment: str,
    by: str | None,
    *,
    is_new: bool,
) -> None:
    """Correct the score that SCORER gave to an output. It replaces your earlier correction of this output.

    If the last run lists the choices of the judge, the score must be one of them.
    """
    override = EvaluationOverride(
        original,
        score,
        [EvaluationOverrideField("input", "input", given)] if given else [],
        [EvaluationOverrideField("output", "output", output)],
        [EvaluationOverrideComment("", "", comment)] if comment else [],
    )
    store = open_store()
    if not is_new:
        check_evaluator_name(evaluator, store)
    check_overrides(evaluator, [override])
    add_override(store, evaluator, override, by=reviewer_name(by))
    print_line(f"written to {store.location(OVERRIDES, (evaluator,))}")


command.add_command(remove_command(OVERRIDES))
command.add_command(import_command(OVERRIDES, _KEYS, check=check_overrides))
command.add_command(export_command(OVERRIDES))


def _texts(fields: tuple[EvaluationOverrideField, ...]) -> str:
    return " · ".join(field.value for field in fields)
