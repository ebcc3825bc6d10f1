"""Result files around launches: which exist before, and what a launch writes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from anyio import to_thread

from scoregate.features.imports.deepeval_runs import open_results_folder
from scoregate.features.imports.reader import Reader
from scoregate.features.imports.result_files import ResultFiles
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.run.launch import Launching, LaunchLayer, ResultWatch
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.records import record


@record
class ImportsLayer(LaunchLayer):
    """Imports the result files that launches leave."""

    launching: Launching

    async def watch_results(
        self, launch: Launch, environment: Mapping[str, str], folder: Path, identity: Identity | None
    ) -> ResultWatch | None:
        if not launch.source.imports:
            return None
        test_runs = open_results_folder(launch, environment, folder, identity)
        read, suites = Reader(self.launching.redact), self.launching.settings.suite
        return await to_thread.run_sync(partial(ResultFiles.of, launch, identity, read, suites, test_runs))
