"""Prompts and providers of a configuration of promptfoo."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.convert.conversion import Findings
from scoregate.convert.files import FILE_SCHEME, Source, Unreadable, json_of, yaml_of
from scoregate.convert.promptfoo_programs import NoCounterpart, convert_program, find_kind, find_unknown_settings
from scoregate.evals.prompts import find_unknown_parts
from scoregate.kernel.types.records import record

ECHO = "echo"
_DEFAULT_PROMPT = "{{prompt}}"
_TEXTS, _DOCUMENTS = (".txt", ".md", ".j2"), (".json", ".yaml", ".yml")
_CODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".go", ".sh", ".csv", ".jsonl")
_DELIMITER = "---"
# Providers of promptfoo by what their ids start with, and how scoregate names them.
_PROVIDERS = {
    "openai:chat:": "openai/",
    "anthropic:messages:": "anthropic/",
    "ollama:chat:": "ollama/",
    "openai:": "openai/",
    "openrouter:": "openrouter/",
    "groq:": "groq/",
    "mistral:": "mistral/",
    "deepseek:": "deepseek/",
    "xai:": "xai/",
    "vertex:gemini": "",
    "google:": "gemini/",
}
# Kinds of OpenAI's API that are no chat.
_OTHER_APIS = ("embedding", "embeddings", "image", "moderation", "realtime", "assistant", "completion", "responses")
_PARAMETERS = {
    *("temperature", "max_tokens", "max_completion_tokens", "top_p", "presence_penalty", "frequency_penalty"),
    *("seed", "stop", "response_format", "reasoning_effort", "tools", "tool_choice"),
}


@record
class Provider:
    """A model.

    Attributes:
        label: its name in the configuration.
        model: "provider/name" as scoregate names it; "echo", which answers with the prompt; or "exec", "python" or
            "http" for an application.
        parameters: the parameters of requests, or what calls the application.
    """

    label: str
    model: str
    parameters: Mapping[str, Any]


def read_prompts(config: Mapping[str, Any], source: Source, findings: Findings) -> dict[str, str]:
    """The texts of the prompts by their labels.

    Args:
        config: the configuration.
        source: its file.
        findings: receives what is left out.
    """
    given = config.get("prompts", _DEFAULT_PROMPT)
    prompts: dict[str, str] = {}
    for place, label, text in _list_prompts(given, f"{source.name} prompts", source, findings):
        if not text.strip():
            findings.leave_out(place, "the prompt is empty")
        elif unknown := _find_unknown_parts(text):
            findings.leave_out(place, f"the prompt has {', '.join(unknown)}")
        else:
            prompts.setdefault(_make_unique(label, prompts), text)
            findings.counts["prompts"] += 1
    return prompts


def _find_unknown_parts(text: str) -> list[str]:
    return find_unknown_parts(text) if "{{" in text or "{%" in text or "{#" in text else []


def _make_unique(label: str, known: Mapping[str, Any]) -> str:
    unique, number = label, 1
    while unique in known:
        number += 1
        unique = f"{label} ({number})"
    return unique


def _list_prompts(given: Any, place: str, source: Source, findings: Findings) -> Iterator[tuple[str, str, str]]:
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):  # a file and its label
        given = [{"id": name, "label": label} for name, label in given.items()]
    if not isinstance(given, list) or not given:
        findings.leave_out(place, "there are no prompts" if not given else "it is not a list")
        return
    for number, each in enumerate(given):
        item_place = f"{place}[{number}]"
        try:
            yield from ((item_place, *prompt) for prompt in _read_prompt(each, number, source))
        except Unreadable as error:
            findings.leave_out(item_place, str(error))


def _read_prompt(given: Any, number: int, source: Source) -> Iterator[tuple[str, str]]:
    """The labels and texts of a prompt: a text, a file, or a mapping of either with a label."""
    label = f"prompt-{number + 1}"
    if isinstance(given, Mapping):
        if unknown := sorted(given.keys() - {"id", "raw", "label"}):
            raise Unreadable(f"the prompt has {', '.join(map(str, unknown))}")
        label = str(given.get("label") or label)
        given = given.get("raw", given.get("id"))
    if not isinstance(given, str):
        raise Unreadable(f"a prompt is a text, not {given!r:.60}")
    name = given.partition("#")[0]
    is_path = "\n" not in given and (given.startswith(FILE_SCHEME) or name.endswith((*_TEXTS, *_DOCUMENTS, *_CODE)))
    if not is_path:
        if "://" in given.partition(" ")[0] or given.startswith("exec:"):
            raise Unreadable(f"the prompt {given:.80} is loaded or made by a program")
        yield label, given
        return
    if "*" in given:
        raise Unreadable(f"{given}: only the names of single files are read")
    file = source.find(given)
    suffix = file.path.suffix
    if suffix not in (*_TEXTS, *_DOCUMENTS):
        raise Unreadable(f"{given}: prompts are read from {', '.join((*_TEXTS, *_DOCUMENTS))}, and not made by code")
    try:
        texts = list(_split_texts(file.read(), suffix, file.name))
    except Unreadable as error:
        raise Unreadable(f"{given}: {error}") from None
    for index, text in enumerate(texts, 1):
        yield (label if len(texts) == 1 else f"{label}-{index}"), text


def _split_texts(text: str, suffix: str, name: str) -> Iterator[str]:
    """The prompts of a file: a text file may have several, divided by lines of `---`."""
    if suffix == ".json":
        json_of(text)  # only checked: the model gets it as it is written
        yield text
    elif suffix in (".yaml", ".yml"):
        yield json.dumps(yaml_of(text, name), ensure_ascii=False)
    elif suffix == ".txt":
        part: list[str] = []
        for line in (*text.splitlines(), _DELIMITER):
            if line.strip() != _DELIMITER:
                part.append(line)
            elif joined := "\n".join(part).strip():
                yield joined
                part = []
    else:
        yield text


def read_providers(config: Mapping[str, Any], source: Source, findings: Findings) -> dict[str, Provider]:
    """The models by their labels.

    Args:
        config: the configuration.
        source: its file.
        findings: receives what is left out.
    """
    key = "targets" if "providers" not in config and "targets" in config else "providers"
    given = config.get(key)
    given = [given] if isinstance(given, str) else given
    place = f"{source.name} {key}"
    if not isinstance(given, list) or not given:
        findings.leave_out(place, "there are no providers")
        return {}
    providers: dict[str, Provider] = {}
    for number, each in enumerate(given):
        provider = read_provider(each, f"{place}[{number}]", source, findings)
        if provider is not None:
            providers[_make_unique(provider.label, providers)] = provider
            findings.counts["providers"] += 1
    return providers


def read_provider(given: Any, place: str, source: Source, findings: Findings) -> Provider | None:
    """A model or an application; None if it has no counterpart.

    Args:
        given: its id, or a mapping with `id`, `label` and `config`.
        place: where it is.
        source: the configuration.
        findings: receives what is left out.
    """
    if isinstance(given, Mapping) and len(given) == 1 and "id" not in given:  # the id, and its settings
        name, settings = next(iter(given.items()))
        given = {"id": name, **(settings if isinstance(settings, Mapping) else {})}
    settings = given if isinstance(given, Mapping) else {"id": given}
    name = settings.get("id")
    if isinstance(name, str) and (kind := find_kind(name)):
        return _read_program(kind, settings, place, source, findings)
    model = convert_model(name) if isinstance(name, str) else None
    if model is None:
        findings.leave_out(place, f"the provider {name!r:.80} has no counterpart: call it in the task")
        return None
    for key in sorted(settings.keys() - {"id", "label", "config"}):
        findings.leave_out(f"{place}.{key}", "this setting of a provider has no counterpart")
    config = settings.get("config")
    config = config if isinstance(config, Mapping) and model != ECHO else {}
    for key in sorted(config.keys() - _PARAMETERS):
        advice = ": set the variable of its address, such as OPENAI_BASE_URL" if "url" in key.lower() else ""
        findings.leave_out(f"{place}.config.{key}", f"this parameter has no counterpart{advice}")
    for key in sorted(config.keys() & _PARAMETERS):
        if isinstance(config[key], str) and config[key].startswith(FILE_SCHEME):
            findings.leave_out(f"{place}.config.{key}", "it is read from a file")
            config = {name: value for name, value in config.items() if name != key}
    parameters = {key: config[key] for key in config if key in _PARAMETERS}
    return Provider(str(settings.get("label") or name), model, parameters)


def _read_program(
    kind: str, settings: Mapping[str, Any], place: str, source: Source, findings: Findings
) -> Provider | None:
    config = settings.get("config")
    config = config if isinstance(config, Mapping) else {}
    for key in sorted(settings.keys() - {"id", "label", "config"}):
        findings.leave_out(f"{place}.{key}", "this setting of a provider has no counterpart")
    for key in find_unknown_settings(kind, config):
        findings.leave_out(f"{place}.config.{key}", "this setting of a provider has no counterpart")
    name = str(settings["id"])
    try:
        return Provider(str(settings.get("label") or name), kind, convert_program(kind, name, config, source))
    except NoCounterpart as error:
        findings.leave_out(place, f"the provider {name:.80} has no counterpart: {error}")
        return None


def convert_model(name: str) -> str | None:
    """The name of a model for scoregate, such as "openai/gpt-6"; None without a counterpart."""
    if name == ECHO:
        return ECHO
    # In their order: "openai:chat:" before "openai:".
    for start, provider in _PROVIDERS.items():
        if name.startswith(start) and provider:
            rest = name.removeprefix(start)
            return None if not rest or rest.partition(":")[0] in _OTHER_APIS else provider + rest
    return None
