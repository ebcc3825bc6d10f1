"""Converts a configuration of promptfoo into a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scoregate.convert.conversion import Findings, Suite
from scoregate.convert.files import Source, require_config
from scoregate.convert.names import make_file_name, make_suite_name
from scoregate.convert.promptfoo_assertions import NOT, RUBRIC, Unsupported, convert_assertion
from scoregate.convert.promptfoo_prompts import ECHO, Provider, convert_model, read_prompts, read_providers
from scoregate.convert.promptfoo_tests import Test, read_tests
from scoregate.errors import UsageError
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.text import is_whole_number

_KEYS = {
    "description",
    "prompts",
    "providers",
    "targets",
    "tests",
    "defaultTest",
    "evaluateOptions",
    "assertionTemplates",
}
_NO_EFFECT = {
    *("$schema", "author", "commandLineOptions", "metadata", "outputPath", "sharing", "tags", "tracing"),
    "writeLatestResults",
}
_ADVICE = {
    "passRateThreshold": ": set min_pass_rate of the suite",
    "redteam": ": keep promptfoo for red teaming",
    "env": ": set the variables where the suite runs",
}
_OPTIONS = {"repeat": "repeats", "maxConcurrency": "concurrency"}
_OPTIONS_NO_EFFECT = {"cache", "showProgressBar", "generateSuggestions", "delay", "eventSource"}
_LONGEST_VALUE = 40
_MOST_BYTES = 100_000_000
_THRESHOLD_METRIC = "score"


def convert_promptfoo(path: Path) -> tuple[Suite, Findings]:
    """Convert a configuration.

    Args:
        path: the configuration in YAML or JSON.

    Returns:
        The suite, and what was converted and left out.

    Raises:
        UsageError: it can't be read.
    """
    source, findings = Source.open(path), Findings()
    config = require_config(source)
    for key in sorted(config.keys() - _KEYS - _NO_EFFECT):
        findings.leave_out(f"{source.name} {key}", f"this setting has no counterpart{_ADVICE.get(key, '')}")
    for key in sorted(config.keys() & _NO_EFFECT):
        findings.ignore(f"{source.name} {key}")
    options = _read_options(config.get("evaluateOptions"), source, findings)
    prompts = read_prompts(config, source, findings)
    providers = read_providers(config, source, findings)
    tests = read_tests(config, source, findings)
    name = make_suite_name(config.get("description"), path)
    files = {label: f"prompts/prompt_{number}.txt" for number, label in enumerate(prompts, 1)}
    builder = _CaseBuilder(_get_templates(config), findings)
    cases = [builder.build(test, key) for test, key in zip(tests, _make_keys(tests), strict=True)]
    findings.counts["cases"] = len(cases)
    suite = Suite(
        name,
        make_file_name(name),
        {files[label]: text for label, text in prompts.items()},
        dict(_make_variants(files, providers)),
        cases,
        builder.list_scorers(),
        options,
        source.path.parent,
    )
    return suite, findings


def _read_options(given: Any, source: Source, findings: Findings) -> dict[str, Any]:
    options = {}
    for key, value in (given if isinstance(given, Mapping) else {}).items():
        place = f"{source.name} evaluateOptions.{key}"
        if key in _OPTIONS_NO_EFFECT:
            findings.ignore(place)
        elif key in _OPTIONS and is_whole_number(value, 1):
            options[_OPTIONS[key]] = value
        else:
            findings.leave_out(place, "this option has no counterpart")
    return options


def _get_templates(config: Mapping[str, Any]) -> Mapping[str, Any]:
    templates = config.get("assertionTemplates")
    return templates if isinstance(templates, Mapping) else {}


def _make_variants(
    files: Mapping[str, str], providers: Mapping[str, Provider]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The combinations of prompts and models. Without a model, the task of the suite is left to the user."""
    for label, file in files.items():
        if not providers:
            yield label, {"prompt": file, "model": None, "parameters": {}}
        for name, provider in providers.items():
            variant = name if len(files) == 1 else label if len(providers) == 1 else f"{name} {label}"
            yield variant, {"prompt": file, "model": provider.model, "parameters": provider.parameters}


def _make_keys(tests: list[Test]) -> Iterator[str | None]:
    """The ids of cases, as the importer of promptfoo's results names them; None leaves them to the input."""
    described = Counter(test.description for test in tests)
    texts = [_describe_variables(test.variables) for test in tests]
    keys = [
        test.description if test.description and described[test.description] == 1 else text
        for test, text in zip(tests, texts, strict=True)
    ]
    counts = Counter(keys)
    for key in keys:
        yield key if key and counts[key] == 1 else None


