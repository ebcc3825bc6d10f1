"""Names in the tables of the terminal: a name is never broken inside of a word that fits."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.report import console
from scoregate.kernel.types.event_values import EvaluatorInfo

NAME = "answers_mention_opening_hours"


def make_suite(low: int) -> ExampleSuite:
    trials = [Trial(f"c{at}", [Score(NAME, 0.0 if at < low else 1.0)]) for at in range(40)]
    return ExampleSuite("support-bot-evaluation", trials, (EvaluatorInfo(NAME),))


def test_an_evaluator_has_its_name_on_one_line_in_any_width() -> None:
    view = view_of(make_run(make_suite(7)), make_base(make_suite(2)))
    for width in range(60, 161, 4):
        text = StringIO()
        Console(width=width, file=text).print(*list(console.render(view))[:2])
        assert NAME in text.getvalue(), width
