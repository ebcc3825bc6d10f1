"""Each field of a test case in JUnit's XML, and the attempts of a test that was run again."""

from __future__ import annotations

from typing import Any

import pytest
from tests.features.imports.files import Imported, imported

from scoregate.errors import ImportFailed
from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.runs.cases import CaseResult, Status

PROPERTY = '<property name="{0}" value="{1}"/>'


def load(body: str, suite: str = 'name="s"', outer: str = "", **options: Any) -> Imported:
    return imported("junit", f"<testsuites {outer}><testsuite {suite}>{body}</testsuite></testsuites>", **options)


def load_case(body: str, attributes: str = 'name="t"', **options: Any) -> CaseResult:
    (case,) = load(f"<testcase {attributes}>{body}</testcase>", **options).cases
    return case


def reason(case: CaseResult) -> Any:
    return (case.evaluations["passed"].metadata or {}).get("reason")


def test_names_durations_and_output() -> None:
    case = load_case(
        "<system-out> one </system-out><system-out>two</system-out>", 'classname=" C " name=" t " time="1,234.5"'
    )
    assert (case.hash, case.output, case.duration_ms) == ("C::t", "one\ntwo", 1_234_500)
    bare = load_case("", 'name="t" time="soon"')
    assert (bare.hash, bare.output, bare.duration_ms, bare.tags) == ("t", None, None, ())
    long = load_case(f"<system-out>{'x' * 32_001}</system-out>")
    assert long.output == "x" * 32_000


@pytest.mark.parametrize(
    ("owner", "name", "key"),
    [
        ("math", "math adds", "math adds"),
        ("math", "adds math", "adds math"),
        ("math", "math", "math"),
        ("math", "mathadds", "math::mathadds"),
        ("", "adds", "adds"),
        ("s", "adds", "adds"),
    ],
)
def test_the_class_is_part_of_the_key_unless_the_name_has_it(owner: str, name: str, key: str) -> None:
    assert load_case("", f'classname="{owner}" name="{name}"').hash == key


def test_the_file_is_that_of_the_case_or_of_its_suite() -> None:
    for attributes, suite, file in (
        ('name="t" file="a.py"', 'name="s" file="b.py"', Origin("a.py")),
        ('name="t"', 'name="s" file="b.py"', Origin("b.py")),
        ('name="t"', 'name="s"', None),
        (f"name='t' file='{'x' * 1_001}'", 'name="s"', Origin("x" * 1_000)),
    ):
        ((found),) = load(f"<testcase {attributes}/>", suite).suites.values()
        assert found.origin == file


def test_the_message_of_a_failure() -> None:
    for failure, expected in (
        ('<failure message="m">text</failure>', "m\ntext"),
        ('<failure message="m">m and more</failure>', "m and more"),
        ('<failure message="m">first\nthen m</failure>', "m\nfirst\nthen m"),
        ('<failure message="m"/>', "m"),
        ('<failure message="Failed">text</failure>', "text"),
        ('<failure message="Failed"/>', "Failed"),
        ("<failure>text</failure>", "text"),
        ("<failure/>", None),
        ('<failure message="m"><stackTrace>at x</stackTrace></failure>', "m\nat x"),
        ("<failure>=== RUN   TestA\n--- FAIL: TestA (0.0s)\n    a.go:1: why</failure>", "a.go:1: why"),
        ("<failure>=== RUN   TestA</failure>", "=== RUN   TestA"),
        ('<failure message="a"/><failure message="b"/>', "a\nb"),
        (f"<failure>{'x' * 32_001}</failure>", "x" * 32_000),
    ):
        case = load_case(failure)
        assert (case.status, reason(case)) == (Status.FAILED, expected), failure[:80]


def test_an_error_has_its_type() -> None:
    for element, expected in (
        ('<error type="IOError" message="gone">at x</error>', ("IOError", "gone\nat x")),
        ('<error message="gone"/>', ("Error", "gone")),
        ("<error/>", ("Error", "no message")),
    ):
        case = load_case(element)
        (problem,) = case.errors
        assert (case.status, case.evaluations) == (Status.ERRORED, {})
        assert (problem.error.type, problem.error.message) == expected
    both = load_case('<failure message="f"/><error message="e"/>')
    assert (both.status, reason(both), both.errors[0].error.message) == (Status.FAILED, "f", "e")


def test_an_attribute_counts_only_without_an_element() -> None:
    assert load_case("<skipped/>", 'name="t" status="failed"').status is Status.UNSCORED
    assert load_case("<failure/>", 'name="t" status="skipped"').status is Status.FAILED
    assert load_case("<error/>", 'name="t" status="passed"').status is Status.ERRORED
    assert load_case("", 'name="t" status="skipped" result="failed"').status is Status.FAILED
    for state in ("fail", "failed", "failure", "error", "errored", "broken"):
        assert load_case("", f'name="t" result=" {state.upper()} "').status is Status.FAILED
    for state in (
        "disabled", "ignored", "inconclusive", "incomplete", "notrun", "pending", "skip", "skipped", "suppressed",
    ):  # fmt: skip
        case = load_case("", f'name="t" status="{state}"')
        assert (case.status, case.tags, case.unscored) == (Status.UNSCORED, ("skipped",), ())


