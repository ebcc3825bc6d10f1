"""Read a project's files. None of them is run, and their size is limited."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from configparser import ConfigParser, Error
from pathlib import Path
from typing import Any

from scoregate.errors import InstallError
from scoregate.kernel.host.file_access import read_project_file

LARGEST_FILE = 50_000_000
SETUP_CFG, SETUP_PY = "setup.cfg", "setup.py"
_EXTRAS_SECTION = "options.extras_require"
_LONGEST_SCRIPT = 1_000_000


def read_toml(path: Path) -> Mapping[str, Any]:
    """The content of a TOML file; empty if there is none.

    Raises:
        InstallError: it is not valid, or too large.
    """
    try:
        return tomllib.loads(read_bounded(path).decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, RecursionError) as error:
        raise InstallError(f"{path} is not valid TOML: {error}", advice="Correct it.") from None


def read_bounded(path: Path) -> bytes:
    """The content of a file.

    Raises:
        FileNotFoundError: there is none.
        NotADirectoryError: there is none.
        InstallError: it can't be read, or is too large.
    """
    try:
        content = read_project_file(path, LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise InstallError(f"{path} can't be read: {error.strerror}", advice="Replace it by a file.") from None
    if len(content) > LARGEST_FILE:
        raise InstallError(f"{path} is larger than {LARGEST_FILE:,} bytes", advice="Set `install` to a command.")
    return content


def has_setup_metadata(root: Path) -> bool:
    """Whether setup.cfg describes a package; many only configure tools."""
    return _read_setup_cfg(root).has_section("metadata")


def read_setup_extras(root: Path) -> tuple[str, ...]:
    """The names of extras in setup.cfg, and those of a literal `extras_require` in setup.py."""
    config = _read_setup_cfg(root)
    names = config.options(_EXTRAS_SECTION) if config.has_section(_EXTRAS_SECTION) else []
    return tuple(dict.fromkeys((*names, *_read_script_extras(root / SETUP_PY))))


def _read_setup_cfg(root: Path) -> ConfigParser:
    """The content of setup.cfg; empty if there is none, or if it can't be parsed, which the build reports."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_bounded(root / SETUP_CFG).decode("utf-8-sig", "replace"))
    except (Error, FileNotFoundError, NotADirectoryError):
        return ConfigParser(interpolation=None)
    return parser


def _read_script_extras(script: Path) -> tuple[str, ...]:
    try:
        source = read_bounded(script)
        tree = ast.parse(source) if len(source) <= _LONGEST_SCRIPT else ast.Module([], [])
    except (FileNotFoundError, NotADirectoryError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    keywords = [node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "extras_require"]
    return tuple(
        key.value
        for keyword in keywords
        if isinstance(keyword.value, ast.Dict)
        for key in keyword.value.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    )
