"""Pages that commands serve: the flags that they share, and how people get to see them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from scoregate.ci.identity import in_ci
from scoregate.cli.listing import say
from scoregate.cli.options import options

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from scoregate.loopback.guard import Keys

page_options: Callable[[Any], Any] = options(
    click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Default: one that is free."),
    click.option("--open/--no-open", "opens", default=None, help="Open it in a browser; default: at a terminal."),
)


def show_page(
    app_of: Callable[[Keys], Starlette], command: str, *, invitation: str, port: int, opens: bool | None
) -> None:
    """Serve a page of this machine until somebody interrupts, and say where it is.

    Args:
        app_of: makes the page that these keys open. command: the one that serves it.
        invitation: what is said before the address. port: 0 for one that is free.
        opens: whether a browser is opened; None where somebody sits there who would see it.

    Raises:
        UsageError: the port cannot be had.
    """
    from scoregate.loopback.serving import serve

    wanted = _is_wanted(os.environ) if opens is None else opens
    serve(app_of, command, partial(_tell, invitation=invitation, opens=wanted), port=port)


def _tell(keys: Keys, *, invitation: str, opens: bool) -> None:
    say(invitation)
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
