"""What a text of a mapping becomes: something that makes a value out of what its names stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from scoregate.endpoints.names import NAMES, Context
from scoregate.endpoints.surroundings import Surroundings

Filler: TypeAlias = Callable[[Context], Any]


class Omitted:
    """What stands for a field that is left out: it asks for a conversation that has no id yet."""


OMITTED = Omitted()


class Constant:
    """A filler that says the same whatever is asked."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, context: Context) -> Any:  # noqa: ARG002 - as a filler is called
        """The value."""
        return self.value


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
