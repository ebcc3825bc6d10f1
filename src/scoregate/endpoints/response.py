"""Replies from responses: fields by JSONPath or template, compiled once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, TypeAlias

from jinja2 import ChainableUndefined, Undefined

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import CONVERSATION_NAMES, is_template
from scoregate.endpoints.templates import (
    compile_evaluator,
    parse_template,
    sandbox,
    single_expression,
    undeclared_names,
)
from scoregate.errors import MissingExtra
from scoregate.kernel.types.conversation import Reply

FieldReader: TypeAlias = Callable[["EndpointResponse"], Any]


class NotJsonError(Exception):
    """The response is not JSON, but the mapping of responses needs JSON."""


class EndpointResponse:
    """A response: its text, and its JSON value, which is parsed at the first use.

    Args:
        text: the text or bytes of the response.
        value: the JSON value, if known.
    """

    __slots__ = ("_value", "text")

    def __init__(self, text: bytes | str, value: Any = ...) -> None:
        self.text = text
        self._value = value

    @property
    def value(self) -> Any:
        """The JSON value.

        Raises:
            NotJsonError: the text is not JSON.
        """
        if self._value is ...:
            try:
                self._value = json.loads(self.text)
            except (ValueError, RecursionError) as error:
                raise NotJsonError(type(error).__name__) from None
        return self._value

    @property
    def string(self) -> str:
        """The text. Invalid bytes are replaced."""
        return self.text if isinstance(self.text, str) else self.text.decode("utf-8", "replace")


_ADVICE = 'See `response_mapping`: it names where in the answer the output is, such as output = "$.answer".'


def to_reply(
    answer: EndpointResponse, fields: Mapping[str, FieldReader], endpoint: EndpointContext
) -> tuple[Reply, Any]:
    """The reply, and the id of the conversation in its original type.

    Raises:
        EndpointError: the response is not JSON, or has no output.
    """
    try:
        values = {name: read(answer) for name, read in fields.items()}
    except NotJsonError as error:
        kind, what = "json_parsing_error", f"the answer is not JSON ({error})"
        raise endpoint.fail(what, kind=kind, body=answer.text, advice=_ADVICE) from None
    except Exception as error:  # a template may raise anything
        what = f"the mapping of responses cannot be applied: {type(error).__name__}: {error!s:.200}"
        raise endpoint.fail(what, kind="mapping_error", body=answer.text, advice=_ADVICE) from None
    if (output := values.pop("output")) is None:
        problem = "the answer has no output at the place in the mapping of responses"
        raise endpoint.fail(problem, kind="mapping_error", body=answer.text, advice=_ADVICE)
    ids = [values.pop(name) for name in CONVERSATION_NAMES if name in values]
    identity = next((value for value in ids if value not in (None, "")), None)
    if isinstance(identity, dict | list):
        raise endpoint.fail("the id of the conversation is neither text nor a number", kind="mapping_error")
    context = _to_list(values.pop("context", None))
    reply = Reply(
        output=output,
        conversation_id=None if identity is None else str(identity),
        context=tuple(each if isinstance(each, str) else json.dumps(each, default=str) for each in context),
        tool_calls=tuple(call for call in _to_list(values.pop("tool_calls", None)) if isinstance(call, Mapping)),
        metadata={**_to_metadata(values.pop("metadata", None)), **values},
    )
    return reply, identity


def _to_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _to_metadata(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"value": value}
    if value is None or isinstance(value, Mapping):
        return value or {}
    return {"value": value}


Path: TypeAlias = Callable[[Any], Any]
# The usual paths are read without jsonpath-ng.
_STEP = re.compile(r"""\.([A-Za-z_]\w*)|\[(\d{1,9})\]|\['([^'\\]+)'\]|\["([^"\\]+)"\]""")
_SIMPLE_PATH = re.compile(rf"\$(?:{_STEP.pattern})*")


def compile_path(text: str, endpoint: EndpointContext) -> Path:
    """A function that returns the first value at a path, or None.

    Raises:
        EndpointError: it is not a JSONPath.
        MissingExtra: jsonpath-ng is not installed.
    """
    if _SIMPLE_PATH.fullmatch(text):
        return _simple_path([int(i) if i else a or b or c for a, i, b, c in _STEP.findall(text)])
    try:
        from jsonpath_ng.ext.parser import parse
    except ImportError:
        raise MissingExtra(
            f"the JSONPath {text!r:.200} takes the package jsonpath-ng, which is not installed",
            advice="Run: pip install 'scoregate[endpoints]'",
        ) from None
    try:
        find = parse(text).find
    except Exception as error:  # the library raises many types
        endpoint.misconfigured(f"{text!r:.200} is not a JSONPath: {error!s:.200}", "Such as $.answer or $.a[0].text.")
    return lambda value: next((match.value for match in find(value)), None)


def _simple_path(steps: list[Any]) -> Path:
    kinds = [(step, list if isinstance(step, int) else dict) for step in steps]

    def read(value: Any) -> Any:
        for step, kind in kinds:
            if not isinstance(value, kind):
                return None
            try:
                value = value[step]
            except (KeyError, IndexError):
                return None
        return value

    return read


_DEFAULT_FIELDS = ("output", "conversation_id", "context", "metadata", "tool_calls")


def compile_fields(mapping: Mapping[str, str] | None, endpoint: EndpointContext) -> dict[str, FieldReader]:
    """A reader for each field. Without a mapping of its own, `output` is the field of that name.

    Raises:
        EndpointError: a JSONPath or a template is invalid.
    """
    given = dict.fromkeys(_DEFAULT_FIELDS, "") if mapping is None else {"output": "", **mapping}
    return {name: _field_reader(text or f"$.{name}", name, endpoint) for name, text in given.items()}


def _field_reader(text: str, name: str, endpoint: EndpointContext) -> FieldReader:
    if text.startswith("$"):
        find = compile_path(text, endpoint)
        return lambda answer: find(answer.value)
    if is_template(text):
        return template_reader(text, endpoint)
    return endpoint.misconfigured(
        f"{text!r:.200}, which is to be {name!r:.60} of a reply, is neither a JSONPath nor a template",
        f"Write $.{text:.60}, or {{{{ {text:.60} }}}}.",
    )


_SANDBOX = sandbox(ChainableUndefined)
_TEXT, _VALUE, _PATH = "response_text", "response", "jsonpath"


def template_reader(text: str, endpoint: EndpointContext) -> FieldReader:
    """A reader of a field. A single name or expression gives its value, any other template a text; "" counts as None.

    Names are the fields of the response, `response` (all of it), `response_text` (the original text), and
    `jsonpath("$.a")` (the value at a path).

    Raises:
        EndpointError: the template is invalid.
    """
    tree = parse_template(text, _SANDBOX, endpoint)
    is_text_alone = undeclared_names(tree) <= {_TEXT}
    is_expression = single_expression(tree) is not None
    evaluate = compile_evaluator(tree, _SANDBOX)
    compile_cached = lru_cache(maxsize=64)(partial(compile_path, endpoint=endpoint))

    def read(answer: EndpointResponse) -> Any:
        names: dict[str, Any] = {_TEXT: answer.string}
        if not is_text_alone:
            data = answer.value
            fields = data if isinstance(data, dict) else {}
            names = {_VALUE: data, **fields, _PATH: lambda path: compile_cached(path)(data), **names}
        value = evaluate(names)
        return None if isinstance(value, Undefined) or (value == "" and not is_expression) else value

    return read
