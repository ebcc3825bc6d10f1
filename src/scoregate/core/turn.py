"""One turn of a conversation: what was said, what came back, and its form in a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user said and what came back, the turns counted from 1. `reasoning` is why the user said so."""

    user: str
    assistant: str
    reasoning: str = ""
    duration_ms: float | None = None
    context: Sequence[str] = ()
    tool_calls: Sequence[Mapping[str, Any]] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As plain data, for the record; what is empty is left out."""
        told = {name: getattr(self, name) for name in _CHECKS}
        told |= {name: list(told[name]) for name in _LISTS} | {"metadata": dict(self.metadata)}
        return {name: value for name, value in told.items() if name in _SAID or value not in (None, "", [], {})}

    @staticmethod
    def read(value: object) -> Turn | None:
        """The turn that `plain` made this of; None where it is anything else."""
        if not isinstance(value, Mapping) or not _SAID <= value.keys() <= _CHECKS.keys():
            return None
        if not all(_CHECKS[name](each) for name, each in value.items()):
            return None
        given: dict[str, Any] = {name: tuple(each) if name in _LISTS else each for name, each in value.items()}
        return Turn(**given)


def is_list_of(kind: type, value: object) -> bool:
    """Whether it is a list, and every item of this kind."""
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


_SAID = {"user", "assistant"}
_LISTS = {"context", "tool_calls"}
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "user": lambda value: isinstance(value, str),
    "assistant": lambda value: isinstance(value, str),
    "reasoning": lambda value: isinstance(value, str),
    "duration_ms": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "context": lambda value: is_list_of(str, value),
    "tool_calls": lambda value: is_list_of(Mapping, value),
    "metadata": lambda value: isinstance(value, Mapping),
}
