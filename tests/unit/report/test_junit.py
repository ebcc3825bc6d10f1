"""Other tools can read the JUnit report with any text of suites and models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite
from lxml import etree
from tests.unit.report.example_views import EXAMPLES, bot, router
from tests.unit.report.hostile import HOSTILE, hostile
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_run, view_of

from scoregate.kernel.report import junit, junit_xml
from scoregate.kernel.report import junit as held
from scoregate.kernel.report.junit_xml import BuiltCase, CaseTemplate, Location
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.event_values import ErrorInfo, Origin
from scoregate.kernel.types.runs.cases import CaseResult

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit-10.xsd")))


def text_of(view: ReportView) -> str:
    return "".join(junit.render(view))


def suites_of(view: ReportView) -> dict[str, TestSuite]:
    report = JUnitXml.fromstring(text_of(view).encode())
    return {suite.name: suite for suite in report}


def make_view(*trials: Trial, suite: str = "demo") -> ReportView:
    return view_of(make_run(ExampleSuite(suite, trials)))


def validate(text: str) -> None:
    """Check the report with Jenkins' schema, without our properties, files and lines of cases."""
    root = etree.fromstring(text.encode())
    for case in root.iter("testcase"):
        for properties in case.findall("properties"):
            case.remove(properties)
        for extra in ("file", "line"):
            case.attrib.pop(extra, None)
    SCHEMA.assertValid(root)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_matches_the_schema_and_counts(example: str) -> None:
    view = EXAMPLES[example]()
    text = text_of(view)
    validate(text)
    report = JUnitXml.fromstring(text.encode())
    for suite in report:
        cases = list(suite)
        kinds = [type(result) for case in cases for result in case.result]
        assert (suite.tests, suite.failures, suite.errors) == (len(cases), kinds.count(Failure), kinds.count(Error))
        assert suite.skipped == kinds.count(Skipped)
        assert suite.time == pytest.approx(sum(case.time for case in cases), abs=0.001 * len(cases) + 0.001)
        assert suite.timestamp == "2025-10-09T10:51:50"
    assert report.tests == sum(suite.tests for suite in report)
    assert report.failures == sum(suite.failures for suite in report)
    assert 'disabled="' not in text


def test_a_failed_case_names_the_missed_threshold_and_reason() -> None:
    score = Score("has-all-substrings", 0.71, metadata={"missing_substrings": ["store credit"]})
    [case] = suites_of(make_view(Trial("h1", [score, Score("tone")], name="refund", output="You can.")))["demo"]
    [failure] = case.result
    assert isinstance(failure, Failure)
    assert failure.type == "ThresholdNotMet"
    assert failure.message == 'has-all-substrings 0.71, not ≥ 0.9 (missing_substrings: ["store credit"])'
    assert failure.text.splitlines() == [
        "has-all-substrings: 0.71, needs ≥ 0.9",
        '  missing_substrings: ["store credit"]',
    ]
    assert (case.classname, case.name, case.system_out) == ("demo", "refund", "You can.")
    scores = {node.get("name"): node.get("value") for node in case._elem.iter("property")}
    assert scores == {"score.has-all-substrings": "0.71", "score.tone": "1"}
    assert (case._elem.get("file"), case._elem.get("line")) == ("evals/support_bot.py", "41")


def test_a_score_has_enough_digits_to_show_that_it_misses() -> None:
    [case] = suites_of(make_view(Trial("h1", [Score("tone", 0.899999)])))["demo"]
    assert case.result[0].message == "tone 0.899999, not ≥ 0.9"


def test_an_errored_case_has_its_traceback() -> None:
    error = ErrorInfo("TimeoutError", "", "Traceback (most recent call last):\n  …", "Raise the timeout.")
    [case] = suites_of(make_view(Trial("h1", error=error)))["demo"]
    [found] = case.result
    assert isinstance(found, Error)
    assert (found.type, found.message) == ("TimeoutError", "TimeoutError")
    assert "Traceback" in found.text
    assert "Raise the timeout." in found.text


def test_a_failed_and_errored_case_counts_once_and_names_both() -> None:
    refused = ErrorInfo("RateLimitError", "429", "Traceback: here")
    [case] = suites_of(make_view(Trial("h1", [Score("tone", 0.1), Score("judge", error=refused)])))["demo"]
    [found] = case.result
    assert isinstance(found, Failure)
    assert "Traceback: here" in found.text


def test_a_case_without_scores_passes_with_a_note() -> None:
    [case] = suites_of(make_view(Trial("h1", unscored=("tone", "judge"))))["demo"]
    assert case.result == []
    assert [(node.get("name"), node.get("value")) for node in case._elem.iter("property")] == [
        ("unscored", "tone, judge")
    ]


def test_hidden_outputs_are_omitted() -> None:
    view = view_of(
        make_run(ExampleSuite("demo", [Trial("h1", [Score("tone", 0.1)], output="private words")])),
        context=replace(CONTEXT, show_outputs=False),
    )
    assert "private words" not in text_of(view)


def test_every_gate_is_a_test_case() -> None:
    view = EXAMPLES["unmeasurable"]()
    gates = suites_of(view)["scoregate gates"]
    assert len(list(gates)) == len(view.findings)
    by_name = {case.name: case for case in gates}
    [error] = by_name["support-bot: error rate"].result
    assert (error.type, error.message) == ("Unmeasurable", "41 of 61 cases (67.2%), required: ≤ 5.0%")
    failed = {case.name: case.result for case in suites_of(EXAMPLES["failing"]())["scoregate gates"]}
    assert failed["support-bot: pass rate"][0].text == "set by pyproject.toml"
    assert failed["router: error rate"] == []


