"""A run on disk: `run.json`, everything but the cases, and `cases.jsonl.gz`, a line a case."""

from scoregate.ci.archive.amend import amend_run
from scoregate.ci.archive.earlier import REPORT_FILE
from scoregate.ci.archive.folder import BASE_FOLDER, CASES_FILE, EARLIER, EXTRA, RUN_FILE, RUN_FOLDER, run_folder
from scoregate.ci.archive.head import RunHead, read_head
from scoregate.ci.archive.reader import read_run
from scoregate.ci.archive.writer import RunWriter

__all__ = [
    "BASE_FOLDER",
    "CASES_FILE",
    "EARLIER",
    "EXTRA",
    "REPORT_FILE",
    "RUN_FILE",
    "RUN_FOLDER",
    "RunHead",
    "RunWriter",
    "amend_run",
    "read_head",
    "read_run",
    "run_folder",
]
