"""`scoregate view`: runs on a page of this machine, the newest, any two, or the one that is being made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from scoregate.ci.archive import RUN_FILE, read_head, read_run, run_folder
from scoregate.cli.listing import say
from scoregate.cli.options import project_root, settings_of
from scoregate.cli.pages import page_options, show_page
from scoregate.errors import RecordError, StoreError, UsageError

_PATH = click.Path(path_type=Path)


@click.command("view")
@click.argument("runs", nargs=-1, type=_PATH, metavar="[RUN]...")
@click.option("--baseline", type=_PATH, metavar="RUN", help="What runs are held against; default: as they were.")
@page_options
def command(runs: tuple[Path, ...], baseline: Path | None, port: int, *, opens: bool | None) -> None:
    """Show RUNs, or folders that hold some (default: the newest and those kept before it), and follow one live.

    A page on this machine alone: choose any two to hold against each other. While `scoregate run` is at work, it
    shows how far it is.
    """
    from scoregate.viewing.app import app_of
    from scoregate.viewing.made import Press
    from scoregate.viewing.shelf import Shelf
    from scoregate.viewing.since import Since

    root = project_root()
    places = _there(runs) or [root / settings_of(root, {}).out]
    base = None if baseline is None else _readable(baseline)
    _tell_of_damage(places, named=bool(runs))
    state = partial(_state, root)
    since = Since(partial(_since, root), state)
    with closing(Press(partial(_render, root), state)) as press:
        page = partial(app_of, Shelf(places, press, base, since))
        show_page(page, "view", invitation="Look at this address; Ctrl-C ends it:", port=port, opens=opens)


def _there(runs: Sequence[Path]) -> list[Path]:
    for path in runs:
        if not path.exists():
            raise UsageError(f"{path} does not exist", advice="Name a run's folder, or one that holds some.")
    return [path.resolve() if path.is_dir() else path.resolve().parent for path in runs]


def _readable(run: Path) -> Path:
    folder = run_folder(run).resolve()
    read_head(folder / RUN_FILE)
    return folder


def _tell_of_damage(places: Sequence[Path], *, named: bool) -> None:
    """What is there and cannot be read is an error where it was named and there is nothing else to see."""
    from scoregate.viewing.found import find_damaged, find_runs

    damaged = find_damaged(places)
    if damaged and named and not find_runs(places):
        raise damaged[0]
    for error in damaged:
        say(f"left out: {error}")


def _render(root: Path, run: Path, base: Path | None) -> Iterator[str]:
    """The report of a run under the present settings, with what people have said of it since."""
    from scoregate.ci.report import html
    from scoregate.cli.closing import view_of
    from scoregate.cli.stored import gated_settings, rejudged

    outcome = rejudged(run, base, gated_settings(root, {}))
    return html.render(view_of(outcome))


def _since(root: Path, run: Path, moment: float) -> int:
    """How many verdicts a page of a run does not have that was made then; none where they cannot be read."""
    from scoregate.store import open_store
    from scoregate.store.counting import decided_since

    try:
        return decided_since(datetime.fromtimestamp(moment, UTC), partial(read_run, run), open_store(root))
    except (RecordError, StoreError):
        return 0


def _state(root: Path) -> object:
    """The settings' files and people's verdicts, as they are now."""
    from scoregate.viewing.found import stamp_of

    files = [root / "scoregate.toml", root / "pyproject.toml", *sorted(root.glob(".scoregate/verdicts/**/*.jsonl"))]
    return tuple((path, stamp_of(path)) for path in files)
