"""GitHub's OpenAPI description, cut down to the operations that the fake serves."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MODULES = Path(__file__).parents[2] / "node_modules"
SOURCE = MODULES / "@octokit" / "openapi" / "generated" / "api.github.com.json"
REDUCED = MODULES / ".cache" / "github-fake.json"
HOW_TO_INSTALL = "npm install --prefix tests --no-package-lock --ignore-scripts"
NOISE = {"example", "examples", "x-github", "externalDocs", "x-github-breaking-changes"}
Json = Any


@dataclass(frozen=True)
class Operation:
    """An operation as described; its schemas are JSON Schema 2020-12 and refer to `components`."""

    parameters: list[dict[str, Json]]
    body: dict[str, Json] | None
    responses: dict[str, dict[str, Json]]


@dataclass(frozen=True)
class Description:
    operations: dict[str, Operation]
    components: dict[str, Json]


@cache
def load(operations: tuple[tuple[str, str], ...]) -> Description | None:
    """The described operations by "METHOD template"; None where npm has not brought the description."""
    if not SOURCE.is_file():
        return None
    wanted = [f"{method} {template}" for method, template in operations]
    kept = read_reduced(wanted) or reduce(wanted)
    return Description({name: Operation(**kept["operations"][name]) for name in wanted}, kept["components"])


def read_reduced(wanted: list[str]) -> Json:
    if not REDUCED.is_file() or REDUCED.stat().st_mtime < max(SOURCE.stat().st_mtime, Path(__file__).stat().st_mtime):
        return None
    kept = json.loads(REDUCED.read_text(encoding="utf-8"))
    return kept if set(wanted) <= kept["operations"].keys() else None


def reduce(wanted: list[str]) -> Json:
    """Read the whole description once, and leave what is wanted on disk for the next process."""
    whole = json.loads(SOURCE.read_text(encoding="utf-8"))
    operations = {name: operation(whole, *name.split(" ", 1)) for name in wanted}
    names = closure(whole, operations.values())
    components: dict[str, Json] = {}
    for kind, name in names:
        components.setdefault(kind, {})[name] = modern(whole["components"][kind][name])
    kept = {"operations": operations, "components": components}
    with suppress(OSError):  # a folder that may not be written to only costs time
        REDUCED.parent.mkdir(parents=True, exist_ok=True)
        draft = REDUCED.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(kept), encoding="utf-8")
        draft.replace(REDUCED)
    return kept


def operation(whole: Json, method: str, template: str) -> Json:
    found = whole["paths"][template][method.lower()]
    parameters = [resolve(whole, parameter) for parameter in found.get("parameters", [])]
    body = found.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answers = {status: resolve(whole, answer).get("content", {}) for status, answer in found["responses"].items()}
    responses = {
        status: modern(content["application/json"]["schema"])
        for status, content in answers.items()
        if "schema" in content.get("application/json", {})
    }
    return {"parameters": modern(parameters), "body": closed(modern(body)) if body else None, "responses": responses}


def resolve(whole: Json, node: Json) -> Json:
    while "$ref" in node:
        kind, name = node["$ref"].split("/")[2:]
        node = whole["components"][kind][name]
    return node


def closure(whole: Json, nodes: Iterable[Json]) -> set[tuple[str, str]]:
    """Every component that the nodes refer to, directly or not."""
    found: set[tuple[str, str]] = set()
    waiting = list(nodes)
    while waiting:
        fresh = set(references(waiting.pop())) - found
        found |= fresh
        waiting.extend(whole["components"][kind][name] for kind, name in fresh)
    return found


def references(node: Json) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            kind, name = node["$ref"].split("/")[2:]
            yield kind, name
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def modern(node: Json) -> Json:
    """OpenAPI 3.0's dialect as JSON Schema: `nullable` is a type, and prose is left out."""
    if isinstance(node, list):
        return [modern(value) for value in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: modern(value)
        for key, value in node.items()
        if not (key in NOISE or (key in ("description", "title") and isinstance(value, str)))
    }
    return {"anyOf": [{"type": "null"}, kept]} if kept.pop("nullable", None) is True else kept


def closed(node: Json) -> Json:
    """A body's schema in which a name that GitHub doesn't know is an error: it would be ignored in silence."""
    if "anyOf" in node and node["anyOf"][0] == {"type": "null"}:
        return {"anyOf": [node["anyOf"][0], closed(node["anyOf"][1])]}
    if "items" in node:
        return {**node, "items": closed(node["items"])}
    if "properties" not in node:
        return node
    inner = {name: closed(value) for name, value in node["properties"].items()}
    return {"additionalProperties": False, **node, "properties": inner}
