"""What a message becomes before it is sent: body, headers and parameters, all made ready once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scoregate.endpoints.names import Context, is_template
from scoregate.endpoints.request_bodies import DEFAULT, RAW, body_of
from scoregate.endpoints.request_fillers import Filler
from scoregate.endpoints.request_texts import text_filler
from scoregate.endpoints.surroundings import Surroundings
from scoregate.store.endpoints import StoredEndpoint

_SYSTEM = "system_prompt"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Of one endpoint. `names` are those that its templates use, `is_raw` says that the body is a text of any kind."""

    surroundings: Surroundings
    body: Filler
    headers: Filler
    query: Filler
    is_raw: bool
    names: frozenset[str]
    system_prompt: str

    def filled(self, part: Filler, context: Context) -> Any:
        """What is sent for a message.

        Raises:
            EndpointError: a template cannot be filled.
        """
        try:
            return part(context)
        except Exception as error:  # whatever a template may raise
            what = f"the mapping of requests cannot be filled: {type(error).__name__}: {error!s:.200}"
            raise self.surroundings.fail(what, kind="mapping_error", advice="See `request_mapping`.") from None

    def content(self, context: Context) -> str:
        """The body as text: JSON, unless it is raw and a text itself."""
        value = self.filled(self.body, context)
        if self.is_raw and isinstance(value, str):
            return value
        try:
            return json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            what = f"what the mapping of requests makes has no form in JSON: {error!s:.200}"
            raise self.surroundings.fail(what, kind="mapping_error") from None

    def pairs(self, part: Filler, context: Context) -> list[tuple[str, str]]:
        """Headers or parameters, as texts.

        Raises:
            EndpointError: one would be more than one line, or a template cannot be filled.
        """
        filled = self.filled(part, context)
        if not isinstance(filled, Mapping):
            raise self.surroundings.fail("what is sent in the address has to have names", kind="mapping_error")
        made = [(name, each if isinstance(each, str) else json.dumps(each)) for name, each in filled.items()]
        if broken := next((name for name, text in made if part is self.headers and _CONTROL.search(text)), None):
            raise self.surroundings.fail(f"the header {broken!r:.60} would be more than a line", kind="mapping_error")
        return made


def outgoing_of(definition: StoredEndpoint, surroundings: Surroundings) -> Outgoing:
    """Make an endpoint's requests ready.

    Raises:
        EndpointError: a template cannot be read, a variable is not set, or a system prompt would go nowhere.
    """
    mapping = _read(definition.request_mapping)
    reserved = mapping.get(_SYSTEM, "") if isinstance(mapping, Mapping) else ""
    if isinstance(mapping, Mapping):
        mapping = {name: value for name, value in mapping.items() if name != _SYSTEM}
    parts = (mapping, definition.request_headers, definition.query_params)
    names = frozenset(name for text in _texts(parts) if is_template(text) for name in re.findall(r"\w+", text))
    prompt = surroundings.filled(definition.system_prompt or reserved)
    if prompt and definition.connection_type != "SDK" and not names & {"messages", _SYSTEM}:
        surroundings.misconfigured(
            "the system prompt would not be sent",
            'Send the messages, of which it is the first: messages = "{{ messages }}" in the request_mapping.',
        )
    raw = mapping.get(RAW) if isinstance(mapping, Mapping) else None
    return Outgoing(
        surroundings,
        body=text_filler(raw, surroundings) if isinstance(raw, str) else body_of(raw or mapping, surroundings),
        headers=body_of(definition.request_headers, surroundings),
        query=body_of(definition.query_params, surroundings),
        is_raw=raw is not None,
        names=names,
        system_prompt=prompt,
    )


def _read(mapping: Mapping[str, Any] | str | None) -> Mapping[str, Any] | str:
    """A text that is JSON before it is filled is what it says."""
    if not isinstance(mapping, str):
        return DEFAULT if mapping is None else mapping
    try:
        value = json.loads(mapping)
    except ValueError:
        return mapping
    return value if isinstance(value, dict) else mapping


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for each in value.values() for text in _texts(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in _texts(each))