def _describe_variables(variables: Mapping[str, Any]) -> str:
    """The variables on one line; empty if one of them is long."""
    parts = []
    for name, value in variables.items():
        text = " ".join((value if isinstance(value, str) else dump(value).decode("utf-8", "replace")).split())
        if len(text) > _LONGEST_VALUE:
            return ""
        parts.append(f"{name}={text}")
    return ", ".join(parts) or "no variables"


class _CaseBuilder:
    """Makes the cases, and collects the scorers that they need."""

    def __init__(self, templates: Mapping[str, Any], findings: Findings) -> None:
        self._templates = templates
        self._findings = findings
        self._metrics: dict[str, None] = {}
        self._rubrics: dict[str, str | None] = {}
        self._has_thresholds = False
        self._size = 0

    def build(self, test: Test, key: str | None) -> dict[str, Any]:
        """The row of a test.

        Args:
            test: the test.
            key: its id.

        Raises:
            UsageError: the assertions are too large.
        """
        expected = list(self._convert_assertions(test))
        if not expected:
            self._findings.counts["cases without assertions"] += 1
        if test.threshold is not None and expected:
            expected = self._apply_threshold(test, expected)
        row: dict[str, Any] = {} if key is None else {"id": key}
        row |= {"input": test.variables, "expected": expected}
        row |= {"metadata": test.metadata} if test.metadata else {}
        self._size += len(dump(expected))
        if self._size > _MOST_BYTES:
            raise UsageError(f"the assertions of all cases are larger than {_MOST_BYTES:,} bytes")
        return row

    def list_scorers(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The calls that make the scorers."""
        listed: list[tuple[str, Mapping[str, Any]]] = [("assertion", {"name": metric}) for metric in self._metrics]
        for metric, model in self._rubrics.items():
            listed.append(("rubric", {"name": metric} if model is None else {"name": metric, "model": model}))
        if self._has_thresholds:
            name = _THRESHOLD_METRIC
            while name in self._metrics or name in self._rubrics:
                name = f"{name} of the test"
            listed.append(("weighted_assertions", {"name": name}))
        return listed

    def _convert_assertions(self, test: Test) -> Iterator[dict[str, Any]]:
        for place, given in test.assertions:
            try:
                converted = convert_assertion(self._resolve(given), test.variables)
                if converted["type"].removeprefix(NOT) == RUBRIC:
                    converted = self._add_rubric(converted, self._resolve(given).get("provider", test.grader))
                else:
                    # A metric is either of assertions or of rubrics, since two scorers can't have one name.
                    while converted["metric"] in self._rubrics:
                        converted["metric"] = f"{converted['metric']} {converted['type']}"
                    self._metrics[converted["metric"]] = None
            except Unsupported as error:
                self._findings.leave_out(place, str(error))
                continue
            self._findings.counts["assertions"] += 1
            yield converted

    def _resolve(self, given: Any) -> Any:
        """The assertion itself, if it refers to a template of the configuration."""
        if isinstance(given, Mapping) and isinstance(reference := given.get("$ref"), str):
            template = self._templates.get(reference.removeprefix("#/assertionTemplates/"))
            if not isinstance(template, Mapping) or "$ref" in template:
                raise Unsupported(f"there is no template {reference:.80}")
            return {**template, **{name: value for name, value in given.items() if name != "$ref"}}
        return given

    def _add_rubric(self, rubric: dict[str, Any], grader: Any) -> dict[str, Any]:
        if isinstance(grader, Mapping):
            grader = grader.get("id") if set(grader) == {"id"} else grader
        model = None if grader is None else convert_model(grader) if isinstance(grader, str) else ""
        if model in ("", ECHO) or (model is None and grader is not None):
            raise Unsupported(f"the provider {grader!r:.80} of {rubric['type']} has no counterpart")
        while rubric["metric"] in self._metrics:
            rubric["metric"] = f"{rubric['metric']} {RUBRIC}"
        if self._rubrics.setdefault(rubric["metric"], model) != model:
            raise Unsupported(f"the rubrics of the metric {rubric['metric']!r:.60} have different providers")
        return rubric

    def _apply_threshold(self, test: Test, expected: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The assertions as scores without limits, and the limit of their mean."""
        if any(each["type"].removeprefix(NOT) == RUBRIC for each in expected):
            self._findings.leave_out(
                f"{test.place}.threshold",
                f"a threshold of a test with {RUBRIC} has no counterpart: each assertion counts",
            )
            return expected
        if not 0 <= (test.threshold or 0) <= 1:
            self._findings.leave_out(
                f"{test.place}.threshold", f"{test.threshold} is not from 0 to 1: each assertion counts"
            )
            return expected
        self._has_thresholds = True
        scores = [{**each, "required": False} for each in expected]
        return [*scores, {"type": "threshold", "value": test.threshold}]
