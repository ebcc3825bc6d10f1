"""What the function under test returned, as the record keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def output_form(output: Any) -> Any:
    """The output as the record keeps it: its own `serialize`, where it has one.

    Raises:
        TypeError: it can be read only once, so that the evaluators would find nothing.
    """
    if isinstance(output, Iterator):
        raise TypeError(f"a {type(output).__name__} can be read only once; return its items, in a list")
    serialize = getattr(output, "serialize", None)
    return serialize() if callable(serialize) else output
