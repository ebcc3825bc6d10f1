"""The calls of models in every report: the most expensive ones first, bounded, escaped, compared with the baseline."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import StringIO
from typing import Any

from jsonschema import Draft202012Validator
from rich.console import Console
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_base, make_run, view_of
from tests.unit.report.test_result_json import SCHEMA, closed, result_of

from scoregate.features.gateway.view import CallsRow, CallsTable, describe_totals
from scoregate.kernel.report import console, html, markdown
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.model_calls import CallTotals, ModelCalls, merge_calls, sum_calls

BOT = ExampleSuite("bot", [Trial("h", [Score("e")])])
ASKED = ModelCalls(
    "evals/bot.py", "", "openai", "gpt-4o", calls=1_204, input_tokens=150_000, output_tokens=31_000, cost=0.42
)
TIMED = replace(ASKED, p50_ms=812.4, p95_ms=1_904.0)
JUDGED = ModelCalls("evals/bot.py", "polite", "anthropic", "claude", calls=9, cached=5, retried=2, refused=3, failed=1)


def view(*calls: ModelCalls, base: tuple[ModelCalls, ...] | None = None) -> ReportView:
    before = None if base is None else make_base(BOT, model_calls=base)
    return view_of(make_run(BOT, model_calls=calls), before)


def rows_of(report: ReportView) -> tuple[CallsRow, ...]:
    (table,) = (each.content for each in report.sections if each.feature == "gateway")
    assert isinstance(table, CallsTable)
    return table.rows


def comment(view: ReportView, **options: Any) -> str:
    return "".join(markdown.render(view, **options))


def terminal(view: ReportView, *, full: bool = True, width: int = 160) -> str:
    output = Console(file=StringIO(), width=width, force_terminal=False)
    with output.capture() as captured:
        for part in console.render(view, full=full):
            output.print(part)
    return captured.get()


def test_no_report_mentions_calls_without_a_gateway() -> None:
    nothing = view()
    assert "Calls of models" not in comment(nothing) + "".join(html.render(nothing))
    assert "calls of models" not in terminal(nothing)
    assert result_of(nothing)["model_calls"] == []


def test_the_comment_has_a_table_with_notes_about_counts_that_are_not_zero() -> None:
    text = comment(view(JUDGED, TIMED))
    heading = "Calls of models: 1,213 calls, 181 k tokens, <span>$</span>0.42, 5 cached, 2 retried, 3 refused, 1 failed"
    assert f"<details><summary>{heading}</summary>\n\n| Suite · scorer | Model | Calls |" in text
    assert "| p95 | Notes |\n|:--|:--|--:|--:|--:|--:|--:|:--|\n" in text
    first, second = re.findall(r"^\| <code>bot</code>.*$", text.partition("Calls of models")[2], re.MULTILINE)
    assert "| <code>openai/gpt-4o</code> | 1,204 | 181 k | <span>$</span>0.42 | 812 ms | 1.9 s |" in first
    assert second.startswith("| <code>bot</code> · <code>polite</code> | <code>anthropic/claude</code> | 9 | 0 |")
    assert second.endswith("| – | – | 5 cached, 2 retried, 3 refused, 1 failed |")
    assert "Notes" not in comment(view(TIMED)).partition("Calls of models")[2]


def test_calls_and_cost_are_compared_if_both_runs_called_the_provider() -> None:
    less = replace(ASKED, calls=1_200, cost=0.39)
    compared = view(ASKED, JUDGED, base=(less, JUDGED))
    for text in (terminal(compared), "".join(html.render(compared)), comment(compared).replace("<span>$</span>", "$")):
        assert "1,204 (+4)" in text
        assert "$0.42 (+$0.03)" in text
    replayed = replace(ASKED, replayed=1_204, cost=0.0)
    text = terminal(view(replayed, base=(less,)))
    assert "1,204 (+4)" in text
    assert "$0.00 " in text
    assert "−$" not in text
    assert "(+" not in terminal(view(ASKED, base=()))


def test_the_terminal_has_a_line_and_with_details_a_row_for_each_model() -> None:
    shown = view(TIMED, JUDGED)
    line = "calls of models: 1,213 calls, 181 k tokens, $0.42, 5 cached, 2 retried, 3 refused, 1 failed"
    brief = terminal(shown, full=False)
    assert line in brief.splitlines()
    assert "anthropic/claude" not in brief
    table = terminal(shown).partition(f"{line}\n")[2].splitlines()
    assert table[0].split("  ")[0] == "suite · scorer"
    assert table[1].split() == ["bot", "openai/gpt-4o", "1,204", "181", "k", "$0.42", "812", "ms", "1.9", "s"]
    assert table[2].split()[:5] == ["bot", "·", "polite", "anthropic/claude", "9"]
    narrow = terminal(shown, width=70)
    assert "bot  openai/gpt-4o\n    calls 1,204  tokens 181 k  cost $0.42  p50 812 ms  p95 1.9 s\n" in narrow


def test_the_result_has_all_counts() -> None:
    result = result_of(view(replace(TIMED, waited_s=2.5), JUDGED, base=(replace(ASKED, calls=7, cost=0.1),)))
    Draft202012Validator(closed(SCHEMA)).validate(result)
    first, second = result["model_calls"]
    assert (first["suite"], first["script"], first["model"]) == ("bot", "evals/bot.py", "gpt-4o")
    assert (first["input_tokens"], first["waited_s"], first["p95_ms"]) == (150_000, 2.5, 1_904.0)
    assert first["base"] == {"calls": 7, "cost": 0.1}
    assert (second["evaluator"], second["refused"], second["base"]) == ("polite", 3, None)


def test_a_script_of_several_suites_is_named() -> None:
    other = replace(ASKED, suite="evals/others.py")
    assert [row.suite for row in rows_of(view(other, ASKED))] == ["bot", "evals/others.py"]


def test_many_rows_are_bounded() -> None:
    many = [replace(ASKED, model=f"model-{at}", cost=at / 1000) for at in range(700)]
    shown = view(*many)
    text = comment(shown)
    assert text.count("<code>openai/model-") == 20
    assert "<code>openai/model-699</code>" in text
    assert "680 rows more in the" in text
    page = "".join(html.render(shown))
    assert page.count(">openai/model-") == 500
    assert "200 rows more in result.json" in page
    assert "… 500 more rows: see result.json" in terminal(shown)
    assert len(result_of(shown)["model_calls"]) == 700
    for budget in (3_000, 1_500):
        assert len(comment(shown, budget=budget).encode()) <= budget


def test_hostile_names_are_text() -> None:
    hostile = [ModelCalls(text, text, text, text, calls=1) for text in HOSTILE]
    shown = view(*hostile)
    text = comment(shown, budget=200_000).partition("Calls of models")[2]
    assert "<img" not in text
    assert "<!--" not in text
    assert text.count("</details>") == 1
    assert text.count("\n| ") == 21  # the headings, and the first rows
    page = "".join(html.render(shown))
    assert "<img src=x" not in page
    assert "\x1b" not in page + terminal(shown)
    json.dumps(result_of(shown))
    Draft202012Validator(closed(SCHEMA)).validate(result_of(shown))


def test_an_unknown_price_is_no_price() -> None:
    unpriced = replace(ASKED, cost=0.0, unpriced=1_204)
    assert [*describe_totals(sum_calls([unpriced]))] == ["1,204 calls", "181 k tokens", "1,204 without a known price"]
    (row,) = rows_of(view(unpriced))
    assert row.cost == "–"
    assert [*describe_totals(CallTotals(calls=1, waited_s=0.25))] == ["1 call", "$0.00", "waited 250 ms for limits"]


def test_calls_of_shards_are_added() -> None:
    one = ModelCalls("evals/a.py", "", "openai", "gpt-4o", calls=2, cost=0.5, p50_ms=3.0)
    other = ModelCalls("evals/b.py", "", "openai", "gpt-4o", calls=1, p50_ms=4.0)
    both, alone = merge_calls([one, other, one])
    assert (both.calls, both.cost, both.p50_ms) == (4, 1.0, None)
    assert alone == other
