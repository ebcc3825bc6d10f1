"""Async functions called from synchronous code."""

from __future__ import annotations

import pytest

from scoregate.engine.sync import run_sync


async def fail() -> None:
    raise ValueError("wrong")


@pytest.mark.parametrize("in_new_thread", [False, True])
def test_an_error_has_no_other_context(in_new_thread: bool) -> None:
    with pytest.raises(ValueError, match="wrong") as exc_info:
        run_sync(fail, in_new_thread=in_new_thread)
    assert exc_info.value.__context__ is None


@pytest.mark.anyio
async def test_a_running_loop_is_unchanged() -> None:
    with pytest.raises(ValueError, match="wrong"):
        run_sync(fail)
