"""Store the run on the data branch, as a baseline of later runs."""

from __future__ import annotations

import io
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from scoregate.kernel.job.github.branch_files import BRANCH, KEPT, add_file, stored_path
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.judge.archive import CASES_FILE, EXTRA, RUN_FILE, RUN_FOLDER
from scoregate.kernel.report.view import ReportView

MOST_BYTES = 30 << 20


async def publish_to_branch(view: ReportView, target: PublishTarget) -> Delivery:
    """Commit the run as one file; the oldest runs of its key are deleted.

    Raises:
        GitHubRefused: the branch can't be written.
    """
    connection = target.connection
    if not target.stored or connection is None or connection.api is None or not view.run.commit:
        return Delivery()
    if not view.run.complete:
        return Delivery(warnings=("an interrupted run is not stored as a baseline",))
    if view.run.selection:
        return Delivery(warnings=("a run of a part of the cases is not stored as a baseline",))
    content = zip_run(target.out / RUN_FOLDER)
    if len(content) > MOST_BYTES:
        warning = f"the run has {len(content) >> 20} MB, too much for the branch {BRANCH}: store it as an artifact"
        return Delivery(warnings=(warning,))
    time = datetime.fromtimestamp(view.run.finished, UTC).strftime("%Y%m%d%H%M%S")
    path = stored_path(connection.key, time, view.run.commit)
    message = f"Scores of {view.run.commit[:7]} ({connection.key})"
    await add_file(connection.api, BRANCH, path, content=content, message=message, keep=KEPT)
    return Delivery()


def zip_run(folder: Path) -> bytes:
    """Zip the files of a run and nothing else; links are not followed.

    Compressed files are stored as they are.
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
