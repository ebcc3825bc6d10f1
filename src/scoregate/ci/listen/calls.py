"""One call of an SDK: who speaks, of which suite and case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import md5
from typing import Any

from scoregate.ci.listen.bodies import parse
from scoregate.ci.listen.refused import Refused

PYTHON, JAVASCRIPT = "autoblocks-python", "autoblocks-js"
_AGENTS = {"python-httpx": PYTHON, "node": JAVASCRIPT, "undici": JAVASCRIPT}
_LONGEST_ID = 1_000


@dataclass(frozen=True, slots=True)
class Call:
    """What was posted: `data` is what `body` says; `sdk` who posted it, None where we do not know."""

    path: str
    data: Mapping[str, Any]
    body: bytes
    sdk: str | None = None

    @property
    def suite(self) -> str:
        """The suite's id.

        Raises:
            Refused: there is none.
        """
        return self._id("testExternalId")

    @property
    def case(self) -> str:
        """The case's hash.

        Raises:
            Refused: there is none.
        """
        return self._id("testCaseHash")

    @property
    def evaluator(self) -> str:
        """The evaluator's id.

        Raises:
            Refused: there is none.
        """
        return self._id("evaluatorExternalId")

    def says(self, name: str) -> bool:
        """Whether it has a value for a field; nulls and missing keys are alike."""
        return self.data.get(name) is not None

    def _id(self, name: str) -> str:
        value = self.data.get(name)
        if not isinstance(value, str) or not value:
            raise Refused(f"its {name} must be a text that is not empty, not {value!r:.80}")
        return bounded(value)


def call_of(path: str, body: bytes, agent: str) -> Call:
    """The call that a body makes; `agent` is the client's own name for itself.

    Raises:
        Refused: the body is no JSON object.
    """
    try:
        data = parse(body)
    except ValueError as error:
        raise Refused(f"its body cannot be read as JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise Refused(f"its body must be a JSON object, not {data!r:.80}")
    return Call(path, data, body, _AGENTS.get(agent.partition("/")[0]))


def bounded(value: str) -> str:
    """An id that is not too long; ids that differ stay different, and the same ones the same."""
    if len(value) <= _LONGEST_ID:
        return value
    return f"{value[:_LONGEST_ID]}… {md5(value.encode(), usedforsecurity=False).hexdigest()}"
