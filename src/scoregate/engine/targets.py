"""What "module:name" names, imported."""

from __future__ import annotations

import importlib
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
