"""What comes back, before anything in it was looked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

Finder: TypeAlias = Callable[["Answer"], Any]


class NotJson(Exception):
    """The answer is no JSON, though where its fields are is said as if it were."""


class Answer:
    """One answer: its text, and what that says as JSON, read when it is first asked for.

    Args:
        text: as it came. value: what it says, where that is known.
    """

    __slots__ = ("_value", "text")

    def __init__(self, text: bytes | str, value: Any = ...) -> None:
        self.text = text
        self._value = value

    @property
    def value(self) -> Any:
        """What it says.

        Raises:
            NotJson: nothing that can be read.
        """
        if self._value is ...:
            try:
                self._value = json.loads(self.text)
            except (ValueError, RecursionError) as error:
                raise NotJson(type(error).__name__) from None
        return self._value

    @property
    def string(self) -> str:
        """The text, whatever is in it."""
        return self.text if isinstance(self.text, str) else self.text.decode("utf-8", "replace")
