"""Read the parameters of the user's functions."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any


def read_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function in order, without evaluating their annotations.

    From Python 3.14 on, annotations may use names that only type checkers import, and evaluating them would fail.

    Raises:
        ValueError: the function is written in C and has no signature.
    """
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        signature = inspect.signature(function, annotation_format=Format.FORWARDREF)
    else:
        signature = inspect.signature(function)
    return list(signature.parameters.values())
