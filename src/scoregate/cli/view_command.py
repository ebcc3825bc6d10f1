"""`scoregate view`: runs on a page of this machine, the newest, any two, or the one that is being made."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import click

from scoregate.ci.archive import run_folder
from scoregate.ci.scene import in_ci
from scoregate.cli.listing import say
from scoregate.cli.options import project_root, settings_of
from scoregate.errors import UsageError

if TYPE_CHECKING:
    from scoregate.loopback.guard import Keys

_PATH = click.Path(path_type=Path)


@click.command("view")
@click.argument("runs", nargs=-1, type=_PATH, metavar="[RUN]...")
@click.option("--baseline", type=_PATH, metavar="RUN", help="What runs are held against; default: as they were.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Default: one that is free.")
@click.option("--open/--no-open", "opens", default=None, help="Open it in a browser; default: at a terminal.")
def command(runs: tuple[Path, ...], baseline: Path | None, port: int, *, opens: bool | None) -> None:
    """Show RUNs, or folders that hold some (default: the newest and those kept before it), and follow one live.

    A page on this machine alone: choose any two to hold against each other. While `scoregate run` is at work, it
    shows how far it is.
    """
    from scoregate.loopback.serving import serve
    from scoregate.viewing.app import app_of
    from scoregate.viewing.made import Press
    from scoregate.viewing.shelf import Shelf

    root = project_root()
    places = _there(runs) or [root / settings_of(root, {}).out]
    base = None if baseline is None else run_folder(baseline).resolve()
    wanted = _is_wanted(os.environ) if opens is None else opens
    with closing(Press(partial(_render, root), partial(_state, root))) as press:
        page = partial(app_of, Shelf(places, press, base))
        serve(page, "view", partial(_tell, opens=wanted), port=port)


def _there(runs: Sequence[Path]) -> list[Path]:
    for path in runs:
        if not path.exists():
            raise UsageError(f"{path} does not exist", advice="Name a run's folder, or one that holds some.")
    return [path.resolve() if path.is_dir() else path.resolve().parent for path in runs]


def _tell(keys: Keys, *, opens: bool) -> None:
    say("Look at this address; Ctrl-C ends it:")
    say(keys.address)
    if opens:
        # Some browsers end only when they are closed.
        Thread(target=_show, args=(keys.ticket(),), daemon=True).start()


def _show(address: str) -> None:
    import webbrowser

    webbrowser.open(address)


def _is_wanted(environ: Mapping[str, str]) -> bool:
    """Whether somebody sits there to whom a browser can be shown."""
    far = in_ci(environ) or any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))
    screen = sys.platform == "darwin" or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return sys.stdout.isatty() and screen and not far


def _render(root: Path, run: Path, base: Path | None) -> Iterator[str]:
    """The report of a run under the present settings, with what people have said of it since."""
    from scoregate.ci.report import html
    from scoregate.ci.report.context import Context
    from scoregate.ci.report.make_view import make_view
    from scoregate.cli.stored import gated_settings, rejudged

    outcome = rejudged(run, base, gated_settings(root, {}))
    return html.render(make_view(outcome.comparison, outcome.verdict, Context(generated_at=time.time())))


def _state(root: Path) -> object:
    """The settings' files and people's verdicts, as they are now."""
    from scoregate.viewing.found import stamp_of

    files = [root / "scoregate.toml", root / "pyproject.toml", *sorted(root.glob(".scoregate/verdicts/**/*.jsonl"))]
    return tuple((path, stamp_of(path)) for path in files)
