"""Permits of calls on their way to a worker of Dask."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from scoregate.features.cluster.dask import _PermitSender

pytestmark = pytest.mark.anyio


class AnsweringClient:
    """A client whose answer arrives at the same moment as something else: `answered` is set right before."""

    def __init__(self) -> None:
        self.answered = anyio.Event()

    async def run(self, *_: Any, workers: list[str], **__: Any) -> dict[str, bool]:
        self.answered.set()
        return {workers[0]: True}


async def test_a_part_that_ends_while_an_answer_arrives_ends() -> None:
    client = AnsweringClient()
    sender = _PermitSender(client, "worker", "attempt")  # type: ignore[arg-type]
    problems: list[str] = []
    with anyio.fail_after(60):
        async with sender.send_regularly(problems.append):
            sender.add(1, 1)
            await client.answered.wait()
    assert problems == []
