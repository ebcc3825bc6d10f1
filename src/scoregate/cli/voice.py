"""How a command speaks: how much it says, to whom, and where."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console

from scoregate.cli.terminal import hush, terminal


@dataclass(frozen=True, slots=True)
class Voice:
    """How much people are told.

    `quiet`: only what failed, and the verdict. `verbose`: everything that there is. `json`: standard output is the
    result, for programs, and people are told on standard error.
    """

    quiet: bool = False
    verbose: bool = False
    json: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a command speaks: `console` to people; `document` is for the result, None where nobody asked for it."""

    voice: Voice
    console: Console
    document: TextIO | None = None


@contextmanager
def stage(voice: Voice) -> Iterator[Stage]:
    """Where to speak, until the block ends. Where a result is asked for, nothing else gets onto standard output."""
    if not voice.json:
        yield Stage(voice, terminal())
        return
    document = sys.stdout
    with redirect_stdout(sys.stderr):
        console = terminal(stderr=True)
        console.quiet = voice.quiet
        yield Stage(voice, console, document)


def emit(chunks: Iterable[str], document: TextIO) -> None:
    """Write a document in UTF-8, whatever the locale; that its reader has left changes nothing."""
    try:
        document.flush()
        for chunk in chunks:
            document.buffer.write(chunk.encode())
        document.buffer.flush()
    except BrokenPipeError:
        hush(document)
