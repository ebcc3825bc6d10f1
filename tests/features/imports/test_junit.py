"""JUnit's XML of several writers."""

from __future__ import annotations

import pytest
from junitparser import JUnitXml
from tests.features.imports.files import DATA, FORMATS, imported, imported_file
from tests.integration.host.conftest import Project, project, suite

from scoregate.errors import ImportFailed
from scoregate.kernel.types.runs.cases import Status

__all__ = ["project"]
FILES = [name for name, kind in FORMATS.items() if kind == "junit"]


def junit_text(body: str, suite_name: str = "s") -> str:
    return f'<testsuite name="{suite_name}">{body}</testsuite>'


@pytest.mark.parametrize("name", ["junit-promptfoo.xml", "junit-pytest.xml"])
def test_the_counts_equal_another_reader(name: str) -> None:
    document, cases = JUnitXml.fromfile(str(DATA / name)), imported_file(name).cases
    states = [case.status for case in cases]
    assert len(cases) == sum(len(list(each)) for each in document)
    assert states.count(Status.FAILED) == sum(each.failures for each in document)
    assert states.count(Status.ERRORED) == sum(each.errors for each in document)
    assert states.count(Status.UNSCORED) == sum(each.skipped for each in document)


def test_pass_fail_error_and_skip() -> None:
    imported_run = {case.hash.partition("::")[2]: case for case in imported_file("junit-pytest.xml").cases}
    assert imported_run["test_capital[France-Paris-0.9]"].status is Status.PASSED
    failed = imported_run["test_capital[Italy-Milan-0.25]"]
    assert failed.status is Status.FAILED
    assert "another city" in failed.evaluations["passed"].metadata["reason"]
    assert "the tool is gone" in imported_run["test_with_a_tool"].errors[0].error.message
    assert not imported_run["test_skipped"].evaluations
    assert imported_run["test_skipped"].tags == ("skipped",)


def test_an_attribute_says_that_a_test_failed_or_did_not_run() -> None:
    """Google Test lists disabled tests as `notrun`; some writers have no element for a failure."""
    states = {
        "failed": 'status="failed"', "broken": 'result="Failure"', "off": 'status="notrun" result="suppressed"',
        "undecided": 'status="incomplete"',
        "good": 'status="run" result="completed"', "plain": 'status="passed"',
    }  # fmt: skip
    body = "".join(f'<testcase classname="c" name="{name}" {attributes}/>' for name, attributes in states.items())
    found = {case.hash.partition("::")[2]: case.status for case in imported("junit", junit_text(body)).cases}
    assert found == {
        "failed": Status.FAILED, "broken": Status.FAILED, "off": Status.UNSCORED,
        "undecided": Status.UNSCORED,
        "good": Status.PASSED, "plain": Status.PASSED,
    }  # fmt: skip


def test_properties_are_scores_only_by_prefix_or_glob() -> None:
    (first, *_), (named, *_) = (
        imported_file("junit-pytest.xml").cases,
        imported_file("junit-pytest.xml", scores=("close*",)).cases,
    )
    assert sorted(first.evaluations) == ["passed", "stars"]
    assert first.evaluations["stars"].score == 0.9
    assert first.evaluations["stars"].metadata == {"value": "4.5/5", "scale": [0, 5]}
    assert first.evaluations["passed"].metadata["properties"]["closeness"] == "0.9"
    assert named.evaluations["closeness"].score == 0.9
    assert named.evaluations["passed"].metadata["properties"] == {"letters": "2", "model": "rules-1"}


def test_a_named_score_without_a_number_fails() -> None:
    body = '<testcase name="a"><properties><property name="score.x" value="7"/></properties></testcase>'
    (error,) = imported("junit", junit_text(body)).cases[0].errors
    assert error.evaluator == "x"


def test_the_message_of_a_failure_precedes_its_text_and_output() -> None:
    reasons = {
        name: [
            case.evaluations["passed"].metadata["reason"].partition("\n")[0]
            for case in imported_file(name).cases
            if case.status is Status.FAILED
        ]
        for name in ("junit-gotestsum.xml", "junit-jest.xml", "junit-pytest-repeat.xml", "junit-vitest.xml")
    }
    assert reasons == {
        "junit-gotestsum.xml": ["hours_test.go:5: closed on sunday", "hours_test.go:9: after its parts"],
        "junit-jest.xml": ["Error: expect(received).toEqual(expected) // deep equality"],
        "junit-pytest-repeat.xml": ["assert 1 >= 3", "assert 2 >= 3", *["AssertionError: the wrong"] * 2],
        "junit-vitest.xml": ["AssertionError: expected { answer: 1 } to deeply equal { answer: 2 }"],
    }


