"""Providers of promptfoo that call an application: programs, Python files and HTTP addresses."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.convert.files import FILE_SCHEME, Source

_ID_OF_HTTP = ("http", "https")
_HTTP_KEYS = {"url", "method", "headers", "body", "queryParams", "transformResponse", "responseParser"}
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_TEMPLATE = re.compile(r"\{[{%#]")
_VARIABLE = re.compile(r"\{\{\s*(?:env\.)?[\w.]+\s*\}\}")
# `json.choices[0].message["content"]`
_PATH = re.compile(r"""\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[(?:"([^"]+)"|'([^']+)')\]""")
_FUNCTION = "call_api"


class NoCounterpart(ValueError):
    """A provider that can't be converted; the text says why."""


def find_kind(name: str) -> str:
    """The kind of a provider that calls an application: "exec", "python" or "http"; empty for others.

    Args:
        name: the id of the provider.
    """
    if name.startswith("exec:"):
        return "exec"
    if name.startswith("python:") or re.fullmatch(r"file://[^:]+\.py(:\w+)?", name):
        return "python"
    return "http" if name in _ID_OF_HTTP or name.startswith(("http://", "https://")) else ""


def convert_program(kind: str, name: str, config: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """The arguments of `call_provider`.

    Args:
        kind: the kind of the provider.
        name: its id.
        config: its settings.
        source: the configuration.

    Raises:
        NoCounterpart: it can't be converted.
    """
    return _CONVERTERS[kind](name, config, source)


def _convert_exec(name: str, config: Mapping[str, Any], _source: Source) -> dict[str, Any]:
    try:
        command = shlex.split(name.removeprefix("exec:"))
    except ValueError as error:
        raise NoCounterpart(f"its command can't be split: {error}") from None
    if not command:
        raise NoCounterpart("it names no program")
    return {"command": command, "config": dict(config)}


def _convert_python(name: str, config: Mapping[str, Any], source: Source) -> dict[str, Any]:
    path, _, function = name.removeprefix("python:").removeprefix(FILE_SCHEME).partition(":")
    file = source.find(path)
    if not file.path.is_file() or not file.path.resolve().is_relative_to(source.top):
        raise NoCounterpart(f"there is no file {path:.80} in the project")
    left = {key: each for key, each in config.items() if key != "pythonExecutable"}
    return {"file": path, "function": function or _FUNCTION, "config": left}


def _convert_http(name: str, config: Mapping[str, Any], _source: Source) -> dict[str, Any]:
    url = config.get("url", None if name in _ID_OF_HTTP else name)
    method = str(config.get("method", "POST" if "body" in config else "GET")).upper()
    headers, query = config.get("headers", {}), config.get("queryParams", {})
    if not isinstance(url, str) or method not in _METHODS:
        raise NoCounterpart("it needs a url and a method of HTTP")
    if not _is_texts(headers) or not _is_texts(query):
        raise NoCounterpart("its headers and queryParams must be texts")
    if query:
        url += ("&" if "?" in url else "?") + "&".join(f"{key}={value}" for key, value in query.items())
    for text in _list_texts([url, headers, config.get("body")]):
        if _TEMPLATE.search(_VARIABLE.sub("", text)):
            raise NoCounterpart(f"the template {text:.60} has more than variables")
        if text.startswith(FILE_SCHEME):
            raise NoCounterpart("a part of it is read from a file")
    provider: dict[str, Any] = {"url": url, "method": method, "headers": dict(headers)}
    if config.get("body") is not None:
        provider["body"] = config["body"]
    transform = config.get("transformResponse", config.get("responseParser"))
    return provider if transform is None else {**provider, "path": _parse_path(transform)}


def find_unknown_settings(kind: str, config: Mapping[str, Any]) -> list[str]:
    """The settings that have no counterpart. Programs and Python files get all of theirs.

    Args:
        kind: the kind of the provider.
        config: its settings.
    """
    return sorted(config.keys() - _HTTP_KEYS) if kind == "http" else sorted(config.keys() & {"pythonExecutable"})


def _is_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, str | int | float) for each in value.values())


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _list_texts(each)


def _parse_path(transform: Any) -> list[str | int]:
    """The path in a JSON answer of an expression of JavaScript such as `json.choices[0].text`."""
    if not isinstance(transform, str) or not transform.strip().startswith("json"):
        raise NoCounterpart(f"transformResponse {transform!r:.60} is more than a path in json")
    rest = transform.strip().removeprefix("json")
    if _PATH.sub("", rest):
        raise NoCounterpart(f"transformResponse {transform!r:.60} is more than a path in json")
    return [int(each[2]) if each[2] else each[1] or each[3] or each[4] for each in _PATH.finditer(rest)]


_CONVERTERS = {"exec": _convert_exec, "python": _convert_python, "http": _convert_http}
