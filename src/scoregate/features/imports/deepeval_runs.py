"""deepeval's test runs: folders that keep every run of a command, since its other file keeps only the last one."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeAlias

from scoregate.errors import ImportFailed
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.records import record
from scoregate.kernel.types.test_outcomes import OUTCOMES_FILE, TestOutcomes
from scoregate.kernel.types.text import natural_sort_key

FORMAT = "deepeval"
VARIABLE = "DEEPEVAL_RESULTS_FOLDER"
OpenPath: TypeAlias = Callable[[Path], BinaryIO]
_TEST_RUN = re.compile(r"test_run_\d{8}_\d{6}(_\d+)?\.json")
_LATEST = ".latest_run_full.json"
# Versions before 3.9 keep only the first run of a command in the folder.
_OLD_TEST_RUN = re.compile(r"\d{8}_\d{6}")
_DEEPEST = 4
_MOST_FILES = 10_000
_MOST_SEARCHED = 100_000
_SKIPPED = frozenset({".git", ".venv", "venv", ".tox", ".nox", "node_modules", "__pycache__"})
_CHUNK = 1024 * 1024
_LARGEST_OUTCOMES = 64 * 1024 * 1024
_MOST_LISTED = 5


@record
class ResultsFolder:
    """The folder to which deepeval writes every test run, unless a call has a `results_folder` of its own.

    Args:
        path: the folder.
        environment: the variable that names it, if it is new.
        cwd: the folder of the command, in which other folders of results are looked for.
        outcomes: where the plug-in of pytest writes how tests ended, if tests run.
    """

    path: Path
    environment: Mapping[str, str]
    cwd: Path
    outcomes: Path

    def list_files(self) -> list[Path]:
        """The test runs in the folder and in that of the command, with their subfolders.

        Raises:
            ImportFailed: it has too many files.
        """
        files = list(islice(_walk(self.path, _DEEPEST), _MOST_FILES + 1))
        if len(files) > _MOST_FILES:
            raise ImportFailed(f"the folder {VARIABLE} has more than {_MOST_FILES:,} files", advice="Use a new folder.")
        others = islice(_walk(self.cwd, _DEEPEST), _MOST_SEARCHED)
        return [path for path in (*files, *others) if is_test_run(path) or _OLD_TEST_RUN.fullmatch(path.name)]


def open_results_folder(
    launch: Launch, environ: Mapping[str, str], temporary: Path, identity: Identity | None
) -> ResultsFolder | None:
    """The folder for the test runs of a launch; None if it imports no results of deepeval.

    Args:
        launch: the launch.
        environ: the environment of its process; a folder that is set there stays.
        temporary: a folder for this launch only, with its event logs in `events`.
        identity: the user that the process runs as.
    """
    if not any(each.format == FORMAT for each in launch.source.imports):
        return None
    outcomes = temporary / "events" / OUTCOMES_FILE
    if own := environ.get(VARIABLE, "").strip():
        return ResultsFolder(launch.cwd / own, {}, launch.cwd, outcomes)
    folder = temporary / "deepeval"
    folder.mkdir(mode=0o700)
    if identity is not None:
        # A suite with a user of its own couldn't write into a folder of the host.
        identity.give(folder)
    return ResultsFolder(folder, {VARIABLE: str(folder)}, launch.cwd, outcomes)


def _walk(folder: Path, levels: int) -> Iterator[Path]:
    """The files in a folder and its subfolders. Links to folders are not followed, packages and caches are skipped."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if levels and entry.name not in _SKIPPED:
                yield from _walk(Path(entry.path), levels - 1)
        else:
            yield Path(entry.path)  # also links to files, which `_is_new` judges by their targets


def is_test_run(path: Path) -> bool:
    """Whether deepeval names the file of a test run so."""
    return _TEST_RUN.fullmatch(path.name) is not None


def select_test_runs(paths: Iterable[Path], open_path: OpenPath) -> tuple[list[Path], list[Path]]:
    """Select the files to read, so that no test run is missing and none is read twice.

    Args:
        paths: the new files of deepeval, in its folder and those that the command's imports name.
        open_path: opens one for reading.

    Returns:
        The files of test runs in the order in which they were written, and other files.

    Raises:
        ImportFailed: a file can hide further test runs.
    """
    # A pattern of the settings and the folder may name one file twice.
    unique = {path.resolve(): path for path in paths}.values()
    if old := next((path for path in unique if _OLD_TEST_RUN.fullmatch(path.name)), None):
        raise ImportFailed(
            f"{old.name!r:.100} was written by a version of deepeval that keeps only one test run of a command",
            advice="Update deepeval to version 4 or later, which keeps every test run.",
        )
    # deepeval numbers the runs of one second, so `_10` is newer than `_9`.
    runs = sorted(filter(is_test_run, unique), key=lambda path: (natural_sort_key(path.name), path))
    others = [path for path in unique if not is_test_run(path)]
    for latest in [path for path in others if path.name == _LATEST]:
        if not any(_is_same(latest, run, open_path) for run in runs):
            raise _hidden_runs_error(latest, has_runs=bool(runs))
        others.remove(latest)
    return runs, others


def read_outcomes(folder: ResultsFolder | None, open_path: OpenPath) -> TestOutcomes | None:
    """How tests ended; None if no tests ran, or without the plug-in of pytest in their environment.

    Args:
        folder: the folder of the test runs.
        open_path: opens a file for reading.

    Raises:
        ImportFailed: the file can't be read.
    """
    if folder is None or not os.path.lexists(folder.outcomes):
        return None
    with open_path(folder.outcomes) as file:
        data = file.read(_LARGEST_OUTCOMES + 1)
    if len(data) > _LARGEST_OUTCOMES:
        raise ImportFailed(f"{OUTCOMES_FILE} is larger than {_LARGEST_OUTCOMES:,} bytes")
    try:
        return TestOutcomes.parse(data)
    except (ValueError, RecursionError) as error:
        raise ImportFailed(f"{OUTCOMES_FILE} can't be read: {error}") from None


def check_missing_tests(tests: TestOutcomes) -> Iterator[ImportFailed]:
    """The error for failed tests that have no case in the files that were read."""
    if missing := tests.list_missing():
        names = ", ".join(f"{test:.200}" for test in missing[:_MOST_LISTED])
        subject = "1 failed test has" if len(missing) == 1 else f"{len(missing):,} failed tests have"
        yield ImportFailed(
            f"{subject} no metric, so the results of deepeval lack them: {names}. Mark them with "
            "@pytest.mark.scoregate, so that they are cases, or import JUnit XML, too"
        )


def _hidden_runs_error(latest: Path, *, has_runs: bool) -> ImportFailed:
    where = f"{latest.parent.name}/{latest.name}"
    missing = f"that run is not in the folder {VARIABLE}" if has_runs else f"the folder {VARIABLE} has no test run"
    return ImportFailed(
        f"{where!r:.200} keeps only the last test run of a command, and {missing}",
        advice=f"If the command sets {VARIABLE} or `results_folder` itself, import deepeval:FOLDER/test_run_*.json. "
        "Otherwise update deepeval to version 4 or later.",
    )


def _is_same(one: Path, other: Path, open_path: OpenPath) -> bool:
    """Whether two files have the same content."""
    with open_path(one) as file, open_path(other) as other_file:
        sizes = [os.fstat(each.fileno())[stat.ST_SIZE] for each in (file, other_file)]
        if sizes[0] != sizes[1]:
            return False
        while chunk := file.read(_CHUNK):
            if chunk != other_file.read(_CHUNK):
                return False
        return True
