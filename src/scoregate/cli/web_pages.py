"""Local pages that commands serve: their shared flags, their address, and the browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from scoregate.cli.options import combine_options
from scoregate.cli.text_output import print_line
from scoregate.kernel.host.runner import in_ci

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from scoregate.web.server import AccessKeys


page_options: Callable[[Any], Any] = combine_options(
    click.option(
        "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port of the page; default: a free one."
    ),
    click.option(
        "--open/--no-open",
        "opens",
        default=None,
        help="Open the page in a browser; default: only in a terminal on a machine with a display.",
    ),
)


def show_page(
    app_of: Callable[[AccessKeys], Starlette], command: str, *, invitation: str, port: int, opens: bool | None
) -> None:
    """Serve a local page until it is interrupted, and print its address.

    Args:
        app_of: creates the app, which these keys unlock.
        command: the command that serves it.
        invitation: the line before the address.
        port: 0 for a free one.
        opens: whether to open a browser; None: if the user can see one.

    Raises:
        UsageError: the port is not available.
    """
    from scoregate.web.server import serve

    if opens is None:
        # The user can see a browser: there is a terminal and a display, but no CI and no SSH.
        is_remote = in_ci(os.environ) or any(os.environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))
        displays = ("DISPLAY", "WAYLAND_DISPLAY")
        has_screen = sys.platform == "darwin" or any(os.environ.get(name) for name in displays)
        opens = sys.stdout.isatty() and has_screen and not is_remote
    serve(app_of, command, partial(_print_address, invitation=invitation, opens=opens), port=port)


def _print_address(keys: AccessKeys, *, invitation: str, opens: bool) -> None:
    print_line(invitation)
    print_line(keys.address)
    if opens:
        import webbrowser

        # Some browsers return only when their window is closed.
        Thread(target=webbrowser.open, args=(keys.ticket(),), daemon=True).start()
