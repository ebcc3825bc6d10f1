"""What a text of a mapping becomes: something that makes a value out of what its names stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from scoregate.endpoints.names import NAMES, Context
from scoregate.endpoints.surroundings import Surroundings

Leaf: TypeAlias = Callable[[Context], Any]
_MARKS = ("{{", "{%", "{#")


class Omitted:
    """What stands for a field that is left out: it asks for a conversation that has no id yet."""


OMITTED = Omitted()


class Constant:
    """A leaf that says the same whatever is asked."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, context: Context) -> Any:  # noqa: ARG002 - as a leaf is called
        """The value."""
        return self.value


def is_template(text: str) -> bool:
    """Whether there is any Jinja in it."""
    return any(mark in text for mark in _MARKS)


def check_names(used: set[str], surroundings: Surroundings) -> None:
    """See that all are names of something.

    Raises:
        EndpointError: one is not.
    """
    if unknown := sorted(used - NAMES):
        surroundings.misconfigured(
            f"{', '.join(map(repr, unknown)):.200} in the mapping of requests is no name of anything",
            f"There are {', '.join(sorted(NAMES))}.",
        )