def test_a_name_with_the_class_is_kept() -> None:
    assert [case.hash for case in imported_file("junit-jest.xml").cases] == [
        "math adds",
        "math fails",
        "math inner deep",
    ]
    mocha = '<testcase classname="adds" name="math adds"/><testcase classname="add" name="math adds"/>'
    assert [case.hash for case in imported("junit", junit_text(mocha)).cases] == ["math adds", "add::math adds"]


def test_playwright_projects_and_hosts_are_separate_suites() -> None:
    imported_run = imported_file("junit-playwright.xml")
    assert list(imported_run.suites) == ["a.spec.ts [project=chromium]", "a.spec.ts [project=firefox]"]
    assert list(imported_file("junit-vitest.xml").suites) == ["v/math.test.js"], "the host is this machine"
    body = '<testsuite name="s" hostname="{}"><testcase name="a"/></testsuite>'
    two = imported("junit", f"<testsuites>{body.format('one')}{body.format('two')}</testsuites>")
    assert list(two.suites) == ["s [hostname=one]", "s [hostname=two]"]
    assert {case.hash for case in two.cases} == {"a"}


def test_shards_on_random_hosts_are_one_suite() -> None:
    def shards(*hosts: str) -> str:
        elements = (
            f'<testsuite name="s" hostname="{host}"><testcase name="t{index}"/></testsuite>'
            for index, host in enumerate(hosts)
        )
        return f"<testsuites>{''.join(elements)}</testsuites>"

    for hosts in (("runner-x7", "runner-q2"), ("runner-a", "runner-b", "runner-c")):
        assert list(imported("junit", shards(*hosts)).suites) == ["s"]


def test_a_rerun_fails_no_test_of_another_run() -> None:
    rerun = '<testsuite name="s" tests="2"><testcase name="a"/><testcase name="a"/><testcase name="b"/></testsuite>'
    plain = '<testsuite name="s" tests="3"><testcase name="a"/><testcase name="b"/><testcase name="b"/></testsuite>'
    for elements in (rerun + plain, plain + rerun):
        cases = imported("junit", f"<testsuites>{elements}</testsuites>").cases
        assert [case.status for case in cases].count(Status.FAILED) == 1
    pairs = '<testcase name="a"/>' * 3 + '<testcase name="b"/>' * 3
    cases = imported("junit", f'<testsuite name="s" tests="5">{pairs}</testsuite>').cases
    assert [case.status for case in cases].count(Status.FAILED) == 1, "only one case is more than the suite counts"


def test_groups_of_go_are_no_cases_unless_they_fail_on_their_own() -> None:
    imported_run = imported_file("junit-gotestsum.xml")
    assert {case.hash: case.status.value for case in imported_run.cases} == {
        "TestOpens/sunday": "failed",
        "TestParent": "failed",
        "TestOpens/monday": "passed",
        "TestOpens/week/last": "passed",
        "TestParent/fine": "passed",
        "TestAlone": "passed",
    }
    other = '<testcase name="in"/><testcase name="in/out"/>'
    assert len(imported("junit", junit_text(other)).cases) == 2, "only Go names subtests so"


def statuses(name: str) -> dict[str, list[str]]:
    """The status of every trial, by case."""
    results: dict[str, list[str]] = {}
    for case in imported_file(name).cases:
        trials = results.setdefault(case.hash, [])
        if case.suite == 0:
            assert case.repeat == len(trials)
            trials.append(case.status.value)
    return results


def test_attempts_are_trials_of_one_case() -> None:
    assert statuses("junit-surefire.xml") == {
        "opens": ["failed", "errored", "passed"],
        "closes": ["failed", "failed"],
        "holidays": ["passed"],
    }
    assert statuses("junit-playwright.xml") == {
        "adds": ["passed"],
        "fails": ["failed", "failed"],
        "flaky": ["failed", "passed"],
    }
    first = imported_file("junit-surefire.xml").cases[0]
    assert first.evaluations["passed"].metadata["reason"].startswith("org.opentest4j.AssertionFailedError: expected")
    assert first.output == "first"
    assert imported_file("junit-playwright.xml").cases[4].evaluations["brief"].score == 0.8


