"""JUnit's XML of several writers."""

from __future__ import annotations

import pytest
from junitparser import JUnitXml
from tests.integration.host.conftest import Project, project, suite
from tests.integration.importers.files import DATA, FORMATS, imported, imported_file

from scoregate.core.cases import Status
from scoregate.errors import ImportFailed

__all__ = ["project"]
FILES = [name for name, kind in FORMATS.items() if kind == "junit"]


def written(body: str, suite_name: str = "s") -> str:
    return f'<testsuite name="{suite_name}">{body}</testsuite>'


@pytest.mark.parametrize("name", ["junit-promptfoo.xml", "junit-pytest.xml"])
def test_the_counts_are_those_of_another_reader(name: str) -> None:
    whole, cases = JUnitXml.fromfile(str(DATA / name)), imported_file(name).cases
    states = [case.status for case in cases]
    assert len(cases) == sum(len(list(each)) for each in whole)
    assert states.count(Status.FAILED) == sum(each.failures for each in whole)
    assert states.count(Status.ERRORED) == sum(each.errors for each in whole)
    assert states.count(Status.UNSCORED) == sum(each.skipped for each in whole)


def test_pass_fail_error_and_skip() -> None:
    found = {case.hash.partition("::")[2]: case for case in imported_file("junit-pytest.xml").cases}
    assert found["test_capital[France-Paris-0.9]"].status is Status.PASSED
    failed = found["test_capital[Italy-Milan-0.25]"]
    assert failed.status is Status.FAILED
    assert "another city" in failed.evaluations["passed"].metadata["reason"]
    assert "the tool is gone" in found["test_with_a_tool"].errors[0].error.message
    assert not found["test_skipped"].evaluations
    assert found["test_skipped"].tags == ("skipped",)


def test_numeric_properties_are_scores_and_others_are_kept_beside() -> None:
    case = imported_file("junit-pytest.xml").cases[0]
    assert case.evaluations["closeness"].score == 0.9
    assert case.evaluations["stars"].score == 0.9
    assert case.evaluations["stars"].metadata == {"value": "4.5/5", "scale": [0, 5]}
    assert case.evaluations["passed"].metadata["properties"]["model"] == "rules-1"


def test_a_property_that_is_a_count_in_one_case_is_a_score_in_none() -> None:
    cases = imported_file("junit-pytest.xml").cases
    assert not any("letters" in case.evaluations for case in cases)
    assert [case.evaluations["passed"].metadata["properties"]["letters"] for case in cases[:2]] == ["2", "0"]


def test_a_score_that_is_named_so_and_is_none_is_an_error() -> None:
    body = '<testcase name="a"><properties><property name="score.x" value="7"/></properties></testcase>'
    (error,) = imported("junit", written(body)).cases[0].errors
    assert error.evaluator == "x"


def test_suites_within_suites_carry_the_names_around_them() -> None:
    found = imported_file("junit-node.xml")
    assert list(found.suites) == ["capitals", "capitals / of islands", "junit-node"]
    assert found.case("test::of Malta").status is Status.FAILED


def test_cases_of_one_name_are_told_apart() -> None:
    body = '<testcase name="a"/><testcase name="a"><failure/></testcase>'
    assert [case.hash for case in imported("junit", written(body)).cases] == ["a", "a #2"]


def test_namespaces_commas_in_times_and_single_suites_are_borne() -> None:
    body = '<testcase name="a" time="1,234.5"><system-out>hi</system-out></testcase>'
    (case,) = imported("junit", f'<testsuite xmlns="urn:x" name="s">{body}</testsuite>').cases
    assert (case.duration_ms, case.output) == (1_234_500, "hi")


@pytest.mark.parametrize(
    "declared", ["<!DOCTYPE x>", '<!DOCTYPE x [<!ENTITY a "b">]>', '<!DOCTYPE x SYSTEM "file:///etc/passwd">']
)
def test_a_document_type_is_refused(declared: str) -> None:
    with pytest.raises(ImportFailed, match="document type"):
        imported("junit", f"{declared}{written('<testcase/>')}")


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(ImportFailed, match="nested"):
        imported("junit", "<testsuite>" * 100_000 + "</testsuite>" * 100_000)


def test_our_own_report_is_understood(project: Project) -> None:
    project.write("evals/demo.py", suite(good=3, bad=1))
    ran = project.scoregate("run")
    found = imported("junit", (ran.out / "junit.xml").read_bytes())
    cases = [case for case in found.cases if list(found.suites)[case.suite] == "demo"]
    assert sorted(case.evaluations["is-equals"].score for case in cases) == [0, 1, 1, 1]
    assert [case.status for case in cases].count(Status.FAILED) == 1
