"""The counts of JUnit's suites: missing cases, results beyond one for each case, and what explains the rest."""

from __future__ import annotations

import pytest
from tests.features.imports.files import Imported, imported

from scoregate.errors import ImportFailed

CASE, BAD = '<testcase name="{0}"/>', '<testcase name="{0}"><failure/></testcase>'


def load(body: str, attributes: str) -> Imported:
    return imported("junit", f'<testsuite name="s" {attributes}>{body}</testsuite>')


def cases(count: int, template: str = CASE) -> str:
    return "".join(template.format(f"t{index}") for index in range(count))


@pytest.mark.parametrize(
    ("attributes", "body"),
    [
        ('tests="2"', cases(2)),
        ('tests="1"', cases(2)),
        ('tests=" 2 "', cases(2)),
        ("", cases(2)),
        ('tests="two"', cases(2)),
        ('tests="-3"', cases(2)),
        ('tests="1234567890123456"', cases(2)),
        ('tests="2" failures="1" errors="1"', cases(2, BAD)),
        ('tests="2" failures="2"', cases(1, BAD) + '<testcase name="e"><error/></testcase>'),
        ('tests="3"', '<testcase name="a"><failure/><error/><skipped/></testcase>'),
        ('tests="2"', '<testcase name="a"><rerunFailure/></testcase>'),
        ('tests="3" failures="2"', '<testcase name="a"><failure/><rerunError/></testcase>' + cases(1)),
        ('tests="1" failures="1"', '<testcase name="a" status="failed"/>'),
        ('tests="1" errors="1"', f"<error/>{cases(1)}"),
    ],
)
def test_suites_that_hold_what_they_count(attributes: str, body: str) -> None:
    assert load(body, attributes).notes == []


@pytest.mark.parametrize(
    ("attributes", "body", "problem"),
    [
        ('tests="3"', cases(2), "<testsuite> 's' counts 3 tests and holds 2"),
        ('tests="123456789012345"', cases(2), "counts 123,456,789,012,345 tests and holds 2"),
        ('tests="2" failures="1"', cases(2), "counts 1 failures and errors and holds 0"),
        ('tests="2" failures="2" errors="1"', cases(2, BAD), "counts 3 failures and errors and holds 2"),
        ('tests="3"', '<testcase name="a"><failure/><error/></testcase>', "counts 3 tests and holds 1"),
        ('tests="3"', '<testcase name="a"><flakyFailure/></testcase>', "counts 3 tests and holds 1"),
        (
            'failures="1"',
            '<testcase name="a" status="failed"><skipped/></testcase>',
            "counts 1 failures and errors and holds 0",
        ),
        ('tests="2"', '<testcase name="a"><failure/></testcase>', "counts 2 tests and holds 1"),
    ],
)
def test_suites_that_hold_less(attributes: str, body: str, problem: str) -> None:
    with pytest.raises(ImportFailed) as caught:
        load(body, attributes)
    assert f"cases are missing, as after a crash: {problem}" in caught.value.message or problem in caught.value.message
    assert "more such suites" not in caught.value.message


def test_further_suites_that_lack_cases_are_counted() -> None:
    inner = '<testsuite name="{0}" tests="2"><testcase name="t"/></testsuite>'
    with pytest.raises(ImportFailed, match=r"<testsuite> 'a' counts 2 tests and holds 1 \(and 2 more such suites\)"):
        imported("junit", f"<testsuites>{''.join(map(inner.format, 'abc'))}</testsuites>")
    with pytest.raises(ImportFailed, match="<testsuites> counts 4 tests and holds 1"):
        imported("junit", f'<testsuites tests="4"><testsuite>{cases(1)}</testsuite></testsuites>')


def test_outer_suites_count_the_cases_of_inner_ones() -> None:
    inner = '<testsuite tests="2" failures="1">{2}</testsuite><testsuite tests="1">{3}</testsuite>'
    outer = f'<testsuites tests="{{0}}" failures="{{1}}">{inner}</testsuites>'
    body = cases(1) + BAD.format("b")
    assert len(imported("junit", outer.format(3, 1, body, cases(1))).cases) == 3
    with pytest.raises(ImportFailed, match="<testsuites> counts 4 tests and holds 3"):
        imported("junit", outer.format(4, 1, body, cases(1)))
    with pytest.raises(ImportFailed, match="<testsuites> counts 2 failures and errors and holds 1"):
        imported("junit", outer.format(3, 2, body, cases(1)))


def test_what_explains_a_higher_count_is_noted() -> None:
    pytest_suite = 'errors="0" failures="0" skipped="0" tests="3" time="1" timestamp="2026-01-01" hostname="h"'
    suite = f'<testsuite name="s" {pytest_suite}>{cases(1)}</testsuite>'
    found = imported("junit", f'<testsuites tests="3">{suite}</testsuites>')
    assert found.notes == ["<testsuite> 's' counts 3 tests and holds 1: pytest counts passed subtests"]
    for attribute in ('hostname="tbd"', 'doctest_version="2"'):
        assert load(cases(1), f'tests="2" {attribute}').notes == [
            "<testsuite> 's' counts 2 tests and holds 1: it counts assertions"
        ]
    # Without any case, or with the attributes in Gradle's order, nothing explains it.
    for attributes in (pytest_suite.replace('errors="0" failures="0"', 'failures="0" errors="0"'), pytest_suite[12:]):
        with pytest.raises(ImportFailed, match="counts 3 tests and holds 1"):
            load(cases(1), attributes)
    with pytest.raises(ImportFailed, match="counts 3 tests and holds 0"):
        imported(
            "junit", f'<testsuites><testsuite name="s" {pytest_suite}/><testsuite>{cases(1)}</testsuite></testsuites>'
        )
    with pytest.raises(ImportFailed, match="counts 1 failures and errors and holds 0"):
        load(cases(1), pytest_suite.replace('failures="0"', 'failures="1"'))