def test_attempts_without_a_result_of_pytest_rerunfailures_did_not_pass() -> None:
    assert statuses("junit-pytest-reruns.xml") == {
        "test_a::test_flaky": ["failed", "failed", "passed"],
        "test_a::test_p[a]": ["passed"],
        "test_a::test_p[b]": ["failed"] * 4,
    }


def test_the_numbers_of_pytest_repeat_are_trials_if_all_are_there() -> None:
    assert statuses("junit-pytest-repeat.xml") == {
        "test_a::test_flaky": ["failed", "failed"],
        "test_a::test_p[a]": ["passed", "passed"],
        "test_a::test_p[b]": ["failed", "failed"],
    }
    for names in (
        ["t[1-2]", "t[2-2]", "other"],
        ["t[1-2]", "t[2-2]", "u[1-3]", "u[2-3]", "u[3-3]"],
        ["t[1-2]", "t[2-2]", "u[1-2]"],
    ):
        cases = imported("junit", junit_text("".join(f'<testcase name="{name}"/>' for name in names))).cases
        assert [case.hash for case in cases] == names, "other parameters look like repeats"
    body = "".join(f'<testcase name="t[{number}-3]"/>' for number in (1, 3))
    assert [case.hash for case in imported("junit", junit_text(body)).cases] == ["t[1-3]", "t[3-3]"]


def test_results_that_explain_the_counts_of_a_suite_are_no_missing_cases() -> None:
    failures = "".join(f'<failure message="{number}"/>' for number in range(3))
    reruns = '<failure message="a"/><rerunFailure message="b"/><rerunError message="c"/>'
    for attributes, inside, states in (
        ('tests="1" failures="3"', failures, ["failed"]),
        ('tests="3" failures="3"', failures, ["failed"]),
        ('tests="1" errors="2" failures="1"', '<failure/><error message="x"/><error message="y"/>', ["failed"]),
        ('tests="3" failures="2" errors="1"', reruns, ["failed", "failed", "errored"]),
        ('tests="1" failures="1"', '<flakyFailure message="x"/>', ["failed", "passed"]),
        ('tests="2" failures="1"', '<flakyFailure message="x"/>', ["failed", "passed"]),
    ):
        text = f'<testsuites {attributes}><testsuite name="s" {attributes}><testcase name="a">{inside}</testcase>'
        found = imported("junit", f"{text}</testsuite></testsuites>")
        assert [case.status.value for case in found.cases] == states, attributes
        assert not found.notes
    joined = imported("junit", junit_text(f'<testcase name="a">{failures}</testcase>')).cases[0]
    assert joined.evaluations["passed"].metadata["reason"] == "0\n1\n2"
    errors = imported("junit", junit_text('<testcase name="a"><error message="x"/><error message="y"/></testcase>'))
    assert errors.cases[0].errors[0].error.message == "x\ny"


@pytest.mark.parametrize("counted", ["", 'tests="2" failures="1" errors="1"', 'tests="0" failures="0" errors="0"'])
def test_errors_of_a_suite_itself_are_a_case(counted: str) -> None:
    """The format allows them in place of cases, and some writers don't count them."""
    own = '<error message="tear-down"/><failure message="set-up"/>'
    cases = '<testcase name="a"/><testcase name="a"/>'
    found = imported("junit", f'<testsuites><testsuite name="s" {counted}>{own}{cases}</testsuite></testsuites>')
    states = [(case.hash, case.status.value) for case in found.cases]
    assert states == [("a", "passed"), ("a #2", "passed"), ("s", "failed")]
    assert "set-up" in str(found.cases[-1].evaluations)


def test_an_error_of_all_suites_alone_is_a_case() -> None:
    (case,) = imported("junit", '<testsuites errors="1"><error message="no tests were found"/></testsuites>').cases
    assert (case.hash, case.status) == ("the suite itself", Status.ERRORED)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (b"<testsuite>&#27;[31m</testsuite>", "NO_COLOR=1"),
        (b"<testsuite><![CDATA[\x1b[31m]]></testsuite>", "NO_COLOR=1"),
        ('<?xml version="1.0" encoding="UTF-8"?><testsuite/>'.encode("utf-16"), "PowerShell"),
        (b"<testsuite>a & b</testsuite>", "are written by"),
        (b"<testsuite>", "are written by"),
    ],
)
def test_the_cause_of_damaged_xml_is_named(text: bytes, advice: str) -> None:
    with pytest.raises(ImportFailed, match="not well-formed XML") as caught:
        imported("junit", text)
    assert advice in str(caught.value.advice)


