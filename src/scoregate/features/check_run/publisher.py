"""A check on the head commit: in progress from the start, completed in any case."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from scoregate.errors import GitHubRefused
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.github.responses import number_at
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.report.markdown import render
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.amounts import Conclusion

_LAST_S = 5.0
_STOPPED = "scoregate ended before it could report. The log of the job shows why."


@dataclass(slots=True)
class CheckRun:
    """A check on a commit.

    Args:
        api: the GitHub API.
        commit: the head commit.
        key: distinguishes several checks on a commit.
        url: the page that the check links to.
    """

    api: Api
    commit: str
    key: str
    url: str
    _id: int | None = None
    _refused: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Keep the check in progress until the block ends; cancel it if there is no result then."""
        await self._start()
        try:
            yield
        finally:
            # Without the shield, nothing could be sent after a cancellation.
            with anyio.move_on_after(_LAST_S, shield=True):
                await self._abandon()

    async def publish(self, view: ReportView, target: PublishTarget) -> Delivery:
        """Complete the check with the report."""
        if self._id is None:
            return Delivery(warnings=tuple(self._refused))
        output = {"title": target.redact(view.heading)[:255], "summary": target.redact("".join(render(view)))}
        await self._complete(_conclusion(view), output)
        return Delivery()

    async def _start(self) -> None:
        body = {"name": self._name, "head_sha": self.commit, "status": "in_progress", "started_at": _now()}
        try:
            created = await self.api.post(
                "check-runs", {**body, "details_url": self.url}, find_created=self._find_open_check
            )
            self._id = number_at(created, "id")
        except GitHubRefused as refused:
            self._refused.append(f"cannot create the check: {refused}")

    async def _find_open_check(self) -> Any:
        """Find the check, if GitHub created it but the response was lost."""
        checks = self.api.pages(f"commits/{self.commit}/check-runs", "check_runs", check_name=self._name)
        open_checks = [each async for each in checks if each.get("status") == "in_progress"]
        return next(iter(open_checks), None)

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
    """An unmeasurable run is a failure: GitHub treats `neutral` like success."""
    if not view.run.complete:
        return "cancelled"
    return "success" if view.verdict.conclusion is Conclusion.PASSED else "failure"


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
