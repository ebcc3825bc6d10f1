"""The outputs of the step, for the steps after it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scoregate.ci.archive import RUN_FOLDER
from scoregate.ci.github.commands import outputs_text
from scoregate.ci.publish.outlet import PENDING, Delivery, Outlet
from scoregate.ci.report.view import ReportView


def write_first_outputs(outlet: Outlet) -> None:
    """Say where the run will be, before anything runs: what a killed process has measured can then be uploaded."""
    if outlet.connection is None or (file := outlet.connection.github.output) is None:
        return
    values = {
        "run-path": _below_workspace((outlet.named or outlet.out) / RUN_FOLDER, outlet),
        "artifact-name": outlet.connection.artifact,
    }
    with suppress(OSError), file.open("a", encoding="utf-8", newline="\n") as stream:  # told when all are written
        stream.write(outputs_text(values))


async def write_outputs(view: ReportView, outlet: Outlet, outputs: Mapping[str, str]) -> Delivery:
    """Set them all; nothing happens where no step's outputs are asked for.

    Paths are relative to the workspace, since they hold inside a container and outside. Nothing in them is a suite's
    text; a secret that is a common word must not make the artifact's name another. What could not be written has none.
    """
    if outlet.connection is None or (file := outlet.connection.github.output) is None:
        return Delivery()
    rate, out = view.totals.pass_rate, outlet.named or outlet.out
    values = {
        "conclusion": str(view.conclusion),
        "pass-rate": "" if rate is None else f"{rate:.4f}",
        "failed-gates": str(len(view.failed)),
        "comment-url": "",
        PENDING: "false",
        "run-path": _written(out / RUN_FOLDER, outlet),
        "report-path": _written(out / "report.html", outlet),
        "junit-path": _written(out / "junit.xml", outlet),
        "artifact-name": outlet.connection.artifact,
        **outputs,
    }
    with file.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(outputs_text(values))
    return Delivery()


def _written(path: Path, outlet: Outlet) -> str:
    """The path of what was written; empty where it could not be."""
    return _below_workspace(path, outlet) if path.exists() else ""


def _below_workspace(path: Path, outlet: Outlet) -> str:
    workspace = outlet.connection.github.workspace if outlet.connection else None
    return os.path.relpath(path, workspace) if workspace else str(path)
