"""Names of suites and of their files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LONGEST_NAME, _LONGEST_FILE = 120, 40


def make_suite_name(given: Any, path: Path) -> str:
    """The name of a suite: a description, or the name of the file without its suffix.

    Args:
        given: the description, if there is one.
        path: the configuration.
    """
    text = given if isinstance(given, str) and given.strip() else path.stem
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line[:_LONGEST_NAME] or "suite"


def make_file_name(name: str) -> str:
    """The name of a suite's file, which `scoregate run` finds.

    Args:
        name: the name of the suite.
    """
    stem = re.sub(r"[^a-z0-9]+", "_", name.lower())[:_LONGEST_FILE].strip("_")
    return f"eval_{stem or 'suite'}.py"
