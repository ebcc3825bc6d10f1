"""From "module:name", as documents have it, to what it names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def imported(target: str) -> Any:
    """A class, a function, an object of the user's.

    Raises:
        ImportError: there is none; its text says what the module raised.
    """
    module, _, path = target.partition(":")
    if not module or not path:
        raise ImportError("it is not written as module:name")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        raise ImportError(f"{type(error).__name__}: {error!s:.300}") from error
    return found


def module_of(thing: Callable[..., Any]) -> str:
    """The module that a class or a function is found in again, a script by its file's name."""
    module = thing.__module__
    if module == "__main__" and (file := getattr(sys.modules[module], "__file__", None)):
        return Path(file).stem
    return module
