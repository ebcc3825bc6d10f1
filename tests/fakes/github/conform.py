"""Holds requests, and the fake's own answers, to GitHub's description."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.github.description import Description

Json = Any


class Conformity:
    """Lists the violations of a request or an answer, one sentence each."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self._validators: dict[str, Any] = {}

    def of_request(self, operation: str, path: Mapping[str, str], query: Mapping[str, str], body: Json) -> list[str]:
        described = self.description.operations[operation]
        given = {"path": path, "query": query}
        known = {parameter["name"] for parameter in described.parameters if parameter["in"] == "query"}
        wrong = [f"query parameter {name!r} is not known" for name in query if name not in known]
        for parameter in described.parameters:
            values = given.get(parameter["in"], {})
            if parameter["name"] in values:
                value = typed(values[parameter["name"]], parameter["schema"])
                wrong += self._errors(f"{operation} {parameter['name']}", parameter["schema"], value)
            elif parameter.get("required"):
                wrong.append(f"{parameter['name']} is required")
        return wrong + self._body(operation, described.body, body)

    def of_answer(self, operation: str, status: int, content: Json) -> list[str]:
        described = self.description.operations[operation].responses.get(str(status))
        return self._errors(f"{operation} {status}", described, content) if described else []

    def _body(self, operation: str, schema: Json, body: Json) -> list[str]:
        if schema is None:
            return ["a body is sent where none is expected"] if body else []
        return self._errors(f"{operation} body", schema, body if body is not None else {})

    def _errors(self, key: str, schema: Json, value: Json) -> list[str]:
        errors = self._validator(key, schema).iter_errors(value)
        return [f"{'/'.join(map(str, error.absolute_path)) or 'it'}: {error.message[:300]}" for error in errors]

    def _validator(self, key: str, schema: Json) -> Any:
        from jsonschema import Draft202012Validator

        if key not in self._validators:
            whole = {**schema, "components": self.description.components}
            self._validators[key] = Draft202012Validator(whole, format_checker=formats())
        return self._validators[key]


@cache
def formats() -> Any:
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())

    @checker.checks("date-time", raises=ValueError)
    def is_time(value: object) -> bool:
        return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None

    @checker.checks("uri", raises=ValueError)
    def is_address(value: object) -> bool:
        return not isinstance(value, str) or bool(urlsplit(value).scheme)

    return checker


def typed(value: str, schema: Mapping[str, Any]) -> Json:
    """A parameter's text as what it is meant to be, or as text, which then fails."""
    kind = schema.get("type")
    if kind == "integer" and value.removeprefix("-").isdigit():
        return int(value)
    return {"true": True, "false": False}.get(value, value) if kind == "boolean" else value
