"""Bodies that are one text with Jinja in it and become JSON once they are filled: no value breaks out of its place."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

from jinja2 import StrictUndefined, Undefined, pass_context
from jinja2.runtime import Context as JinjaContext

from scoregate.endpoints.names import Context
from scoregate.endpoints.request_fillers import Filler
from scoregate.endpoints.request_templates import read
from scoregate.endpoints.sandbox import printer, sandbox
from scoregate.endpoints.surroundings import Surroundings

_SLOTS = "_slots"
_STRING_OR_SLOT = r'"(?:[^"\\]|\\.)*"|{0}\d+;'


class Ready(str):
    """JSON that a template made itself, with the filter `tojson`."""

    __slots__ = ()


class Slots:
    """The values that a template prints: each leaves a mark that nobody can know beforehand, so none can be forged."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(8) + ":"
        self.values: list[Any] = []

    def put(self, value: Any) -> str:
        """The mark that stands for it."""
        self.values.append(value)
        return f"{self.mark}{len(self.values) - 1};"

    def as_json(self, text: str) -> str:
        """The text with every value in its place: as text within a string, as JSON outside."""
        either = re.compile(_STRING_OR_SLOT.format(self.mark), re.DOTALL)
        return either.sub(lambda found: self._string(found[0]) if found[0][0] == '"' else self._value(found[0]), text)

    def _string(self, text: str) -> str:
        return self._slot().sub(lambda found: json.dumps(self._plain(found[0]))[1:-1], text)

    def _value(self, mark: str) -> str:
        value = self._of(mark)
        if isinstance(value, Ready):
            return str(value)
        return json.dumps(self._plain(mark) if isinstance(value, str) else value)

    def _plain(self, mark: str) -> str:
        value = self._of(mark)
        text = value if isinstance(value, str) else json.dumps(value)
        return self._slot().sub(lambda found: self._plain(found[0]), text)

    def _of(self, mark: str) -> Any:
        return self.values[int(mark.removeprefix(self.mark).removesuffix(";"))]

    def _slot(self) -> re.Pattern[str]:
        return re.compile(rf"{self.mark}\d+;")


@pass_context
def _finalize(context: JinjaContext, value: Any) -> str:
    if isinstance(value, Undefined):
        str(value)
    slots: Slots = context[_SLOTS]
    return slots.put(value)


def _tojson(value: Any) -> Ready:
    return Ready(json.dumps(value))


BODIES = sandbox(StrictUndefined, finalize=_finalize)
BODIES.filters = {**BODIES.filters, "tojson": _tojson}


def json_filler(text: str, surroundings: Surroundings) -> Filler:
    """What makes a body of a text that is no JSON before it is filled.

    Raises:
        EndpointError: as of `request_texts.text_filler`.
    """
    tree, named = read(text, BODIES, surroundings)
    render = printer(tree, BODIES)

    def filled(context: Context) -> Any:
        slots = Slots()
        return json.loads(slots.as_json(render({**named(context), _SLOTS: slots})))

    return filled
