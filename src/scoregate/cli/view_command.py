"""`scoregate view`: a local page that shows runs, compares any two of them and follows one live."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from scoregate.cli.options import load_project_settings, project_root
from scoregate.cli.text_output import print_line
from scoregate.cli.web_pages import page_options, show_page
from scoregate.errors import RecordError, StoreError, UsageError
from scoregate.kernel.judge.archive import RUN_FILE, read_head, read_run, run_folder
from scoregate.kernel.run.server_packages import require_server_packages

_PATH = click.Path(path_type=Path)


@click.command("view")
@click.argument("runs", nargs=-1, type=_PATH, metavar="[RUN]...")
@click.option(
    "--baseline", type=_PATH, metavar="RUN", help="Baseline run; default: the one each run was compared with."
)
@page_options
def command(runs: tuple[Path, ...], baseline: Path | None, port: int, *, opens: bool | None) -> None:
    """Open a local page that shows RUNs, or folders with runs, and follows a run live.

    Default for RUN: the newest run and the earlier ones that are kept. The page is reachable from this machine only.
    It compares any two runs. While `scoregate run` works, it shows the progress.
    """
    require_server_packages("scoregate view")
    from scoregate.web.view_app import build_view_app
    from scoregate.web.view_runs import ReportRenderer, RunList, VerdictCounter, find_damaged, find_runs

    root = project_root()
    for path in runs:
        if not path.exists():
            raise UsageError(f"{path} does not exist", advice="Name the folder of a run, or a folder with runs.")
    folders = [path.resolve() if path.is_dir() else path.resolve().parent for path in runs]
    places = folders or [root / load_project_settings(root, {}).out]
    base = None if baseline is None else run_folder(baseline).resolve()
    if base is not None:
        read_head(base / RUN_FILE)  # fails if it holds no run
    damaged = find_damaged(places)
    if damaged and runs and not find_runs(places):
        raise damaged[0]
    for error in damaged:
        print_line(f"skipped: {error}")
    state = partial(_settings_state, root)
    counter = VerdictCounter(partial(_count_new_verdicts, root), state)
    with closing(ReportRenderer(partial(_render, root), state)) as renderer:
        page = partial(build_view_app, RunList(places, renderer, base, counter))
        show_page(page, "view", invitation="Open this address (Ctrl-C stops the server):", port=port, opens=opens)


def _render(root: Path, run: Path, base: Path | None) -> Iterator[str]:
    """Render the report of a run with the current settings and reviews."""
    from scoregate.cli.output import build_outcome_view
    from scoregate.cli.stored_runs import NO_BASELINE, Change, find_stored_sides, load_suite_settings
    from scoregate.features.exemptions.entries import read_tree_exemptions
    from scoregate.features.steps import load_steps
    from scoregate.kernel.judge.judge import judge
    from scoregate.kernel.report import html
    from scoregate.kernel.types.exemptions import EXEMPTIONS
    from scoregate.kernel.types.slots import NO_SLOTS

    entries = NO_SLOTS.put(EXEMPTIONS, read_tree_exemptions(root))
    change = Change(NO_BASELINE if base is None else base, entries, keeps_limits=True)
    sides = find_stored_sides(run, root, load_suite_settings(root, {}), change)
    return html.render(build_outcome_view(judge(sides, load_steps)))


def _count_new_verdicts(root: Path, run: Path, moment: float) -> int:
    """Count the verdicts on a run that came after a moment; 0 if they can't be read."""
    from scoregate.store import open_store
    from scoregate.store.apply_reviews import count_new_decisions

    try:
        return count_new_decisions(datetime.fromtimestamp(moment, UTC), partial(read_run, run), open_store(root))
    except (RecordError, StoreError):
        return 0


def _settings_state(root: Path) -> object:
    """The current state of the settings' files, of the exemptions and of the verdicts."""
    from scoregate.features.exemptions.entries.files import ACCEPTED_FILE, QUARANTINE_FILE
    from scoregate.web.view_runs import file_stamp

    names = ("scoregate.toml", "pyproject.toml", ACCEPTED_FILE, QUARANTINE_FILE)
    files = [*(root / name for name in names), *sorted(root.glob(".scoregate/verdicts/**/*.jsonl"))]
    return tuple((path, file_stamp(path)) for path in files)