def properties(**values: str) -> str:
    pairs = ((name.replace("_", "."), value) for name, value in values.items())
    return f"<properties>{''.join(map(PROPERTY.format, *zip(*pairs, strict=True)))}</properties>"


def test_scores_are_numbers_or_fractions() -> None:
    for value, score, metadata in (
        ("0.5", 0.5, None),
        (" 1 ", 1.0, None),
        ("4/5", 0.8, {"value": "4/5", "scale": [0, 5]}),
        (" 1 / 4 ", 0.25, {"value": " 1 / 4 ", "scale": [0, 4]}),
        ("1/1", 1.0, None),
        ("0/2", 0.0, {"value": "0/2", "scale": [0, 2]}),
    ):
        evaluation = load_case(properties(score_x=value)).evaluations["x"]
        assert (evaluation.score, evaluation.metadata) == (score, metadata)
    for value in ("1_0", "high", "1/0", "1/-2", "nan", "inf", "1/inf", "a/b", "1/2/3", "1/1_0", ""):
        (problem,) = load_case(properties(score_x=value)).errors
        assert (problem.evaluator, problem.error.type) == ("x", "NoScore")
        assert problem.error.message == f"its property is not a number: {value}"


def test_other_properties_are_metadata_of_the_verdict() -> None:
    body = properties(score_x="1", model="m", close_one="0.5", input="question", cluster="doc")
    case = load_case(body, scores=("close*",))
    assert {name: each.score for name, each in case.evaluations.items()} == {"passed": 1, "x": 1, "close.one": 0.5}
    assert case.evaluations["passed"].metadata == {"properties": {"model": "m", "input": "question", "cluster": "doc"}}
    assert (case.input, case.cluster) == ("question", "doc")
    assert load_case("").cluster is None
    named = "<property name='a'> text </property><property name=' '/><property name='b' value='v'>t</property>"
    texts = f"<properties>{named}</properties>"
    assert load_case(texts).evaluations["passed"].metadata == {"properties": {"a": "text", "b": "v"}}


def test_properties_are_limited() -> None:
    many = "".join(PROPERTY.format(f"p{index}", index) for index in range(201))
    found = load_case(f"<properties>{many}</properties>").evaluations["passed"].metadata["properties"]
    assert list(found) == [f"p{index}" for index in range(200)]
    long = f"<properties>{PROPERTY.format('n' * 201, 'v' * 32_001)}</properties>"
    assert load_case(long).evaluations["passed"].metadata["properties"] == {"n" * 200: "v" * 32_000}


def test_tests_of_other_inputs_are_other_cases() -> None:
    body = "".join(f'<testcase name="t">{properties(input=each)}</testcase>' for each in "aba")
    first, second, third = load(body).cases
    assert first.hash != second.hash
    assert (first.hash[:2], second.hash[:2], third.hash[:2]) == ("t ", "t ", "t ")


RERUN = (
    '<flakyFailure message="one" time="1"><system-out>o1</system-out></flakyFailure>'
    '<flakyError type="E" message="two" time="2"><system-out>o2</system-out></flakyError><flakyError/>'
)


def test_attempts_before_a_passed_result() -> None:
    run = load(f'<testcase name="t" time="3">{RERUN}<system-out>last</system-out></testcase>')
    assert [(case.repeat, case.status) for case in run.cases] == [
        (0, Status.FAILED), (1, Status.ERRORED), (2, Status.ERRORED), (3, Status.PASSED),
    ]  # fmt: skip
    assert [(case.output, case.duration_ms) for case in run.cases] == [
        ("o1", 1000), ("o2", 2000), (None, None), ("last", 3000),
    ]  # fmt: skip
    assert reason(run.cases[0]) == "one"
    assert [(case.errors[0].error.type, case.errors[0].error.message) for case in run.cases[1:3]] == [
        ("E", "two"),
        ("Error", "no message"),
    ]


def test_attempts_after_a_failed_result() -> None:
    attempts = '<failure message="first"/><rerunFailure message="second"/><rerunError message="third"/>'
    run = load(f'<testcase name="t">{attempts}</testcase>')
    assert [case.status for case in run.cases] == [Status.FAILED, Status.FAILED, Status.ERRORED]
    assert [reason(case) for case in run.cases[:2]] == ["first", "second"]
    many = load(f"<testcase name='t'>{'<flakyFailure/>' * 101}</testcase>")
    assert len(many.cases) == 101
    assert many.cases[-1].status is Status.PASSED


