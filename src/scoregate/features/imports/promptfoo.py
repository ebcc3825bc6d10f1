"""Results of promptfoo, as `promptfoo eval -o results.json` writes them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scoregate.errors import ImportFailed
from scoregate.features.imports.common import (
    PASSED,
    Grade,
    Scales,
    Trial,
    count,
    defined_fields,
    error,
    excerpt,
    flag,
    list_rows,
    matching_threshold,
    no_verdict,
    pass_fail_grade,
    read_scales,
    read_table,
    read_tables,
    table,
    text,
    to_unit_scale,
    usage,
)
from scoregate.features.imports.promptfoo_columns import PromptColumns, column_number
from scoregate.features.imports.suites import CaseKeys, Suite
from scoregate.kernel.run.documents.files import Part, ResultFile, parse_document
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.events import Event, SuiteFinished, SuiteStarted
from scoregate.kernel.types.identity import bounded_name, digest
from scoregate.kernel.types.text import parse_amount, parse_number

_ERROR = 2
# Tests with the same value are turns of one conversation.
_CONVERSATION = "conversationId"
_NO_CACHE = "Add --no-cache to the command of promptfoo."
# What the ids of providers start with that call the application. A model's answer depends on the request alone, which
# the cache compares; that of an application also depends on its code.
_APPLICATIONS = {
    *("a2a", "browser", "exec", "file", "golang", "http", "https", "mcp", "package", "python", "ruby", "webhook"),
    *("websocket", "ws", "wss"),
}


@dataclass(slots=True)
class _CacheUse:
    """How many answers promptfoo read from its cache on disk, by column: they were measured up to 14 days ago."""

    answers: Counter[int] = field(default_factory=Counter)
    cached: Counter[int] = field(default_factory=Counter)
    applications: dict[int, str] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any], column: int) -> None:
        """Count a row, if it has an answer."""
        is_cached = _is_cached(row)
        self.answers[column] += is_cached or table(row.get("response")).get("output") is not None
        self.cached[column] += is_cached
        provider = text(table(row.get("provider")).get("id")) or text(row.get("provider"))
        kind, colon, _ = provider.partition(":")
        if not colon or kind in _APPLICATIONS:  # an id without a kind is of the author's own code
            self.applications[column] = provider

    def report(self, notes: list[str]) -> None:
        """Note the answers from the cache.

        Raises:
            ImportFailed: all answers of an application are from the cache, so its code was not measured.
        """
        for column, provider in self.applications.items():
            if (cached := self.cached[column]) and cached == self.answers[column]:
                raise ImportFailed(
                    f"promptfoo read all {cached:,} answers of {excerpt(provider, 80)} from its cache, so the "
                    "application wasn't measured",
                    advice=_NO_CACHE,
                )
        if cached := self.cached.total():
            answers = f"{cached:,} of {self.answers.total():,} answers"
            notes.append(f"promptfoo read {answers} from its cache, so they were measured earlier. {_NO_CACHE}")


@dataclass(slots=True)
class Survey:
    """Facts about all rows that the events of the first row depend on."""

    columns: PromptColumns
    places: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    described: dict[str, set[str]] = field(default_factory=dict)
    tests: dict[str, set[str]] = field(default_factory=dict)
    cache: _CacheUse = field(default_factory=_CacheUse)

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]], columns: PromptColumns) -> Survey:
        """Read all rows."""
        survey = cls(columns)
        for row in rows:
            column, test = columns.add(row), digest(test_definition(row))
            survey.places.setdefault((column, test), []).append(count(row.get("testIdx")))
            survey.described.setdefault(test_description(row), set()).add(test)
            if variables := test_variables(row):
                survey.tests.setdefault(digest(variables), set()).add(test)
            survey.cache.add(row, column)
        for places in survey.places.values():
            places.sort()
        return survey

    def __len__(self) -> int:
        return sum(map(len, self.places.values()))

    def place(self, row: Mapping[str, Any]) -> int:
        """The number of rows of its suite and test before it."""
        places = self.places[column_number(row), digest(test_definition(row))]
        return bisect_left(places, count(row.get("testIdx")))

    def find_cluster(self, row: Mapping[str, Any]) -> str | None:
        """The conversation of a test, else the variables that it shares with other tests; None without either."""
        if conversation := text(table(table(row.get("testCase")).get("metadata")).get(_CONVERSATION)):
            return bounded_name(conversation)
        variables = digest(test_variables(row))
        return f"variables {variables}" if len(self.tests.get(variables, ())) > 1 else None


def read(result: ResultFile) -> Iterator[Event]:
    """The events of all rows, a suite for each combination of provider and prompt.

    Raises:
        ImportFailed: it is not such a file, or lacks rows that it counts, or all answers of an application are from
            promptfoo's cache; the events are yielded before.
        ValueError: it is damaged.
    """
    document = parse_document(result.read()).members()
    summary = document["results"].members() if "results" in document else {}
    if "results" not in summary or "config" not in document:
        raise ImportFailed("it has no `results.results` and `config`")
    config, rows = table(document["config"].value), summary["results"]
    prompts = summary["prompts"].elements() if "prompts" in summary else iter(())
    survey = Survey.from_rows(_read_rows(rows), PromptColumns([table(prompt.value) for prompt in prompts]))
    repeats = _count_repeats(config, document)
    evaluation = excerpt(text(config.get("description")) or result.stem)
    setups = survey.columns.setups(evaluation, result.stable_name)
    suite_ids = survey.columns.suite_ids(result.suite_id(evaluation))
    metadata = table(document["metadata"].value) if "metadata" in document else {}
    sdk = f"promptfoo {text(metadata.get('promptfooVersion'))}".strip()
    suites: dict[int, Suite] = {}
    scales = read_scales(config.get("metadata"))
    keys: dict[int, CaseKeys] = {}
    for row in _read_rows(rows):
        trial = read_trial(row, survey, repeats=repeats, scales=scales)
        keys.setdefault(column_number(row), CaseKeys()).add(trial)
    for row in _read_rows(rows):
        column = column_number(row)
        if column not in suites:
            suites[column] = Suite(suite_ids[column], keys[column])
            yield SuiteStarted(suite=suite_ids[column], sdk=sdk, setup=setups[column])
        yield from suites[column].events_of(read_trial(row, survey, repeats=repeats, scales=scales))
    for suite in suites.values():
        yield SuiteFinished(suite=suite.id)
    _check_count(table(summary["stats"].value) if "stats" in summary else {}, len(survey))
    survey.cache.report(result.notes)


def _check_count(stats: Mapping[str, Any], rows: int) -> None:
    """promptfoo counts a row before it saves it, and goes on without rows that its database refuses."""
    counted = sum(count(stats.get(name)) for name in ("successes", "failures", "errors"))
    if counted > rows:
        raise ImportFailed(
            f"promptfoo counts {counted:,} results and wrote {rows:,}: it could not save the others",
            advice="promptfoo's output has the cause after `Error saving result`. A score of NaN is one.",
        )


def _is_cached(row: Mapping[str, Any]) -> bool:
    return flag(table(row.get("response")).get("cached")) is True


def _read_rows(rows: Part) -> Iterator[Mapping[str, Any]]:
    return list_rows(rows, "results")


def _count_repeats(config: Mapping[str, Any], document: Mapping[str, Part]) -> int:
    options = table(document["runtimeOptions"].value) if "runtimeOptions" in document else {}
    return count(options.get("repeat")) or count(table(config.get("evaluateOptions")).get("repeat")) or 1


def read_trial(row: Mapping[str, Any], survey: Survey, *, repeats: int, scales: Scales) -> Trial:
    """The row as a trial. `repeats` rows of a test are repeats of one case."""
    description, definition = test_description(row), test_definition(row)
    inputs = test_variables(row)
    variables = ", ".join(f"{name}={excerpt(value, 40)}" for name, value in inputs.items()) or "no variables"
    if "…" in variables:  # an excerpt may be the same for different values
        variables += f" {digest(inputs)[:8]}"
    shared = len(survey.described.get(description, ())) > 1
    key = f"{description} ({variables})" if description and shared else description or variables
    tokens, response = table(row.get("tokenUsage")), table(row.get("response"))
    grading = read_table(row.get("gradingResult"), "gradingResult")
    # Versions before 0.100 have no `failureReason`.
    failed = row.get("failureReason") == _ERROR or (bool(row.get("error")) and not row.get("success") and not grading)
    return Trial(
        key,
        repeat=survey.place(row) % repeats,
        input=dict(inputs),
        definition=definition,
        output=response.get("output"),
        duration_ms=parse_amount(row.get("latencyMs")),
        usage=Usage(cost=0.0, cached=True)
        if _is_cached(row)
        else usage(
            tokens.get("prompt"),
            tokens.get("completion"),
            cached=tokens.get("cached"),
            # For a model without a known price promptfoo writes 0 here, and no cost in the response.
            cost=row.get("cost") or response.get("cost"),
        ),
        grades=() if failed else tuple(to_unit_scale(grade, scales) for grade in _make_grades(row, grading)),
        error=error("ProviderError", row.get("error")) if failed else None,
        metadata=table(table(row.get("testCase")).get("metadata")),
        cluster=survey.find_cluster(row),
    )


def _make_grades(row: Mapping[str, Any], grading: Mapping[str, Any]) -> Iterator[Grade]:
    """The verdict and the assertions or metrics that it depends on. A row that passed without assertions has none."""
    results = read_tables(grading.get("componentResults"), "componentResults")
    parts = [part for part in results if part.get("assertion")]
    if (passed := flag(row.get("success"))) is None:
        yield no_verdict(PASSED, f"`success` is neither true nor false: {excerpt(row.get('success'), 40)}")
        return
    passed = passed and flag(grading.get("pass")) is not False
    if passed and not parts:
        return
    why = text(grading.get("reason")) or text(row.get("error"))
    yield pass_fail_grade(PASSED, passed, defined_fields(reason=why, score=parse_number(row.get("score"))))
    own = {name: score for name, score in table(grading.get("namedScores")).items() if parse_number(score) is not None}
    for name, score in own.items():
        yield _make_metric_grade(
            name, parse_number(score), [part for part in parts if _metric_of(part) == name], passed=passed
        )
    for part in parts:
        if _metric_of(part) not in own:
            name = _metric_of(part) or text(table(part["assertion"]).get("type"))
            yield _make_metric_grade(name, parse_number(part.get("score")), [part], passed=passed)


def _make_metric_grade(name: str, score: float | None, parts: list[Mapping[str, Any]], *, passed: bool) -> Grade:
    """One metric. If it failed although the case passed, its verdict is only in the metadata."""
    verdicts = [flag(part.get("pass")) for part in parts]
    met = all(verdicts) if parts and None not in verdicts else None
    assertion = table(parts[0].get("assertion")) if len(parts) == 1 else {}
    # The thresholds of these are not in the unit of the score.
    has_own_unit = text(assertion.get("type")) in ("latency", "cost", "perplexity")
    limit = None if has_own_unit else parse_number(assertion.get("threshold"))
    counts = met is not None and score is not None and (met or not passed)
    threshold = matching_threshold(score, met, limit) if counts and score is not None else None
    why = "; ".join(reason for part in parts if (reason := text(part.get("reason"))))
    tokens = [table(part.get("tokensUsed")) for part in parts]
    return Grade(
        name,
        score,
        threshold,
        defined_fields(reason=why, passed=met),
        usage(
            sum(count(used.get("prompt")) for used in tokens),
            sum(count(used.get("completion")) for used in tokens),
            cached=sum(count(used.get("cached")) for used in tokens),
            cost=None,
        ),
    )


def _metric_of(part: Mapping[str, Any]) -> str:
    return text(table(part.get("assertion")).get("metric"))


def test_description(row: Mapping[str, Any]) -> str:
    """The description of its test; empty if it has none."""
    return text(table(row.get("testCase")).get("description"))


def test_definition(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are equal in two rows of the same test."""
    test = table(row.get("testCase"))
    return {"description": test.get("description"), "vars": test_variables(row), "assert": test.get("assert")}


def test_variables(row: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of its test, without those that promptfoo adds while it runs, such as the id of a session."""
    given, own = table(row.get("vars")), table(table(row.get("testCase")).get("vars"))
    return {name: value for name, value in given.items() if name in own} if own else dict(given)
