"""Suites of other SDKs: their connection to the listener, and the environment that redirects them to it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.features.foreign.server import Listener, ListenerAddress, open_listener
from scoregate.kernel.host.runner import in_container
from scoregate.kernel.run.launch import (
    EmitEvent,
    EventsReceived,
    Failed,
    Filtered,
    Launching,
    LaunchLayer,
    MakeEnvironment,
    Notice,
    Progress,
)
from scoregate.kernel.run.plan import Launch, SourceKind
from scoregate.kernel.types.evaluation import EvaluationOverride
from scoregate.kernel.types.event_values import ErrorInfo, Origin
from scoregate.kernel.types.events import Event, SuiteStarted
from scoregate.kernel.types.loopback import exclude_from_proxies
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.baseline_outputs import (
    BASELINE_OUTPUTS_VARIABLE,
    battle_key,
    read_baseline_outputs,
)
from scoregate.kernel.types.runs.tally import Tally

if TYPE_CHECKING:
    from scoregate.store import BaselineOutputs, Store

# Autoblocks keeps one baseline output for all evaluators of a case; the store keeps it under this name.
EVALUATOR = "autoblocks"


@asynccontextmanager
async def open_connections(launching: Launching) -> AsyncIterator[LaunchLayer]:
    """The connections of the foreign launches of a recording to a listener, which serves until the block ends."""
    async with open_listener(launching.redact) as listener:
        yield _Connections(listener, launching)


@record
class _Connections(LaunchLayer):
    listener: Listener
    launching: Launching

    @asynccontextmanager
    async def connect(self, launch: Launch, emit: EmitEvent) -> AsyncIterator[MakeEnvironment]:
        if not launch.source.foreign:
            yield dict
            return
        lookup = open_baseline_lookup(self.launching.plan.root, self.launching.environ, launch.environment)
        suites = self.launching.settings.suite
        async with self.listener.connect(_EventForwarder(launch, emit), lookup, suites=suites) as address:
            yield partial(foreign_environment, address)


@dataclass(slots=True)
class _EventForwarder:
    """Emits what the SDK of one launch reports, and once which settings the SDK does not support."""

    launch: Launch
    emit: EmitEvent
    _is_first: bool = True

    def on_events(self, log: str, events: Sequence[Event]) -> None:
        if self._is_first:
            self._is_first = False
            environment = self.launch.environment
            unsupported = ["`repeats`"] if environment.get("SCOREGATE_REPEATS", "1") != "1" else []
            unsupported += ["`max_cases`"] if "SCOREGATE_MAX_CASES" in environment else []
            for setting in unsupported:
                self.on_notice(f"Autoblocks' SDKs don't support {setting}: its suites ran without it")
        # The SDKs don't report where a suite is defined. For a file, the line of its first suite is known.
        source = self.launch.source
        origin = None if source.kind is SourceKind.COMMAND else Origin(source.path, source.line)
        located = [
            replace(event, origin=event.origin or origin) if isinstance(event, SuiteStarted) else event
            for event in events
        ]
        self.emit(EventsReceived(self.launch.name, log, located))

    def on_progress(self, tally: Tally) -> None:
        self.emit(Progress(self.launch.name, tally))

    def on_filtered(self, suite: str) -> None:
        self.emit(Filtered(self.launch.name, suite))

    def on_error(self, error: ErrorInfo) -> None:
        self.emit(Failed(self.launch.name, error))

    def on_notice(self, notice: str) -> None:
        self.emit(Notice(self.launch.name, notice))


class BaselineLookup:
    """The baseline outputs and overrides for one launch, as of the first request; implements the listener's protocol.

    Args:
        store: the project's.
        base: the file with the base run's outputs. With it, the store's baseline outputs are neither read nor changed.
        keeps: whether a store that is written to stays, as it does on a user's machine.
    """

    def __init__(self, store: Store, base: Path | None, *, keeps: bool) -> None:
        self._store, self._base, self._keeps = store, base, keeps
        self._stored_outputs = cache(self._open_stored_outputs)

    def _open_stored_outputs(self, suite: str) -> BaselineOutputs:
        from scoregate.store import BaselineOutputs

        return BaselineOutputs(self._store, battle_key(suite, None), EVALUATOR)

    @cached_property
    def _base_outputs(self) -> Mapping[tuple[str, str], object]:
        if self._base is None:
            return {}
        with self._base.open("rb") as lines:
            return read_baseline_outputs(lines)

    def baseline_output(self, suite: str, case: str) -> str | None:
        """The text that a new output of a case has to beat; None if there is none."""
        if self._base is None:
            return self._stored_outputs(suite).outputs.get(case)
        output = self._base_outputs.get((battle_key(suite, None), case))
        return output if isinstance(output, str) else None

    def save_baseline_output(self, suite: str, case: str, output: str) -> None:
        """Save a text as the baseline output of later runs, unless there is a base run."""
        if self._base is None and self._keeps:
            self._stored_outputs(suite).save(case, output)

    def overrides(self, evaluator: str, count: int) -> Sequence[EvaluationOverride]:
        """The newest overrides of an evaluator's scores, the newest first."""
        from scoregate.store import recent_overrides

        return recent_overrides(self._store, evaluator, count)