def test_cases_of_one_test_beyond_the_count_are_attempts() -> None:
    """pytest-rerunfailures writes each attempt as a case, without a result if another followed."""
    body = '<testcase name="t"/><testcase name="t"/><testcase name="u"/>'
    run = load(body, 'name="s" tests="2"')
    assert [(case.hash, case.repeat, case.status) for case in run.cases] == [
        ("t", 0, Status.FAILED),
        ("t", 1, Status.PASSED),
        ("u", 0, Status.PASSED),
    ]
    assert reason(run.cases[0]) == "it failed and was run again; the report has no message of this attempt"
    plain = load(body, 'name="s" tests="3"')
    assert [(case.hash, case.repeat, case.status) for case in plain.cases] == [
        ("t", 0, Status.PASSED),
        ("t #2", 0, Status.PASSED),
        ("u", 0, Status.PASSED),
    ]
    bad = load(
        '<testcase name="t"><failure message="own"/></testcase><testcase name="t"><skipped/></testcase>',
        'name="s" tests="1"',
    )
    assert [(case.repeat, case.status) for case in bad.cases] == [(0, Status.FAILED), (1, Status.UNSCORED)]
    assert reason(bad.cases[0]) == "own"


def test_suites_are_named_by_all_around_them() -> None:
    inner = '<testsuite name="inner"><testcase name="t"/></testsuite><testcase name="u"/>'
    assert list(load(inner, 'name=" outer "').suites) == ["outer / inner", "outer"]
    assert list(load("<testcase name='t'/>", "", name="out.xml").suites) == ["out"]


def test_hosts_and_projects_tell_suites_apart() -> None:
    def shards(*hosts: str, outer: str = "") -> list[str]:
        bodies = (
            f'<testsuite name="s" hostname="{host}"><testcase classname="s" name="t"/></testsuite>' for host in hosts
        )
        return list(imported("junit", f"<testsuites {outer}>{''.join(bodies)}</testsuites>").suites)

    assert shards("a", "b") == ["s [hostname=a]", "s [hostname=b]"]
    assert shards("a", "a") == ["s"]
    assert shards("a", "") == ["s [hostname=a]", "s"]
    assert shards("h" * 101, "b")[0] == f"s [hostname={'h' * 100}]"
    assert shards("chromium", "webkit", outer='id="" name=""') == ["s [project=chromium]", "s [project=webkit]"]
    assert shards("chromium", outer='id="" name=""') == ["s [project=chromium]"]
    assert shards("chromium", outer='name=""') == ["s"]


def test_tests_of_go_with_subtests_are_groups() -> None:
    def run(*tests: tuple[str, bool]) -> list[str]:
        body = "".join(
            f'<testcase classname="p" name="{name}">{"" if passed else "<failure/>"}</testcase>'
            for name, passed in tests
        )
        return [case.hash for case in load(body).cases]

    assert run(("TestA", True), ("TestA/one", True), ("TestA/one/deep", True)) == ["p::TestA/one/deep"]
    assert run(("TestA", False), ("TestA/one", False)) == ["p::TestA/one"]
    assert run(("TestA", False), ("TestA/one", True)) == ["p::TestA", "p::TestA/one"]
    for name in ("FuzzA", "ExampleA", "BenchmarkA", "Test_a", "Test1"):
        assert run((name, True), (f"{name}/one", True)) == [f"p::{name}/one"]
    for name in ("Tested", "a", "Testing/x"):
        assert len(run((name, True), (f"{name}/one", True))) == 2


def test_the_root_and_the_depth_are_checked() -> None:
    for root in ("testcase", "x" * 81):
        with pytest.raises(ImportFailed, match=f"its root is <{root[:80]}>, not <testsuites> or <testsuite>"):
            imported("junit", f"<{root}/>")
    nested = '<testsuite name="s">' * 59 + '<testcase name="t"/>' + "</testsuite>" * 59
    assert len(imported("junit", nested).cases) == 1
    for deeper in (1, 2):
        body = '<testsuite name="s">' * (59 + deeper) + '<testcase name="t"/>' + "</testsuite>" * (59 + deeper)
        with pytest.raises(ImportFailed, match="its elements are nested more than 60 deep"):
            imported("junit", body)


def test_an_error_of_a_suite_is_a_case_with_its_name() -> None:
    run = load('<error message="set-up"/><testcase name="t"/>')
    assert [(case.hash, case.status) for case in run.cases] == [("t", Status.PASSED), ("s", Status.ERRORED)]
    assert run.cases[1].errors[0].error.message == "set-up"
    unnamed = imported("junit", '<testsuite><failure message="m"/></testsuite>')
    assert [(case.hash, reason(case)) for case in unnamed.cases] == [("the suite itself", "m")]
