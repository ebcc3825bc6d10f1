"""The run, kept on the data branch as a later run's base."""

from __future__ import annotations

import io
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from scoregate.ci.archive import CASES_FILE, EXTRA, RUN_FILE, RUN_FOLDER
from scoregate.ci.github.data_branch import BRANCH, KEPT, path_of
from scoregate.ci.github.git_data import add_file
from scoregate.ci.publish.outlet import Delivery, Outlet
from scoregate.ci.report.view import ReportView

MOST_BYTES = 30 << 20


async def publish_to_branch(view: ReportView, outlet: Outlet) -> Delivery:
    """Commit the run as one file; the oldest of its key go.

    Raises:
        GitHubRefused: the branch cannot be written.
    """
    connection = outlet.connection
    if not outlet.stored or connection is None or connection.api is None or not view.run.commit:
        return Delivery()
    if not view.run.complete:
        return Delivery(warnings=("an interrupted run is not kept as a base",))
    content = packed(outlet.out / RUN_FOLDER)
    if len(content) > MOST_BYTES:
        told = f"the run has {len(content) >> 20} MB, too many for the branch {BRANCH}: keep it as an artifact"
        return Delivery(warnings=(told,))
    time = datetime.fromtimestamp(view.run.finished, UTC).strftime("%Y%m%d%H%M%S")
    path = path_of(connection.key, time, view.run.commit)
    message = f"Scores of {view.run.commit[:7]} ({connection.key})"
    await add_file(connection.api, BRANCH, path, content=content, message=message, keep=KEPT)
    return Delivery()


def packed(folder: Path) -> bytes:
    """The files of a run as a zip, and nothing else that lies beside them; links are not followed.

    Those that are compressed already are stored as they are.
    """
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for place in (folder, *sorted(folder.glob(f"{EXTRA}*"))):
            for name, kind in ((RUN_FILE, zipfile.ZIP_DEFLATED), (CASES_FILE, zipfile.ZIP_STORED)):
                path = place / name
                archive.writestr(path.relative_to(folder).as_posix(), _content(path), kind)
    return file.getvalue()


def _content(path: Path) -> bytes:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:  # noqa: PTH123
        return file.read()