def open_baseline_lookup(
    root: Path, environ: Mapping[str, str], launch_environment: Mapping[str, str]
) -> BaselineLookup:
    """The lookup for one launch; nothing is read or written yet.

    Args:
        root: the project.
        environ: the host's environment.
        launch_environment: the variables that the launch adds.
    """
    from scoregate.store import open_store

    base = launch_environment.get(BASELINE_OUTPUTS_VARIABLE)
    # In scoregate's container the host is root, which must not leave files in the user's workspace.
    return BaselineLookup(open_store(root), Path(base) if base else None, keeps=not in_container(environ))


# The SDKs demand keys. Nothing that is sent with them leaves this machine, so these are dummies.
_KEYS = ("AUTOBLOCKS_API_KEY", "AUTOBLOCKS_V2_API_KEY", "AUTOBLOCKS_INGESTION_KEY")
_DUMMY_KEY = "not-needed"
# The first two belong to a mode of the old command line that current SDKs can't run; builds were the platform's.
_DROPPED = (
    "AUTOBLOCKS_ALIGN_TEST_EXTERNAL_ID",
    "AUTOBLOCKS_ALIGN_TEST_CASE_HASH",
    "AUTOBLOCKS_CI_TEST_RUN_BUILD_ID",
    "AUTOBLOCKS_V2_CI_TEST_RUN_BUILD_ID",
)
_SUITES = "AUTOBLOCKS_FILTERS_TEST_SUITES"
_CASES = "OVERRIDES_TESTS_AND_HASHES"
_WILDCARD = re.compile(r"\*|\?|\[!?\]?[^]]*\]")
_REDIRECT = Path(__file__).parent / "redirect"


def foreign_environment(address: ListenerAddress, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a foreign launch: all of `environ`, and what Autoblocks' SDKs and the redirects need."""
    cloud = f"{address.address}/cloud"
    more: dict[str, str] = {}
    if address.suites:
        # The SDKs support parts of suites' ids, but no patterns.
        parts = [max(_WILDCARD.split(glob), key=len) for glob in address.suites]
        more[_SUITES] = json.dumps(parts if all(parts) else [])
    if cases := environ.get(f"SCOREGATE_{_CASES}"):
        more[f"AUTOBLOCKS_{_CASES}"] = cases
    more |= exclude_from_proxies(environ)
    hook = str(_REDIRECT / "node/redirect.cjs").replace("\\", "\\\\").replace('"', '\\"')
    return {
        **{name: value for name, value in environ.items() if name not in _DROPPED},
        **dict.fromkeys(_KEYS, _DUMMY_KEY),
        "AUTOBLOCKS_CLI_SERVER_ADDRESS": address.address,
        "AUTOBLOCKS_V2_API_ENDPOINT": f"{cloud}/v2",
        "SCOREGATE_CLOUD": cloud,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_REDIRECT / "python"), environ.get("PYTHONPATH")))),
        "NODE_OPTIONS": " ".join(filter(None, (f'--require "{hook}"', environ.get("NODE_OPTIONS")))),
        **more,
    }
