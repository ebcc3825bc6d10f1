"""What running needs of a test, whatever else it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from scoregate.entities.prompt import Prompt
from scoregate.entities.test_configuration import TestConfiguration
from scoregate.enums import TestType

WANTED = {TestType.SINGLE_TURN: "a prompt", TestType.MULTI_TURN: "a goal"}


class Asked(Protocol):
    """A test, as `entities.Test` is one."""

    id: str | None
    category: str | None
    topic: str | None
    behavior: str | None
    prompt: Prompt | None
    test_configuration: TestConfiguration | None
    source: str | None
    source_line: int | None

    @property
    def own_id(self) -> str | None:
        """The id by which it is known from run to run, if it has one."""
        ...

    @property
    def turns(self) -> TestType:
        """Whether it is one question or a conversation."""
        ...


def said(test: Asked) -> Iterator[tuple[str, str]]:
    """What a test asks, by name, the first being what it is called by; what is empty is left out."""
    plan = test.test_configuration
    if test.turns is TestType.SINGLE_TURN or plan is None:
        yield from (("prompt", test.prompt.content),) if test.prompt else ()
        return
    for name in ("goal", "instructions", "scenario", "restrictions"):
        if text := getattr(plan, name):
            yield name, text
