"""A check on the head commit: in progress from the start, completed whatever happens."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from scoregate.ci.github.answers import number_at
from scoregate.ci.github.api import Api
from scoregate.ci.publish.outlet import Delivery, Outlet
from scoregate.ci.report.markdown import render
from scoregate.ci.report.view import ReportView
from scoregate.core.rules import Conclusion
from scoregate.errors import GitHubRefused

_LAST_S = 5.0
_STOPPED = "scoregate ended before it could report; the job's log says why."


@dataclass(slots=True)
class CheckRun:
    """One check.

    Args:
        commit: the head commit. key: tells several checks on it apart. url: the page that it links to.
    """

    api: Api
    commit: str
    key: str
    url: str
    _id: int | None = None
    _refused: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """In progress for as long as the block lasts; cancelled where the block ends without a result."""
        await self._start()
        try:
            yield
        finally:
            with anyio.move_on_after(_LAST_S, shield=True):
                await self._abandon()

    async def publish(self, view: ReportView, outlet: Outlet) -> Delivery:
        """Complete it."""
        if self._id is None:
            return Delivery(warnings=tuple(self._refused))
        output = {"title": outlet.redact(view.heading)[:255], "summary": outlet.redact("".join(render(view)))}
        await self._complete(_conclusion(view), output)
        return Delivery()

    async def _start(self) -> None:
        body = {"name": self._name, "head_sha": self.commit, "status": "in_progress", "started_at": _now()}
        try:
            made = await self.api.post("check-runs", {**body, "details_url": self.url}, arrived=self._arrived)
            self._id = number_at(made, "id")
        except GitHubRefused as refused:
            self._refused.append(f"the check could not be started: {refused}")

    async def _arrived(self) -> Any:
        """The check, where the request to start it was carried out though its answer was lost."""
        found = self.api.pages(f"commits/{self.commit}/check-runs", "check_runs", check_name=self._name)
        open_ones = [each async for each in found if each.get("status") == "in_progress"]
        return next(iter(open_ones), None)

    async def _abandon(self) -> None:
        if self._id is None:
            return
        try:
            await self._complete("cancelled", {"title": "no result", "summary": _STOPPED})
        except GitHubRefused:
            return

    async def _complete(self, conclusion: str, output: dict[str, str]) -> None:
        body = {"status": "completed", "conclusion": conclusion, "completed_at": _now(), "output": output}
        await self.api.patch(f"check-runs/{self._id}", body)
        self._id = None

    @property
    def _name(self) -> str:
        return f"scoregate ({self.key})"


def _conclusion(view: ReportView) -> str:
    """What could not be measured blocks as a failure does: GitHub lets `neutral` pass for success."""
    if not view.run.complete:
        return "cancelled"
    return "success" if view.conclusion is Conclusion.PASSED else "failure"


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