def test_passed_subtests_of_pytest_are_counted_and_have_no_element() -> None:
    found = imported_file("junit-pytest-subtests.xml")
    assert [(case.hash.rpartition("::")[2], case.status.value) for case in found.cases] == [
        ("test_all_pass", "passed"), ("test_one_fails", "failed"),
        ("test_all_pass", "passed"), ("test_two_fail", "failed"),
    ]  # fmt: skip
    assert found.notes == ["<testsuite> 'pytest' counts 14 tests and holds 4: pytest counts passed subtests"]


def test_assertions_of_cpp_that_are_counted_as_tests_are_no_missing_cases() -> None:
    case = '<testcase name="a"><failure message="x"/></testcase>'
    for mark in ('hostname="tbd"', 'doctest_version="2.4.11"'):
        suite = f'<testsuite name="s" errors="0" failures="1" tests="40" {mark}>{case}</testsuite>'
        found = imported(
            "junit", f'<testsuites tests="41">{suite}<testsuite><testcase name="b"/></testsuite></testsuites>'
        )
        assert found.notes == ["<testsuite> 's' counts 40 tests and holds 1: it counts assertions"]


@pytest.mark.parametrize(
    ("attributes", "body", "message"),
    [
        ('tests="2"', "<testcase/>", "counts 2 tests and holds 1"),
        ('tests="3" failures="2"', "<testcase><failure/><failure/></testcase>", "counts 3 tests and holds 1"),
        ('tests="1" failures="2"', "<testcase><failure/></testcase>", "counts 2 failures and errors and holds 1"),
        ('tests="1" errors="1"', "<testcase/>", "counts 1 failures and errors and holds 0"),
        ('tests="4"', '<testcase/><testcase><flakyError message="x"/></testcase>', "counts 4 tests and holds 2"),
        ('tests="9" hostname="tbd" failures="1"', "<testcase/>", "counts 1 failures and errors and holds 0"),
        ('errors="0" failures="0" skipped="0" tests="9" time="1" timestamp="2026"', "", "counts 9 tests and holds 0"),
        ('tests="9" skipped="0" failures="0" errors="0" timestamp="2026" time="1"', "<testcase/>", "counts 9 tests"),
    ],
)
def test_a_file_that_lacks_cases_is_refused_after_those_it_has(attributes: str, body: str, message: str) -> None:
    text = f'<testsuite name="s" {attributes}>{body}</testsuite>'
    with pytest.raises(ImportFailed, match=f"cases are missing, as after a crash: <testsuite> 's' {message}"):
        imported("junit", text)


def test_nested_suites_have_the_outer_names() -> None:
    imported_run = imported_file("junit-node.xml")
    assert list(imported_run.suites) == ["capitals", "capitals / of islands", "junit-node"]
    assert imported_run.case("test::of Malta").status is Status.FAILED


def test_equal_names_are_numbered() -> None:
    body = '<testcase name="a"/><testcase name="a"><failure/></testcase>'
    assert [case.hash for case in imported("junit", junit_text(body)).cases] == ["a", "a #2"]


def test_namespaces_decimal_commas_and_single_suites_work() -> None:
    body = '<testcase name="a" time="1,234.5"><system-out>hi</system-out></testcase>'
    (case,) = imported("junit", f'<testsuite xmlns="urn:x" name="s">{body}</testsuite>').cases
    assert (case.duration_ms, case.output) == (1_234_500, "hi")


@pytest.mark.parametrize(
    "declared", ["<!DOCTYPE x>", '<!DOCTYPE x [<!ENTITY a "b">]>', '<!DOCTYPE x SYSTEM "file:///etc/passwd">']
)
def test_a_document_type_is_refused(declared: str) -> None:
    with pytest.raises(ImportFailed, match="document type"):
        imported("junit", f"{declared}{junit_text('<testcase/>')}")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ImportFailed, match="nested"):
        imported("junit", "<testsuite>" * 100_000 + "</testsuite>" * 100_000)


def test_scoregates_report_is_read(project: Project) -> None:
    project.write("evals/demo.py", suite(good=3, bad=1))
    outcome = project.scoregate("run")
    imported_run = imported("junit", (outcome.out / "junit.xml").read_bytes())
    cases = [case for case in imported_run.cases if list(imported_run.suites)[case.suite] == "demo"]
    assert sorted(case.evaluations["is-equals"].score for case in cases) == [0, 1, 1, 1]
    assert [case.status for case in cases].count(Status.FAILED) == 1
