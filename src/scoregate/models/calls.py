"""A question on its way: how it is asked, what comes back, and the answer that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from scoregate.core.evaluation import Usage


@dataclass(frozen=True, slots=True)
class Sent:
    """What came back: the headers, the body where it is complete, and what the caller makes of it."""

    headers: Mapping[str, str]
    body: bytes | None
    value: Any = None


@dataclass(frozen=True, slots=True)
class Call:
    """A question and the way to ask it.

    Args:
        question: what is asked, by which its answer is kept; it names the `model`.
        send: asks once, and gives a `Sent` or something awaitable that gives one.
        adapt: told of a final failure, says whether to ask at once in the other way that it has found.
        keeps: whether an answer may be kept; one that is an error may not. None keeps nothing.
    """

    provider: str
    address: str
    path: str
    question: Mapping[str, Any]
    send: Callable[[], Any]
    adapt: Callable[[BaseException], bool] = lambda _error: False
    keeps: Callable[[Mapping[str, Any]], bool] | None = lambda _body: True

    @property
    def model(self) -> str:
        """The name that the request asks for."""
        return str(self.question.get("model", ""))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `sent` is None where it was read from the cache, and `usage` where it does not tell."""

    body: bytes | None
    usage: Usage | None
    sent: Sent | None = None

    @property
    def table(self) -> Mapping[str, Any]:
        """The body read as JSON; empty where it is no object."""
        return {} if self.body is None else table_of(self.body)


def table_of(body: bytes) -> Mapping[str, Any]:
    """A body read as JSON; empty where it is no object."""
    try:
        told = from_json(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
