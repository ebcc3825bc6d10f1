"""What "module:name" names, imported; and the module that something is found in again."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def target(name: str) -> Any:
    """What "package.module:name.of.it" names.

    Raises:
        ValueError: it is not written so. Exception: whatever the module raises when it is imported, or does not have.
    """
    module, _, path = name.partition(":")
    if not module or not path:
        raise ValueError("it is not written as module:name")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def module_of(thing: Callable[..., Any]) -> str:
    """The module of a class or a function, a script by its file's name."""
    module = thing.__module__
    if module == "__main__" and (file := getattr(sys.modules[module], "__file__", None)):
        return Path(file).stem
    return module
