"""Read back what this process wrote itself: nothing to check, and nothing heavy to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic_core import from_json

from scoregate.core.evaluation import Assertion, Threshold, Usage
from scoregate.core.events import Event
from scoregate.core.parts import Choice, ErrorInfo, EvaluatorInfo, Fingerprint, Origin

_KINDS: dict[str, type[Event]] = {kind.__dataclass_fields__["type"].default: kind for kind in get_args(Event)}


def own_event(line: bytes) -> Event:
    """The event in a line of our own log."""
    said = from_json(line)
    for name in said.keys() & _PARTS.keys():
        if said[name] is not None:
            said[name] = _PARTS[name](said[name])
    return _KINDS[said.pop("type")](**said)


def evaluator_of(said: Mapping[str, Any]) -> EvaluatorInfo:
    """An evaluator, as a log or a record has it."""
    mark = said["fingerprint"]
    choices = tuple(Choice(**each) for each in said["choices"])
    return EvaluatorInfo(**{**said, "fingerprint": None if mark is None else Fingerprint(**mark), "choices": choices})


_PARTS: dict[str, Callable[[Any], Any]] = {
    "assertions": lambda said: tuple(Assertion(**each) for each in said),
    "assignees": tuple,
    "error": lambda said: ErrorInfo(**said),
    "evaluators": lambda said: tuple(map(evaluator_of, said)),
    "origin": lambda said: Origin(**said),
    "tags": tuple,
    "threshold": lambda said: Threshold(**said),
    "unscored": tuple,
    "usage": lambda said: Usage(**said),
}
