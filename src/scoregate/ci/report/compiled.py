"""Templates, compiled once and kept where Python keeps its compiled modules: it takes longer than to run them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from scoregate.ci.report import numbers


class Compiled(BytecodeCache):
    """What Jinja made of templates, in a folder's `__pycache__`; where that cannot be, it is made again each time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "__pycache__"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a template, unless its source, or the Python or Jinja that compiled it, was another."""
        with suppress(OSError), self._path(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, unless Python is not to write such files."""
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        partial = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            partial.write_bytes(bucket.bytecode_to_string())
            partial.replace(path)

    def _path(self, bucket: Bucket) -> Path:
        return self._folder / f"{bucket.key}.{sys.implementation.cache_tag}.template"


def environment(templates: Path, finalize: Callable[[object], object]) -> Environment:
    """Where the templates of a folder are read and compiled; `finalize` makes what they print fit to be printed.

    There are no filters but ours: `safe`, `join` or `replace` would each be a way around `finalize`.
    """
    made = Environment(
        loader=FileSystemLoader(templates),
        bytecode_cache=Compiled(templates.parent),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters = {"count": numbers.count, "short": numbers.short, "commas": "{:,}".format, "length": len}
    made.globals = {"number": numbers}
    return made
