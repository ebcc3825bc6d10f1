"""Reports in the Common Test Report Format (CTRF): tests as cases, with pass or fail, attempts as trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    PASSED,
    Grade,
    Trial,
    defined_fields,
    error,
    excerpt,
    list_rows,
    name_suite,
    no_verdict,
    pass_fail_grade,
    read_tables,
    table,
    text,
)
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import Part, ResultFile, parse_document
from scoregate.kernel.types.event_values import Origin, Setup
from scoregate.kernel.types.events import Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import digest
from scoregate.kernel.types.text import parse_amount, parse_number

_SKIPPED = ("skipped", "pending")
_STATES = ("passed", "failed", *_SKIPPED, "other")


def read(result: ResultFile) -> Iterator[Event]:
    """The events of every suite of a report.

    Raises:
        ImportFailed: it is no such report, or has fewer tests than it counts.
        ValueError: it is damaged.
    """
    results = parse_document(result.read()).members().get("results")
    members = results.members() if results is not None else {}
    if "tests" not in members or "tool" not in members:
        raise ImportFailed("it has no `results` with `tool` and `tests`")
    # A key depends on all cases, so the tests are read twice.
    keys: dict[str, CaseKeys] = {}
    for name, trial, _ in _read_trials(members["tests"], result):
        keys.setdefault(name, CaseKeys()).add(trial)
    suites: dict[str, Suite] = {}
    for name, trial, test in _read_trials(members["tests"], result):
        if name not in suites:
            file = text(test.get("filePath"))
            suites[name] = Suite(result.suite_id(name_suite(name)), keys[name])
            origin = Origin(file) if file else None
            setup = Setup(name, result.stable_name)
            yield SuiteStarted(suite=suites[name].id, origin=origin, sdk="ctrf", setup=setup)
        yield from suites[name].events_of(trial)
    for suite in suites.values():
        yield SuiteFinished(suite=suite.id)
    # At the end, since the tests that are there count.
    _check_counts(table(members["summary"].value) if "summary" in members else {}, members["tests"])


def _check_counts(summary: Mapping[str, Any], tests: Part) -> None:
    """Compare the summary with the tests.

    Raises:
        ImportFailed: it counts more tests, or more failed tests, than are listed.
    """
    states = Counter(text(test.get("status")) for test in list_rows(tests, "tests"))
    for name, listed, title in (("tests", states.total(), "tests"), ("failed", states["failed"], "failed tests")):
        counted = parse_number(summary.get(name)) or 0
        if counted > listed:
            problem = f"{counted:,.0f} {title} are counted, {listed:,} listed"
            raise ImportFailed(f"tests are missing, as after a crash: {problem}")


def _read_trials(tests: Part, result: ResultFile) -> Iterator[tuple[str, Trial, Mapping[str, Any]]]:
    """Every attempt at every test with its suite, the last result last. Tests of one name are repeats."""
    repeats = Counter[tuple[str, str, str]]()
    for test in list_rows(tests, "tests"):
        if not (name := text(test.get("name"))):
            raise ImportFailed(f"a test has no name: {excerpt(test, 80)}")
        suite = _read_suite(test) or result.stem
        final = _read_trial(test, name)
        # Rows of a parametrised test have one name, and are no repeats of each other.
        counted = (suite, name, digest(test.get("parameters")))
        retries = read_tables(test.get("retryAttempts"), "retryAttempts")
        attempts = [_read_attempt(each, final) for each in retries if _is_failure(each)]
        # Some writers list no attempts, and only say that a test was flaky.
        if not attempts and test.get("flaky") is True and test.get("status") == "passed":
            attempts = [_read_attempt({"status": "failed", "message": "it failed before it passed"}, final)]
        trials = [final] if test.get("status") == "failed" and not attempts else [*attempts, final]
        for trial in trials:
            yield suite, replace(trial, repeat=repeats[counted]), test
            repeats[counted] += 1


def _is_failure(attempt: Mapping[str, Any]) -> bool:
    return attempt.get("status") == "failed"


def _read_suite(test: Mapping[str, Any]) -> str:
    """The hierarchy of suites as one name; older reports have a text."""
    names = test.get("suite")
    return " > ".join(filter(None, map(text, names))) if isinstance(names, list) else text(names)


def _read_trial(test: Mapping[str, Any], name: str) -> Trial:
    parameters, state = table(test.get("parameters")), text(test.get("status"))
    case_input = dict(parameters) or None
    verdict = () if state in _SKIPPED else (_read_verdict(test, state),)
    return Trial(
        name,
        input=case_input,
        definition=case_input,
        output=_read_lines(test.get("stdout")),
        duration_ms=parse_amount(test.get("duration")),
        tags=_read_tags(test, state),
        grades=(*verdict, *_read_scores(test)),
        unscored=(PASSED,) if state in _SKIPPED else (),
        error=None if state in _STATES else error("UnknownStatus", f"its status is {state!r:.100}"),
    )


def _read_tags(test: Mapping[str, Any], state: str) -> tuple[str, ...]:
    tags = test.get("tags")
    return (*map(text, tags if isinstance(tags, list) else ()), *(("skipped",) if state in _SKIPPED else ()))


def _read_verdict(test: Mapping[str, Any], state: str) -> Grade:
    """Pass or fail; the status `other` is an error, since it says neither."""
    if state not in ("passed", "failed"):
        return no_verdict(PASSED, f"its status is {state!r:.100}")
    reason = text(test.get("message")) or text(test.get("trace"))
    return pass_fail_grade(PASSED, state == "passed", defined_fields(reason=excerpt(reason, 2000) if reason else ""))


def _read_attempt(attempt: Mapping[str, Any], final: Trial) -> Trial:
    """Another attempt at the test of a trial."""
    duration = parse_amount(attempt.get("duration"))
    return replace(final, output=None, duration_ms=duration, grades=(_read_verdict(attempt, "failed"),))


def _read_scores(test: Mapping[str, Any]) -> Iterator[Grade]:
    """The numbers of `extra.scores`, as scoregate's own reports have them."""
    for name, value in table(table(test.get("extra")).get("scores")).items():
        yield Grade(name, parse_number(value))


def _read_lines(lines: object) -> str | None:
    return "\n".join(map(text, lines)) if isinstance(lines, list) and lines else None
