"""Vitest's JSON report, with the scores and outputs of vitest-evals. Jest writes the same form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    PASSED,
    Grade,
    Trial,
    defined_fields,
    error,
    list_rows,
    name_suite,
    no_verdict,
    pass_fail_grade,
    read_tables,
    table,
    tables,
    text,
    usage,
)
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import Part, ResultFile, parse_document
from scoregate.kernel.types.event_values import Origin, Setup
from scoregate.kernel.types.events import Errored, Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import digest
from scoregate.kernel.types.text import parse_amount, parse_number

_SKIPPED = ("skipped", "pending", "todo", "disabled")
_NEEDED = ("numTotalTests", "testResults")
_OF_JEST = "numRuntimeErrorTestSuites"
# Vitest writes no message for a hook of a `describe`.
_NO_MESSAGE = "no test of it did, so a hook of a `describe` may have failed"


class _Test(NamedTuple):
    """One attempt at a test: the name of its suite, its file, the trial, and whether it is the last attempt."""

    suite: str
    file: str
    trial: Trial
    is_last: bool


def read(result: ResultFile) -> Iterator[Event]:
    """The events of every suite: an outermost `describe`, or a file without one.

    Raises:
        ImportFailed: it is no such report, or has fewer tests than it counts.
        ValueError: it is damaged.
    """
    document = parse_document(result.read()).members()
    if any(name not in document for name in _NEEDED):
        raise ImportFailed(f"it lacks one of {', '.join(_NEEDED)}")
    shared = _find_shared(document["testResults"])
    keys: dict[str, CaseKeys] = {}
    listed = 0
    for test in _read_tests(document["testResults"], shared):
        keys.setdefault(test.suite, CaseKeys()).add(test.trial)
        listed += test.is_last
    suites: dict[str, Suite] = {}
    for test in _read_tests(document["testResults"], shared):
        if test.suite not in suites:
            suites[test.suite] = suite = Suite(result.suite_id(name_suite(test.suite)), keys[test.suite])
            setup = Setup(test.suite, result.stable_name)
            yield SuiteStarted(suite=suite.id, origin=Origin(test.file), sdk="vitest", setup=setup)
        yield from suites[test.suite].events_of(test.trial)
    yield from _read_file_errors(document["testResults"], result, is_jest=_OF_JEST in document)
    for suite in suites.values():
        yield SuiteFinished(suite=suite.id)
    counted = parse_number(document["numTotalTests"].value) or 0
    if counted > listed:
        raise ImportFailed(f"tests are missing, as after a crash: it counts {counted:,.0f} and lists {listed:,}")


def _read_file_errors(files: Part, result: ResultFile, *, is_jest: bool) -> Iterator[Event]:
    """A suite with an error for each file that could not be run, or that failed although no test of it did."""
    for file in list_rows(files, "testResults"):
        tests = read_tables(file.get("assertionResults"), "assertionResults")
        has_failed_test = any(test.get("status") == "failed" for test in tests)
        # Jest's message of a file repeats those of its failed tests.
        message = "" if is_jest and has_failed_test else text(file.get("message"))
        message = message or ("" if has_failed_test else _NO_MESSAGE)
        if file.get("status") == "failed" and message:
            name = _read_file_name(file)
            suite = result.suite_id(name_suite(f"{name} (file)"))
            yield SuiteStarted(suite=suite, origin=Origin(text(file.get("name"))), sdk="vitest")
            yield Errored(suite=suite, stage="suite", error=error("FileFailed", f"{name} failed: {message}"))
            yield SuiteFinished(suite=suite)


def _read_file_name(file: Mapping[str, Any]) -> str:
    return PurePosixPath(text(file.get("name")).replace("\\", "/")).name or "unnamed"


def _find_shared(files: Part) -> set[str]:
    """The names of suites that several files have."""
    owners: dict[str, str] = {}
    shared = set[str]()
    for file in list_rows(files, "testResults"):
        path = text(file.get("name"))
        for test in read_tables(file.get("assertionResults"), "assertionResults"):
            if owners.setdefault(_make_suite_name(test, file), path) != path:
                shared.add(_make_suite_name(test, file))
    return shared


def _list_titles(test: Mapping[str, Any]) -> list[str]:
    titles = test.get("ancestorTitles")
    return [name for each in titles if (name := text(each))] if isinstance(titles, list) else []


def _make_suite_name(test: Mapping[str, Any], file: Mapping[str, Any]) -> str:
    titles = _list_titles(test)
    return titles[0] if titles else _read_file_name(file)


def _read_tests(files: Part, shared: set[str]) -> Iterator[_Test]:
    """Every attempt at every test, the last result last. Tests of one name and input in a suite are repeats."""
    repeats = Counter[tuple[str, str, str, str]]()
    for file in list_rows(files, "testResults"):
        path = text(file.get("name"))
        for test in read_tables(file.get("assertionResults"), "assertionResults"):
            suite = _make_suite_name(test, file)
            name = f"{_read_file_name(file)} > {suite}" if suite in shared else suite
            final = _read_trial(test)
            for trial in (*_read_attempts(test, final), final):
                counted = (name, path, trial.key, digest(trial.definition))
                yield _Test(name, path, replace(trial, repeat=repeats[counted]), is_last=trial is final)
                repeats[counted] += 1


def _read_attempts(test: Mapping[str, Any], final: Trial) -> Iterator[Trial]:
    """The failed attempts at a test that passed when it was run again."""
    messages = test.get("failureMessages")
    if test.get("status") == "passed" and isinstance(messages, list):
        for message in messages:
            grade = pass_fail_grade(PASSED, False, defined_fields(reason=_first_lines(message)))
            yield replace(final, output=None, duration_ms=None, usage=None, grades=(grade,))


def _read_trial(test: Mapping[str, Any]) -> Trial:
    meta, state = table(test.get("meta")), text(test.get("status"))
    evals, run = table(meta.get("eval")), table(table(meta.get("harness")).get("run"))
    case_input = evals.get("input", _read_input(run))
    key = " > ".join([*_list_titles(test)[1:], text(test.get("title"))])
    is_skipped = state in _SKIPPED
    spent = table(run.get("usage"))
    tags = test.get("tags")
    return Trial(
        key,
        input=case_input,
        definition=case_input,
        output=evals.get("output", run.get("output")),
        duration_ms=parse_amount(test.get("duration")),
        usage=usage(spent.get("inputTokens"), spent.get("outputTokens"), cost=spent.get("cost")),
        tags=(*map(text, tags if isinstance(tags, list) else ()), *(("skipped",) if is_skipped else ())),
        grades=() if is_skipped else (_read_verdict(test, state), *_read_scores(evals)),
        unscored=(PASSED,) if is_skipped else (),
    )


def _read_input(run: Mapping[str, Any]) -> Any:
    """The first message of the user in a run of vitest-evals."""
    events = tables(table(run.get("session")).get("events"))
    return next((each.get("content") for each in events if each.get("role") == "user"), None)


def _read_verdict(test: Mapping[str, Any], state: str) -> Grade:
    if state not in ("passed", "failed"):
        return no_verdict(PASSED, f"its status is {state!r:.100}")
    messages = test.get("failureMessages")
    reason = _first_lines(messages[0]) if state == "failed" and isinstance(messages, list) and messages else ""
    return pass_fail_grade(PASSED, state == "passed", defined_fields(reason=reason))


def _first_lines(message: object) -> str:
    """A message without the frames of its stack."""
    lines = text(message).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("at "))[:2000]


def _read_scores(evals: Mapping[str, Any]) -> Iterator[Grade]:
    """The scores of judges and scorers. The report doesn't contain their thresholds."""
    for each in read_tables(evals.get("scores"), "scores"):
        metadata = table(each.get("metadata"))
        yield Grade(
            text(each.get("name")) or "score",
            parse_number(each.get("score")),
            metadata=defined_fields(reason=metadata.get("rationale"), output=metadata.get("output")),
        )
