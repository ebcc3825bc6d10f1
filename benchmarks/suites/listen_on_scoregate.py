"""scoregate's server with a recording, as in the host; prints the client's result and what was recorded."""

import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from listen_load import client

from scoregate.features.foreign.server import open_listener
from scoregate.features.foreign.suite_run import ListenerCallbacks
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.launch import EventsReceived
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import Event
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd
from scoregate.kernel.types.runs.tally import Tally


class Host:
    """Records the events it receives."""

    def __init__(self, recording: RunRecorder) -> None:
        self.recording = recording

    def on_events(self, log: str, events: Sequence[Event]) -> None:
        """Fold it."""
        self.recording.record_event(EventsReceived("bench", log, events))

    def on_progress(self, tally: Tally) -> None:
        """Show nothing."""

    def on_filtered(self, suite: str) -> None:
        """No filter is set."""
        raise SystemExit(suite)

    def on_error(self, error: ErrorInfo) -> None:
        """Nothing fails."""
        raise SystemExit(error.message)

    def on_notice(self, notice: str) -> None:
        """There is nothing odd."""
        raise SystemExit(notice)


async def main(folder: Path) -> None:
    """Serve until the client has ended and everything is recorded."""
    started = time.perf_counter()
    with RunWriter(folder) as writer:
        recording = RunRecorder(writer)
        host: ListenerCallbacks = Host(recording)
        # The client asks for nothing that a platform would know.
        async with open_listener(bytes) as listener, listener.connect(host, None) as line:  # type: ignore[arg-type]
            server_counts = json.loads(await client(line.address))
        run = recording.finish(Run("bench", 0.0, RunEnd(1.0), RunCode("0")))
    (suite,) = run.suites
    scored = suite.evaluations if suite.complete else 0
    print(json.dumps({**server_counts, "scored": scored, "recorded": time.perf_counter() - started}))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))
