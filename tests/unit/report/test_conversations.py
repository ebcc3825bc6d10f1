"""A failing conversation shows its failing turns, baseline beside run, and the transcript."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from rich.console import Console
from tests.unit.kernel.conversations import conversations, said
from tests.unit.report.example_views import EXAMPLES
from tests.unit.report.hostile import HOSTILE, hostile
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.report import console, junit, markdown
from scoregate.kernel.report.cases import FailingCase
from scoregate.kernel.report.conversations import ConversationView
from scoregate.kernel.report.excerpts import format_value
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.conversation import Conversation, EndReason, Turn
from scoregate.kernel.types.evaluation import Assertion
from scoregate.kernel.types.event_values import ErrorInfo

Pairs = Sequence[tuple[str, str]]
NOW = [("Hi", "Hello"), ("I eat no meat", "Noted"), ("Where to eat?", "The steak house"), ("Sure?", "Yes")]
BEFORE = [("Hi", "Good day"), ("I eat no meat", "Noted"), ("Where to eat?", "The salad bar"), ("Thanks", "Bye")]


def make_suite(pairs: Pairs, score: float, *, output: Any = None, **given: Any) -> ExampleSuite:
    shown = said(*pairs, ended=EndReason.MAX_TURNS, goal_achieved=score == 1).plain() if output is None else output
    return ExampleSuite("planner", [Trial("h", [Score("goal", score, **given)], name="a trip", output=shown)])


def view(now: Pairs = NOW, before: Pairs | None = BEFORE, **given: Any) -> ReportView:
    base = None if before is None else make_base(make_suite(before, 1.0))
    return view_of(make_run(make_suite(now, 0.0, **given)), base)


def conversation_of(report: ReportView) -> ConversationView:
    [case] = report.notable.failing
    assert case.conversation is not None
    return case.conversation


def comment(report: ReportView) -> str:
    [text] = markdown.render(report)
    return text


def printed(report: ReportView) -> str:
    written = io.StringIO()
    for part in console.render(report):
        Console(file=written, width=150).print(part)
    return written.getvalue()


def with_turns(*turns: Any) -> dict[str, Any]:
    return {"metadata": {"reason": "no", "relevant_turns": list(turns)}}


@pytest.mark.parametrize(
    ("fields", "before", "turns", "message"),
    [
        (with_turns(3), BEFORE, [3], "failed in turn 3, according to the judges"),
        (with_turns(2, 3), BEFORE, [3], "failed in turn 3, according to the judges"),
        (with_turns(1, 3), BEFORE, [1, 3], "failed in turns 1 and 3, according to the judges"),
        (with_turns(2), BEFORE, [2], "failed in turn 2, according to the judges"),
        (with_turns(2, 3), None, [2, 3], "failed in turns 2 and 3, according to the judges"),
        (with_turns(4, 3, 2, 1), None, [1, 2, 3], "failed in turns 1, 2, 3 and 1 more, according to the judges"),
        (with_turns(0, 5, -1, True, "3", 2.0, None), BEFORE, [1], "answers differ from turn 1 on"),
        ({"metadata": {"relevant_turns": 3}}, BEFORE, [1], "answers differ from turn 1 on"),
        ({}, BEFORE, [1], "answers differ from turn 1 on"),
        ({}, NOW[:3], [4], "answers differ from turn 4 on"),
        ({}, [*NOW, ("Bye", "Bye")], [], ""),
        ({}, None, [], ""),
    ],
)
def test_failing_turns_are_those_of_judges_or_the_first_difference(
    fields: dict[str, Any], before: Pairs | None, turns: list[int], message: str
) -> None:
    conversation = conversation_of(view(before=before, **fields))
    assert (conversation.difference, sorted({line.turn for line in conversation.lines})) == (message, turns)


def test_unmet_criteria_have_turns() -> None:
    rubric = (
        Assertion("greets", True, True, {"relevant_turns": [1]}),
        Assertion("minds the diet", False, True, {"relevant_turns": [3]}),
    )
    assert (
        conversation_of(view(assertions=rubric, **with_turns(1, 3))).difference
        == "failed in turn 3, according to the judges"
    )


def test_passing_evaluations_have_no_turns() -> None:
    suite = make_suite(NOW, 0.0)
    suite.trials[0].scores.append(Score("polite", 1.0, metadata={"relevant_turns": [2]}))
    assert (
        conversation_of(view_of(make_run(suite), make_base(make_suite(BEFORE, 1.0)))).difference
        == "answers differ from turn 1 on"
    )


def test_the_turn_is_shown_beside_the_bases() -> None:
    conversation = conversation_of(view(**with_turns(4)))
    assert [(line.role, line.base, line.now) for line in conversation.lines] == [
        ("user", "Thanks", "Sure?"),
        ("assistant", "Bye", "Yes"),
    ]
    assert (conversation.base_summary, conversation.summary) == (
        "4 turns, goal achieved, no turns left",
        "4 turns, goal not achieved, no turns left",
    )
    text = comment(view(**with_turns(4)))
    assert "<summary><code>a trip</code>: failed in turn 4, according to the judges" in text
    assert "| 4 | assistant | Bye | Yes |" in text
    assert "Turn 3, assistant:\n  The steak house\n" in text


def test_a_turn_missing_in_the_base_is_shown_alone() -> None:
    assert "| 4 | assistant | – | Yes |" in comment(view(before=NOW[:3]))


def test_without_a_base_only_the_run_is_shown() -> None:
    text = comment(view(before=None, **with_turns(3)))
    assert "| Turn | | Message |" in text
    assert "| 3 | assistant | The steak house |" in text


@pytest.mark.parametrize("output", ["a text", {"type": "conversation"}, None, ""])
def test_a_base_of_another_type_is_ignored(output: Any) -> None:
    base = ExampleSuite("planner", [Trial("h", [Score("goal", 1.0)], output=output)])
    conversation = conversation_of(view_of(make_run(make_suite(NOW, 0.0)), make_base(base)))
    assert (conversation.base_summary, conversation.lines) == (None, ())


def test_a_conversation_turned_text_is_shown_as_text() -> None:
    [case] = view_of(
        make_run(make_suite(NOW, 0.0, output="a text")), make_base(make_suite(BEFORE, 1.0))
    ).notable.failing
    assert case.conversation is None
    assert "+ a text" in case.shown.diff


def test_long_messages_are_shown_from_their_first_difference() -> None:
    same = "The same words again and again. " * 30
    [_, line] = conversation_of(view([("q", same + "A new end.")], [("q", same + "An old end.")])).lines
    assert line.base is not None
    assert (line.now[:1], line.now[-10:], line.base[-11:]) == ("…", "A new end.", "An old end.")
    assert len(line.now) < 200
    [_, line] = conversation_of(view([("q", "New: " + same)], [("q", "Old: " + same)])).lines
    assert line.now.startswith("New: The same")
    assert len(line.now) == 400


def test_conversations_are_omitted_with_hidden_outputs() -> None:
    hidden = replace(CONTEXT, show_outputs=False)
    report = view_of(make_run(make_suite(NOW, 0.0)), make_base(make_suite(BEFORE, 1.0)), context=hidden)
    for text in (comment(report), printed(report), "".join(junit.render(report))):
        assert "a trip" in text
        assert "steak" not in text


def test_the_console_shows_failing_turns() -> None:
    text = printed(EXAMPLES["talking"]())
    assert "failed in turn 2, according to the judges" in text
    assert "2 assistant, baseline: Try Armando al Pantheon" in text
    assert "2 assistant: Try Checchino dal 1887" in text
    assert "3 turns, goal not achieved, no turns left; baseline: 3 turns, goal achieved" in text


def test_junit_has_the_transcript() -> None:
    root = ElementTree.fromstring("".join(junit.render(view(**with_turns(3)))).encode())
    [out] = [each.text or "" for each in root.iter("system-out")]
    assert out.startswith("Turn 1, user:\n  Hi\nTurn 1, assistant:\n  Hello\n")
    assert out.endswith("(4 turns, goal not achieved, no turns left)")
    assert any("relevant_turns: [3]" in (each.text or "") for each in root.iter("failure"))


def test_a_conversation_ended_by_an_error_is_shown_with_it() -> None:
    broken = ExampleSuite("planner", [Trial("h", output=said(("Hi", "Hello")).plain())])
    spec_events = list(broken.events())
    error = ErrorInfo("EndpointError", "502 Bad Gateway")

    class Broken(ExampleSuite):
        def events(self) -> Any:
            from scoregate.kernel.types.events import Errored

            yield from spec_events[:3]
            yield Errored(suite="planner", case="h", stage="task", error=error)
            yield from spec_events[3:]

    text = "".join(junit.render(view_of(make_run(Broken("planner", ())))))
    assert "502 Bad Gateway" in text
    assert "Turn 1, assistant:\n  Hello\n(1 turn, stopped by an error)" in text


@given(conversations)
@settings(deadline=None)
def test_transcripts_fit_and_end_with_the_result(conversation: Conversation) -> None:
    text = format_value(conversation.plain(), 4000)
    assert len(text) <= 4000
    assert re.search(r"^\(\d+ turns?", text, re.MULTILINE)


def test_long_conversations_are_cut_in_the_middle() -> None:
    findings = tuple(f"Turn {at}: {'found ' * 100}" for at in range(100))
    turns = [Turn(f"question {at}", "word " * 2000, tool_calls=({"name": "x" * 5000},)) for at in range(100)]
    text = format_value(Conversation(tuple(turns), EndReason.LOOP, False, findings).plain(), 4000)
    assert text.startswith("Turn 1, user:\n  question 0")
    assert "turns left out …" in text
    assert "\n(100 turns, goal not achieved, the conversation looped)\n(Turn 0: found" in text
    assert len(text) <= 4000


@given(hostile, hostile)
@settings(max_examples=50, deadline=None)
def test_invisible_characters_are_shown(user: str, answer: str) -> None:
    report = view([(user, answer)], [(answer, user)], **with_turns(1))
    for text in (comment(report), "".join(junit.render(report)), format_value(said((user, answer)).plain())):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]", text)


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
def test_no_message_changes_the_comment(text: str) -> None:
    cmarkgfm = pytest.importorskip("cmarkgfm")

    def tags(word: str) -> list[str]:
        calls = ({word[:1000]: word},)
        now = Conversation((Turn(word, f"now {word}", tool_calls=calls),), EndReason.GOAL, True, (word,)).plain()
        report = view_of(
            make_run(make_suite((), 0.0, output=now, **with_turns(1))),
            make_base(make_suite([(f"then {word}", word)], 1.0)),
        )
        shown = comment(report)
        assert shown.count("<!--") == 1
        shown = shown.replace("<span>$</span>", "$")
        html = cmarkgfm.github_flavored_markdown_to_html(shown, options=cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)
        return [tag for tag in re.findall(r"<[^>]*>", html) if "scoregate:v1" not in tag]

    assert tags(text) == tags("harmless")


def test_the_largest_conversations_fit_into_a_comment() -> None:
    long = [(f"question {at} " * 300, f"answer {at} " * 300) for at in range(40)]
    trials = [Trial(f"h{at}", [Score("goal", 0.0)], output=said(*long).plain()) for at in range(30)]
    report = view_of(make_run(ExampleSuite("planner", trials)))
    assert 10_000 < len(comment(report).encode()) <= markdown.BUDGET
    [summary] = markdown.render_summary(report, budget=1_000_000)
    assert summary.count("Full conversation") == 20


def test_views_of_long_texts_are_small() -> None:
    turns = tuple(Turn("q" * 10_000, "a" * 100_000) for _ in range(300))
    [case] = view_of(make_run(make_suite((), 0.0, output=Conversation(turns).plain(), **with_turns(3)))).notable.failing
    assert isinstance(case, FailingCase)
    assert len(repr(case)) < 20_000