def test_a_gate_that_only_warns_is_skipped() -> None:
    gates = suites_of(EXAMPLES["failing"]())["scoregate gates"]
    [warning] = [case for case in gates if isinstance(case.result and case.result[0], Skipped)]
    assert warning.name == "rag · faithfulness: comparable"
    assert warning.result[0].message.startswith("only a warning: not comparable: its prompt changed, required: ")
    assert gates.skipped == 1


def test_names_are_unique_within_a_suite() -> None:
    trials = [Trial(f"hash{at}", name="the same", repeat=repeat) for at in range(3) for repeat in range(2)]
    names = [case.name for case in suites_of(make_view(*trials))["demo"]]
    assert len(set(names)) == len(names) == 6
    assert names[:3] == ["the same", "the same [repeat 1]", "the same (hash1)"]


def test_a_broken_suite_is_named() -> None:
    problem = ErrorInfo("InvalidSuite", "two evaluators are called tone", "Traceback: …")
    suite = suites_of(view_of(make_run(ExampleSuite("demo", (), errors=(problem,)))))["demo"]
    assert suite.tests == 0
    assert suite._elem.findtext("system-err") == "InvalidSuite: two evaluators are called tone\nTraceback: …"


def interleave_suites(*suites: ExampleSuite) -> ReportView:
    """A run with interleaved cases of suites."""
    run = make_run(*suites)
    columns = [[case for case in run.cases if case.suite == at] for at in range(len(suites))]
    turns = [case for case in chain(*zip_longest(*columns)) if case is not None]
    whole = tuple(
        replace(suite, trials=replace(suite.trials, read=lambda at=at: (case for case in turns if case.suite == at)))
        for at, suite in enumerate(run.suites)
    )
    return view_of(replace(run, suites=whole, read=lambda: iter(turns)))


def names_of(view: ReportView) -> dict[str, Sequence[str]]:
    return {label: sorted(case.name for case in suite) for label, suite in suites_of(view).items()}


def test_suites_with_interleaved_cases_are_separate(monkeypatch: pytest.MonkeyPatch) -> None:
    suites = (bot(range(3), range(9), count=1300), router(range(4)))
    expected = names_of(view_of(make_run(*suites)))
    view = interleave_suites(*reversed(suites))
    assert names_of(view) == expected
    monkeypatch.setattr(held.SpillBuffer.__init__, "__defaults__", (10,))
    assert names_of(view) == expected


def test_cases_are_written_while_they_are_read() -> None:
    run, taken = make_run(bot(range(3), range(9), count=2000)), [0]

    def read() -> Iterator[CaseResult]:
        for case in run.cases:
            taken[0] += 1
            yield case

    view = view_of(run)
    view = replace(view, trials=replace(view.trials, read=read))
    counts = [taken[0] for _ in junit.render(view)]
    assert counts == [0, 0, 500, 1000, 1500, 2000, 2000, 2000, 2000, 2000]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_the_report(text: str) -> None:
    error = ErrorInfo(text, text, text, text)
    trials = [
        Trial(
            "h1",
            [Score(text or "e", 0.1, metadata={text: text})],
            name=text,
            output=text,
            labels={"tone": text, f"is {text}": "odd"},
        ),
        Trial(text or "h2", [Score("e", error=error)], name=text, output={text: [text]}),
    ]
    view = view_of(make_run(ExampleSuite(text or "demo", trials, errors=(error,))))
    written = text_of(view)
    validate(written)
    assert len(written) < 1_000_000
    assert "\x1b" not in written


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(hostile, hostile, hostile)
def test_any_text_round_trips(name: str, output: str, reason: str) -> None:
    trial = Trial("h1", [Score(name, 0.1, metadata=reason)], name=name, output=output)
    text = text_of(make_view(trial, Trial("h2", [Score(name)], name=name), suite=output))
    validate(text)
    assert len(JUnitXml.fromstring(text.encode())) >= 2


@pytest.mark.parametrize("classname", ["bot", "blank", 'name="blank"'])
@pytest.mark.parametrize("properties", [(), [("score.a", "1"), ("score.<b>", 'a "b"\t&\n')]])
@given(name=st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1))
def test_a_template_matches_output_of_junit_xml(
    classname: str, properties: Sequence[tuple[str, str]], name: str
) -> None:
    place: Location = {"file": 'evals/<"bot".py', "line": 3}
    form = CaseTemplate(junit_xml.TestCase("blank", classname))
    xml = junit_xml.render_properties(properties)
    built_case = BuiltCase(junit_xml.TestCase(name, classname, **place), 1.25, xml)
    assert form.fill(name, 1.25, xml, place=junit_xml.render_place(place)) == junit_xml.render_cases([built_case])


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_a_case_from_a_file_has_its_line(score: float) -> None:
    view = make_view(
        Trial("a", [Score("e", score)], origin=Origin("evals/refunds.csv", 12)), Trial("b", [Score("e", score)])
    )
    cases = list(next(iter(JUnitXml.fromstring(text_of(view).encode()))))
    places = [(case._elem.get("file"), case._elem.get("line")) for case in cases]
    assert places == [("evals/refunds.csv", "12"), ("evals/support_bot.py", "41")]
