"""How a model wants to be asked: what it refused once is not tried again in this process."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scoregate.models.structured import Way


@dataclass(frozen=True, slots=True)
class Manners:
    """`way` is how a schema is asked for, None where every way was refused.

    `drops` are parameters that are not sent, and `renames` those that are sent under another name.
    """

    way: Way | None = Way.JSON_SCHEMA
    drops: frozenset[str] = frozenset()
    renames: Mapping[str, str] = field(default_factory=dict)

    def applied(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as this model takes them."""
        return {self.renames.get(name, name): value for name, value in parameters.items() if name not in self.drops}


_known: dict[tuple[str, str], Manners] = {}
_lock = threading.Lock()


def manners_of(address: str, model: str) -> Manners:
    """What is known of a model at an address."""
    return _known.get((address, model), Manners())


def learn(address: str, model: str, *, used: Manners, told: Any) -> bool:
    """Whether a refusal of a request that was made in this manner leaves another one to try."""
    with _lock:
        if manners_of(address, model) != used:
            return True  # somebody else has learnt it meanwhile
        if (better := _better(used, told)) is None:
            return False
        _known[address, model] = better
        return True


def _better(used: Manners, told: Any) -> Manners | None:
    body = told.body if isinstance(getattr(told, "body", None), Mapping) else {}
    param, message = str(body.get("param") or ""), str(body.get("message") or told).lower()
    if param == "max_tokens" or "max_completion_tokens" in message:
        return _unless_same(used, replace(used, renames={"max_tokens": "max_completion_tokens"}))
    if "temperature" in (param or message):
        return _unless_same(used, replace(used, drops=used.drops | {"temperature"}))
    if used.way is not None and any(word in f"{param} {message}" for word in _OF_SCHEMAS):
        return replace(used, way=used.way.next)
    return None


def _unless_same(used: Manners, better: Manners) -> Manners | None:
    return None if used == better else better


_OF_SCHEMAS = ("response_format", "json_schema", "json_object", "tool", "function", "schema", "structured", "grammar")
