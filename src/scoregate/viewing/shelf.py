"""What there is to see, in the words of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any

from starlette.exceptions import HTTPException

from scoregate.ci.archive import RunHead
from scoregate.ci.report.text import name, one_line
from scoregate.core.case import Status
from scoregate.viewing.found import Found, find_live, find_runs
from scoregate.viewing.made import Press
from scoregate.viewing.since import Since
from scoregate.viewing.written import open_written, written_at

AS_REPORTED, NOTHING = "reported", "nothing"
_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class Shelf:
    """The runs in some places, as long as the page is served. Its methods block.

    Args:
        baseline: where the run is that others are held against unless somebody chooses; None where they are shown
            as they were reported.
        since: counts what people have said of a run since it was reported.
    """

    places: Sequence[Path]
    press: Press
    baseline: Path | None = None
    since: Since = field(default_factory=Since)

    def state(self) -> dict[str, Any]:
        """Every run that can be shown, the newest first, and the one that is being made."""
        live = find_live(self.places)
        base = self._baseline()
        return {
            "runs": [self._told(run) for run in self._runs()],
            "live": None if live is None else asdict(live),
            "baseline": None if base is None else base.key,
        }

    def written(self, key: str, against: str) -> IO[bytes] | None:
        """The page that is there already of the run of a key, held against what is named: another's key, or a word of
        ours; None where it has to be made.

        Raises:
            HTTPException: there is no such run.
        """
        run, _ = self._pair(key, against)
        return open_written(run) if against == AS_REPORTED else None

    def made(self, key: str, against: str) -> IO[bytes]:
        """The same page made now, which may take long; not by two threads at a time.

        Raises:
            HTTPException: there is no such run. ScoregateError: it cannot be made.
        """
        return self.press.page(*self._pair(key, against))

    def _pair(self, key: str, against: str) -> tuple[Found, Found | None]:
        runs = {run.key: run for run in self._runs()}
        run, base = runs.get(key), runs.get(against)
        if run is None or (base is None and against not in (AS_REPORTED, NOTHING)):
            raise HTTPException(HTTPStatus.NOT_FOUND, "This run is not there any more.")
        return run, base

    def _runs(self) -> list[Found]:
        return find_runs([*self.places, *([self.baseline] if self.baseline else [])])

    def _baseline(self) -> Found | None:
        return next(iter(find_runs([self.baseline])), None) if self.baseline else None

    def _told(self, run: Found) -> dict[str, Any]:
        made = written_at(run)
        since = 0 if made is None else self.since.of(run, made)
        return {**_about(run), "reported": made is not None, "since": since}


def _about(run: Found) -> dict[str, Any]:
    head = run.head
    return {
        "key": run.key,
        "started": head.started,
        "finished": head.finished,
        "message": one_line(head.message or "", _MESSAGE),
        "branch": name(head.branch) if head.branch else "",
        "commit": one_line((head.commit or "")[:7], 7),
        "dirty": head.dirty,
        "complete": head.complete,
        "place": name(run.folder.name),
        **_counts(head),
    }


def _counts(head: RunHead) -> dict[str, int]:
    of = (Status.PASSED, Status.FAILED, Status.ERRORED)
    return {state.value: sum(suite.statuses.get(state.value, 0) for suite in head.suites) for state in of}
