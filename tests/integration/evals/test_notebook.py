"""Progress in a real notebook kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipykernel", reason="NOT TESTED, progress in a notebook: ipykernel is not installed")

CODE = """
import time
from scoregate import evaluate
evaluate("hours", data=range(8), task=lambda n: time.sleep(0.1) or str(n), scorers=lambda output: output != "1",
         concurrency=1)
"""


def execute(client: Any, code: str) -> list[dict[str, Any]]:
    """The messages that a cell publishes, without the kernel's status."""
    messages: list[dict[str, Any]] = []
    client.execute_interactive(code, output_hook=messages.append, timeout=180)
    return [message for message in messages if message["msg_type"] not in ("status", "execute_input")]


@pytest.mark.filterwarnings("ignore")
def test_a_cell_shows_one_line_of_progress_and_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_client.manager import KernelManager

    monkeypatch.delenv("SCOREGATE_EVENTS", raising=False)
    # A port is chosen before the kernel binds it, and another test's server may take it in between. Sockets have names.
    manager = KernelManager(kernel_name="python3", transport="ipc", ip=str(tmp_path / "kernel"))
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=180)
        messages = execute(client, CODE)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    kinds = [message["msg_type"] for message in messages]
    assert (kinds[0], kinds[-1]) == ("display_data", "execute_result"), messages
    updates = [message["content"] for message in messages[1:-1]]
    assert kinds[1:-1] == ["update_display_data"] * len(updates), messages
    assert 2 <= len(updates) <= 9
    ids = {content["transient"]["display_id"] for content in (messages[0]["content"], *updates)}
    assert len(ids) == 1
    assert updates[-1]["data"]["text/plain"].startswith("✗ hours · 8 of 8 cases · ")
    table = messages[-1]["content"]["data"]
    assert table["text/plain"].startswith("<EvalResult hours: 7 passed, 1 failed")
    assert "<table>" in table["text/html"]
