"""Converts evals of the open-source registry of OpenAI Evals into suites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scoregate.convert import openai_model_graded as model_graded
from scoregate.convert.conversion import Findings, Suite
from scoregate.convert.files import Source, Unreadable, json_of, require_config
from scoregate.convert.names import make_file_name, make_suite_name
from scoregate.errors import UsageError

_ACCURACY, _SCORE = "accuracy", "score"
# The classes, and the types of assertions of which one must pass.
_CLASSES = {"Match": "starts-with", "Includes": "contains", "FuzzyMatch": "fuzzy-match", "JsonMatch": "equals"}
_ARGUMENTS = {"samples_jsonl", "max_tokens", "ignore_case"}
_LIMITS = {"FuzzyMatch": 16}
_DATA_FOLDER = "data"
_LFS = "version https://git-lfs.github.com/"
_MOST_SAMPLES = 50_000


def convert_openai_evals(path: Path, *, model: str, name: str | None = None) -> tuple[Suite, Findings]:
    """Convert an eval of a file of the registry, such as registry/evals/test-basic.yaml.

    Args:
        path: the file.
        model: the model to ask, "provider/name".
        name: the name of the eval, if the file has several.

    Returns:
        The suite, and what was converted and left out.

    Raises:
        UsageError: the file can't be read, or has no such eval.
    """
    source, findings = Source.open(path, yaml_version="1.1"), Findings()  # it reads them with PyYAML
    config = require_config(source)
    evals = {key: each for key, each in config.items() if isinstance(each, Mapping) and "class" in each}
    chosen = _choose(name, config, evals, source)
    for other in evals.keys() - {chosen} if name is None else ():
        findings.leave_out(f"{source.name} {other}", "one eval is converted at a time: name it with --eval")
    kind = str(evals[chosen]["class"]).rpartition(":")[2]
    arguments = evals[chosen].get("args")
    arguments = arguments if isinstance(arguments, Mapping) else {}
    place = f"{source.name} {chosen}"
    for key in sorted(arguments.keys() - (model_graded.ARGUMENTS if kind == model_graded.CLASS else _ARGUMENTS)):
        findings.leave_out(f"{place}.args.{key}", "this argument has no counterpart")
    scorers = list(_make_scorers(kind, source, arguments, model, place, findings))
    samples = arguments.get("samples_jsonl")
    cases: list[Mapping[str, Any]] = []
    if isinstance(samples, str):
        cases = list(_convert_samples(_find_samples(source, samples), kind, arguments, findings))
    else:
        findings.leave_out(f"{place}.args", "it has no samples_jsonl")
    findings.counts["cases"] = len(cases)
    names = (key for key, each in config.items() if isinstance(each, Mapping) and each.get("id") == chosen)
    suite = make_suite_name(next(names, chosen), path)
    parameters = {"temperature": 0, "max_tokens": arguments.get("max_tokens", _LIMITS.get(kind, 500))}
    task = {"prompt": None, "model": model, "parameters": parameters}
    return Suite(suite, make_file_name(suite), {}, {model: task}, cases, scorers, {}), findings


def _make_scorers(
    kind: str, source: Source, arguments: Mapping[str, Any], model: str, place: str, findings: Findings
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The calls that make the scorers."""
    if kind in _CLASSES:
        yield "assertion", {"name": _ACCURACY}
    elif kind == model_graded.CLASS:
        try:
            judge = model_graded.convert_judge(source, arguments)
            # As in the registry, the model that is measured grades itself.
            yield "choice_judge", {**judge, "model": model, "name": _SCORE}
        except Unreadable as error:
            findings.leave_out(f"{place}.args.modelgraded_spec", str(error))
    else:
        findings.leave_out(f"{place}.class", f"{kind:.80} has no counterpart: write a scorer, or use choice_judge()")


def _choose(name: str | None, config: Mapping[str, Any], evals: Mapping[str, Any], source: Source) -> str:
    """The eval to convert. A name without a class refers to one with `id`."""
    if not evals:
        raise UsageError(f"{source.name} has no eval: no entry has a `class`")
    if name is None:
        return next(iter(evals))
    alias = config.get(name)
    name_of_eval = alias.get("id") if name not in evals and isinstance(alias, Mapping) else name
    if name_of_eval not in evals:
        raise UsageError(f"{source.name} has no eval {name!r:.80}", advice=f"It has: {', '.join(evals):.200}")
    return str(name_of_eval)


def _find_samples(source: Source, name: str) -> Source:
    """The file of samples: in the folder `data` of the registry, or next to the file."""
    in_registry = source.find(f"../{_DATA_FOLDER}/{name}")
    return in_registry if in_registry.path.exists() else source.find(name)


def _convert_samples(
    file: Source, kind: str, arguments: Mapping[str, Any], findings: Findings
) -> Iterator[Mapping[str, Any]]:
    try:
        lines = file.read().splitlines()
        if lines and lines[0].startswith(_LFS):
            raise Unreadable("it is a pointer of Git LFS: run `git lfs pull`")
        for number, line in enumerate(lines, 1):
            if number > _MOST_SAMPLES:
                findings.leave_out(f"{file.name}:{number}", f"there are more than {_MOST_SAMPLES:,} samples")
                return
            if line.strip():
                try:
                    yield _convert_sample(json_of(line), kind, bool(arguments.get("ignore_case")))
                except Unreadable as error:
                    findings.leave_out(f"{file.name}:{number}", str(error))
    except Unreadable as error:
        findings.leave_out(file.name, str(error))


def _convert_sample(sample: Any, kind: str, ignore_case: bool) -> Mapping[str, Any]:
    needed = {"input"} if kind == model_graded.CLASS else {"input", "ideal"}
    if not isinstance(sample, Mapping) or not sample.keys() >= needed:
        raise Unreadable(f"a sample needs {' and '.join(sorted(needed, reverse=True))}")
    messages = sample["input"]
    if isinstance(messages, list):
        messages = [_convert_message(each) for each in messages]
    elif not isinstance(messages, str):
        raise Unreadable("its input is neither a text nor a list of messages")
    row: dict[str, Any] = {"input": messages}
    if "ideal" in sample:
        ideals = sample["ideal"] if isinstance(sample["ideal"], list) else [sample["ideal"]]
        if not ideals or not all(isinstance(each, str) and each for each in ideals):
            raise Unreadable("its ideal is neither text nor a list of texts")
        is_graded = kind == model_graded.CLASS
        row["expected"] = "\n".join(ideals) if is_graded else _make_assertions(kind, ideals, ignore_case)
    others = {key: value for key, value in sample.items() if key not in row and key != "ideal"}
    return {**row, "metadata": others} if others else row


def _convert_message(given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not isinstance(given.get("role"), str) or "content" not in given:
        raise Unreadable("a message of its input has no role or content")
    # In the registry, a system message with a name is an example of a user or an assistant.
    return {key: given[key] for key in ("role", "content", "name") if key in given}


def _make_assertions(kind: str, ideals: list[str], ignore_case: bool) -> list[Mapping[str, Any]]:
    if kind not in _CLASSES:
        return []
    values: list[Any] = [json_of(each, "an ideal: ") for each in ideals] if kind == "JsonMatch" else list(ideals)
    base = "icontains" if kind == "Includes" and ignore_case else _CLASSES[kind]
    assertions = [{"type": base, "value": value} for value in values]
    return [{"type": "any-of", "metric": _ACCURACY, "value": assertions}]
