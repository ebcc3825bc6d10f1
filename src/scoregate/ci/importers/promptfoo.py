"""What `promptfoo eval -o results.json` writes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scoregate.ci.importers.fields import count, error, flag, number, positive, table, tables, text, told, usage
from scoregate.ci.importers.judgement import Scales, kept, scaled, scales_of, verdict
from scoregate.ci.importers.parts import Part, whole
from scoregate.ci.importers.result_file import ResultFile
from scoregate.ci.importers.trials import PASSED, Grade, Suite, Trial, digest, excerpt
from scoregate.core.events import Event, SuiteFinished, SuiteStarted
from scoregate.errors import ImportFailed

_ERROR = 2


@dataclass(slots=True)
class _Survey:
    """What has to be known of all rows before the first is told."""

    providers: set[str] = field(default_factory=set)
    prompts: dict[str, set[int]] = field(default_factory=dict)
    places: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    described: dict[str, set[str]] = field(default_factory=dict)

    def see(self, row: Mapping[str, Any]) -> None:
        """Take in one row."""
        provider = _provider(row)
        self.providers.add(provider)
        self.prompts.setdefault(provider, set()).add(count(row.get("promptIdx")))
        test = digest(_definition(row))
        self.places.setdefault((_variant(row), test), []).append(count(row.get("testIdx")))
        self.described.setdefault(_description(row), set()).add(test)

    def suite(self, row: Mapping[str, Any], name: str) -> str:
        """The id of its suite: the name, with what the suites of the file differ in."""
        provider, differ = _provider(row), []
        if len(self.providers) > 1:
            differ.append(f"provider={excerpt(provider, 60)}")
        if any(len(prompts) > 1 for prompts in self.prompts.values()):
            differ.append(f"prompt={self._prompt(row, provider)}")
        return f"{name} [{', '.join(differ)}]" if differ else name

    def _prompt(self, row: Mapping[str, Any], provider: str) -> str:
        """Its label, unless that is the prompt itself, which changes: then its number."""
        prompt = table(row.get("prompt"))
        label, template = text(prompt.get("label")), text(prompt.get("raw"))
        place = sorted(self.prompts[provider]).index(count(row.get("promptIdx"))) + 1
        own = label and label != template and "{{" not in label and len(label) <= 60 and "\n" not in label
        return label if own else str(place)

    def place(self, row: Mapping[str, Any]) -> int:
        """How many rows of its suite and test come before it."""
        places = self.places[_variant(row), digest(_definition(row))]
        return bisect_left(places, count(row.get("testIdx")))


def read(result: ResultFile) -> Iterator[Event]:
    """The events of all rows, a suite for each combination of provider and prompt.

    Raises:
        ImportFailed: it is no such file. ValueError: it is damaged.
    """
    document = whole(result.read()).members()
    summary = document["results"].members() if "results" in document else {}
    if "results" not in summary or "config" not in document:
        raise ImportFailed("it has no `results.results` beside a `config`")
    config, rows = table(document["config"].value), summary["results"]
    survey = _Survey()
    for row in _rows(rows):
        survey.see(row)
    for places in survey.places.values():
        places.sort()
    repeats = _repeats(config, document)
    name = result.named(excerpt(text(config.get("description")) or result.stem))
    yield from _told(rows, survey, name=name, repeats=repeats, config=config, sdk=_sdk(document))


def _told(
    rows: Part, survey: _Survey, *, name: str, repeats: int, config: Mapping[str, Any], sdk: str
) -> Iterator[Event]:
    suites: dict[str, Suite] = {}
    scales = scales_of(config.get("metadata"))
    for row in _rows(rows):
        suite = survey.suite(row, name)
        if suite not in suites:
            suites[suite] = Suite(suite)
            yield SuiteStarted(suite=suite, sdk=sdk)
        yield from suites[suite].tell(_trial(row, survey, repeats=repeats, scales=scales))
    for suite in suites:
        yield SuiteFinished(suite=suite)


def _rows(rows: Part) -> Iterator[Mapping[str, Any]]:
    return (table(row.value) for row in rows.elements())


def _repeats(config: Mapping[str, Any], document: Mapping[str, Part]) -> int:
    ran = table(document["runtimeOptions"].value) if "runtimeOptions" in document else {}
    return count(ran.get("repeat")) or count(table(config.get("evaluateOptions")).get("repeat")) or 1


def _sdk(document: Mapping[str, Part]) -> str:
    about = table(document["metadata"].value) if "metadata" in document else {}
    return f"promptfoo {text(about.get('promptfooVersion'))}".strip()


def _provider(row: Mapping[str, Any]) -> str:
    provider = row.get("provider")
    return text(table(provider).get("label")) or text(table(provider).get("id")) or text(provider)


def _variant(row: Mapping[str, Any]) -> str:
    return f"{count(row.get('promptIdx'))} {_provider(row)}"


def _description(row: Mapping[str, Any]) -> str:
    return text(table(row.get("testCase")).get("description"))


def _definition(row: Mapping[str, Any]) -> dict[str, Any]:
    test = table(row.get("testCase"))
    return {"description": test.get("description"), "vars": row.get("vars"), "assert": test.get("assert")}


def _trial(row: Mapping[str, Any], survey: _Survey, *, repeats: int, scales: Scales) -> Trial:
    description, definition = _description(row), _definition(row)
    inputs = table(row.get("vars"))
    named = _named(inputs)
    shared = len(survey.described.get(description, ())) > 1
    key = f"{description} ({named})" if description and shared else description or named
    tokens, response = table(row.get("tokenUsage")), table(row.get("response"))
    failed = row.get("failureReason") == _ERROR
    return Trial(
        key,
        repeat=survey.place(row) % repeats,
        input=dict(inputs),
        definition=definition,
        output=response.get("output"),
        duration_ms=positive(row.get("latencyMs")),
        usage=usage(
            tokens.get("prompt"),
            tokens.get("completion"),
            cached=tokens.get("cached"),
            cost=row.get("cost"),
        ),
        grades=() if failed else tuple(scaled(grade, scales) for grade in _grades(row)),
        error=error("ProviderError", row.get("error")) if failed else None,
    )


def _named(inputs: Mapping[str, Any]) -> str:
    """A test by its variables; where not all of them can be shown, a digest tells it from others."""
    shown = ", ".join(f"{name}={excerpt(value, 40)}" for name, value in inputs.items())
    return f"{shown} {digest(inputs)[:8]}" if "…" in shown else shown or "no variables"


def _grades(row: Mapping[str, Any]) -> Iterator[Grade]:
    """The verdict, and every assertion or metric behind it. A row that asserts nothing has none."""
    grading, passed = table(row.get("gradingResult")), flag(row.get("success"))
    parts = [part for part in tables(grading.get("componentResults")) if part.get("assertion")]
    if not parts or passed is None:
        return
    reason = told(reason=text(grading.get("reason")), score=number(row.get("score")))
    yield verdict(PASSED, passed, reason)
    own = {name: score for name, score in table(grading.get("namedScores")).items() if number(score) is not None}
    for name, score in own.items():
        yield _metric(name, number(score), [part for part in parts if _metric_of(part) == name], passed=passed)
    for part in parts:
        if _metric_of(part) not in own:
            name = _metric_of(part) or text(table(part["assertion"]).get("type"))
            yield _metric(name, number(part.get("score")), [part], passed=passed)


def _metric_of(part: Mapping[str, Any]) -> str:
    return text(table(part.get("assertion")).get("metric"))


def _metric(name: str, score: float | None, parts: list[Mapping[str, Any]], *, passed: bool) -> Grade:
    """One metric. Where it failed and the case passed all the same, its verdict is kept but does not count."""
    verdicts = [flag(part.get("pass")) for part in parts]
    met = all(verdicts) if parts and None not in verdicts else None
    limits = {number(table(part.get("assertion")).get("threshold")) for part in parts}
    counts = met is not None and score is not None and (met or not passed)
    threshold = kept(score, met, _limit(parts, limits)) if counts and score is not None else None
    why = "; ".join(reason for part in parts if (reason := text(part.get("reason"))))
    spent = [table(part.get("tokensUsed")) for part in parts]
    return Grade(
        name,
        score,
        threshold,
        told(reason=why, passed=met),
        usage(
            sum(count(used.get("prompt")) for used in spent),
            sum(count(used.get("completion")) for used in spent),
            cached=sum(count(used.get("cached")) for used in spent),
            cost=None,
        ),
    )


def _limit(parts: list[Mapping[str, Any]], limits: set[float | None]) -> float | None:
    """The assertion's own threshold. Of latency and cost it is in their own units, not in the score's."""
    if len(parts) != 1 or len(limits) != 1:
        return None
    return (
        None
        if text(table(parts[0].get("assertion")).get("type")) in ("latency", "cost", "perplexity")
        else limits.pop()
    )
