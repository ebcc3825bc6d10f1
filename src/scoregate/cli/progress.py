"""What is seen while scripts run: a live table on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.text import Text

from scoregate.ci.launch import Happening
from scoregate.ci.recording import Recording
from scoregate.cli.display import Display
from scoregate.cli.live import Board, Drawing
from scoregate.cli.plain import Plain
from scoregate.cli.standings import Standings
from scoregate.cli.terminal import is_watched
from scoregate.cli.voice import Stage
from scoregate.cli.watching import Watch


@contextmanager
def progress(stage: Stage) -> Iterator[Watch]:
    """Whoever shows what happens, for as long as the block lasts."""
    console, voice = stage.console, stage.voice
    if voice.quiet:
        yield Watch(_unseen, _unsaid, _idle)
    elif is_watched(console):
        standings = Standings()
        display = Display(console, Drawing(console, standings))
        with display.open():
            board = Board(display.say, voice.verbose, standings)
            yield Watch(board, display.say, board.tick)
    else:

        def say(text: Text) -> None:
            console.print(text, soft_wrap=True)

        plain = Plain(say, voice.verbose)
        yield Watch(plain, say, plain.tick)


def _unseen(_happening: Happening, _recording: Recording) -> None:
    pass


def _unsaid(_line: Text) -> None:
    pass


def _idle() -> None:
    pass
