"""A run on disk: `run.json`, everything but the cases, and `cases.jsonl.gz`, one line for each case."""

from scoregate.kernel.judge.archive.folder import (
    AGAIN,
    AGAIN_BASE,
    ATTEMPT,
    BASE_FOLDER,
    CASES_FILE,
    CONTROL,
    EARLIER,
    EXTRA,
    INTERRUPTED,
    PARTS,
    PUSH,
    RUN_FILE,
    RUN_FOLDER,
    run_folder,
)
from scoregate.kernel.judge.archive.marker import IN_PROGRESS, mark_in_progress
from scoregate.kernel.judge.archive.reader import read_run
from scoregate.kernel.judge.archive.rotation import REPORT_FILE, sort_by_start
from scoregate.kernel.judge.archive.run_json import RunHead, amend_run, read_head
from scoregate.kernel.judge.archive.unfinished import RecoveredRun, latest_run, recover
from scoregate.kernel.judge.archive.writer import RunWriter

__all__ = [
    "AGAIN",
    "AGAIN_BASE",
    "ATTEMPT",
    "BASE_FOLDER",
    "CASES_FILE",
    "CONTROL",
    "EARLIER",
    "EXTRA",
    "INTERRUPTED",
    "IN_PROGRESS",
    "PARTS",
    "PUSH",
    "REPORT_FILE",
    "RUN_FILE",
    "RUN_FOLDER",
    "RecoveredRun",
    "RunHead",
    "RunWriter",
    "amend_run",
    "latest_run",
    "mark_in_progress",
    "read_head",
    "read_run",
    "recover",
    "run_folder",
    "sort_by_start",
]
