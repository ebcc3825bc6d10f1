"""Requests from mappings: body, headers and query parameters, compiled once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import (
    CONVERSATION_NAMES,
    OMITTED,
    Constant,
    Filler,
    RequestValues,
    check_names,
    is_template,
)
from scoregate.store.endpoints import StoredEndpoint

_NAME_ONLY = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_LITERALS = {"none", "None", "true", "True", "false", "False"}  # values to Jinja, not names


def text_filler(text: str, endpoint: EndpointContext) -> Filler:
    """Compile a text. Values are inserted as they are and never parsed as a template.

    A text that is only a name or an expression gives its value, also a dict or a list. Any other gives a text.

    Raises:
        EndpointError: a variable is not set, a name is unknown, or the template is invalid.
        MissingExtra: jinja2 is not installed.
    """
    if not is_template(text):
        return Constant(endpoint.fill(text))
    match = _NAME_ONLY.fullmatch(text.strip())
    if match is None or match[1] in _LITERALS:
        from scoregate.endpoints.templates import template_filler

        return template_filler(text, endpoint)
    name = match[1]
    check_names({name}, endpoint)
    if name in CONVERSATION_NAMES:
        return lambda context: OMITTED if context[name] is None else context[name]
    return itemgetter(name)


DEFAULT_MAPPING: Mapping[str, Any] = {"input": "{{ input }}", "conversation_id": "{{ conversation_id }}"}
RAW_BODY = "__body__"


def make_body_filler(mapping: Mapping[str, Any] | str, endpoint: EndpointContext) -> Filler:
    """Compile a mapping: dicts and lists at any depth, or a JSON text.

    A field that needs the id of a conversation is left out while there is none. A list inside a list is inserted item
    by item.

    Raises:
        EndpointError: as `text_filler`, or the text is not JSON.
    """
    if not isinstance(mapping, str):
        return _make_filler(mapping, endpoint)
    try:
        return _make_filler(json.loads(mapping), endpoint)
    except ValueError:
        from scoregate.endpoints.templates import json_filler

        return json_filler(mapping, endpoint)


def _make_filler(value: Any, endpoint: EndpointContext) -> Filler:
    if isinstance(value, str):
        return text_filler(value, endpoint)
    if isinstance(value, Mapping):
        return _dict_filler({name: _make_filler(each, endpoint) for name, each in value.items()})
    if isinstance(value, list | tuple):
        return _list_filler([_make_filler(each, endpoint) for each in value], [isinstance(each, str) for each in value])
    if value is None or isinstance(value, bool | int | float):
        return Constant(value)
    return endpoint.misconfigured(f"a {type(value).__name__} in the mapping of requests has no form in JSON")


def _dict_filler(fields: dict[str, Filler]) -> Filler:
    entries = list(fields.items())

    def fill(context: RequestValues) -> Any:
        values = ((name, each(context)) for name, each in entries)
        return {name: value for name, value in values if value is not OMITTED}

    return _fold_constant(fill, fields.values())


def _list_filler(items: list[Filler], spreads: list[bool]) -> Filler:
    def fill(context: RequestValues) -> Any:
        values: list[Any] = []
        for each, is_text in zip(items, spreads, strict=True):
            value = each(context)
            if is_text and isinstance(value, list):
                values.extend(value)
            elif value is not OMITTED:
                values.append(value)
        return values

    return _fold_constant(fill, items)


def _fold_constant(fill: Callable[[RequestValues], Any], parts: Any) -> Filler:
    return Constant(fill({})) if all(isinstance(part, Constant) for part in parts) else fill


_SYSTEM_PROMPT = "system_prompt"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # a tab is allowed in a header


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """The compiled requests of an endpoint.

    Args:
        endpoint: the endpoint, for messages.
        body: the filler of the body.
        headers: the filler of the headers.
        query: the filler of the query parameters.
        is_raw: whether the body may be a text that is not JSON.
        names: the names that the templates use.
        system_prompt: the first message of conversations.
    """

    endpoint: EndpointContext
    body: Filler
    headers: Filler
    query: Filler
    is_raw: bool
    names: frozenset[str]
    system_prompt: str

    def fill(self, part: Filler, context: RequestValues) -> Any:
        """A part of the request for a message.

        Raises:
            EndpointError: a template cannot be rendered.
        """
        try:
            return part(context)
        except Exception as error:  # a template may raise anything
            problem = f"the mapping of requests cannot be filled: {type(error).__name__}: {error!s:.200}"
            raise self.endpoint.fail(problem, kind="mapping_error", advice="See `request_mapping`.") from None

    def content(self, context: RequestValues) -> str:
        """The body as text: JSON, or the text itself if it is raw."""
        value = self.fill(self.body, context)
        if self.is_raw and isinstance(value, str):
            return value
        try:
            return json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            problem = f"what the mapping of requests makes has no form in JSON: {error!s:.200}"
            raise self.endpoint.fail(problem, kind="mapping_error") from None

    def pairs(self, part: Filler, context: RequestValues) -> list[tuple[str, str]]:
        """The headers or query parameters as texts.

        Raises:
            EndpointError: a header has several lines, or a template cannot be rendered.
        """
        values = self.fill(part, context)
        if not isinstance(values, Mapping):
            raise self.endpoint.fail("query parameters need names", kind="mapping_error")
        pairs = [(name, each if isinstance(each, str) else json.dumps(each)) for name, each in values.items()]
        if broken := next((name for name, text in pairs if part is self.headers and _CONTROL.search(text)), None):
            raise self.endpoint.fail(f"the header {broken!r:.60} would have several lines", kind="mapping_error")
        return pairs


def compile_request(definition: StoredEndpoint, endpoint: EndpointContext) -> RequestTemplate:
    """Compile the requests of an endpoint.

    Raises:
        EndpointError: a template is invalid, a variable is not set, or the system prompt is not used.
    """
    mapping = DEFAULT_MAPPING if definition.request_mapping is None else definition.request_mapping
    if isinstance(mapping, str):
        with suppress(ValueError):
            value = json.loads(mapping)
            mapping = value if isinstance(value, dict) else mapping
    reserved = mapping.get(_SYSTEM_PROMPT, "") if isinstance(mapping, Mapping) else ""
    if isinstance(mapping, Mapping):
        mapping = {name: value for name, value in mapping.items() if name != _SYSTEM_PROMPT}
    parts = (mapping, definition.request_headers, definition.query_params)
    names = frozenset(name for text in _iterate_texts(parts) if is_template(text) for name in re.findall(r"\w+", text))
    prompt = endpoint.fill(definition.system_prompt or reserved)
    if prompt and definition.connection_type not in ("SDK", "MCP") and not names & {"messages", _SYSTEM_PROMPT}:
        endpoint.misconfigured(
            "the system prompt would not be sent",
            'Send the messages, of which it is the first: messages = "{{ messages }}" in the request_mapping.',
        )
    raw = mapping.get(RAW_BODY) if isinstance(mapping, Mapping) else None
    return RequestTemplate(
        endpoint,
        body=text_filler(raw, endpoint) if isinstance(raw, str) else make_body_filler(raw or mapping, endpoint),
        headers=make_body_filler(definition.request_headers, endpoint),
        query=make_body_filler(definition.query_params, endpoint),
        is_raw=raw is not None,
        names=names,
        system_prompt=prompt,
    )


def _iterate_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for each in value.values() for text in _iterate_texts(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in _iterate_texts(each))
