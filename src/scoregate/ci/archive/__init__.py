"""A run on disk: `run.json`, everything but the cases, and `cases.jsonl.gz`, a line a case."""

from scoregate.ci.archive.amend import amend_run
from scoregate.ci.archive.folder import CASES_FILE, EXTRA, RUN_FILE, RUN_FOLDER, run_folder
from scoregate.ci.archive.reader import read_run
from scoregate.ci.archive.writer import RunWriter

__all__ = ["CASES_FILE", "EXTRA", "RUN_FILE", "RUN_FOLDER", "RunWriter", "amend_run", "read_run", "run_folder"]
