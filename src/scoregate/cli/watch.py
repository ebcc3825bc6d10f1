"""`scoregate run --watch`: run again what a changed file affects, until Ctrl+C."""

from __future__ import annotations

import contextlib
import glob
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path, PurePath

import anyio
import anyio.to_thread
from rich.control import Control
from rich.text import Text

from scoregate.cli.affected import find_affected
from scoregate.cli.console import is_interactive
from scoregate.cli.file_changes import Change, FileChanges, is_changed_between
from scoregate.cli.output import Output, OutputOptions, open_output, print_result
from scoregate.cli.output_folder import lock_output
from scoregate.cli.progress_state import STATES
from scoregate.cli.run_gate import gate_project, list_stop_signals
from scoregate.errors import ScoregateError, UsageError
from scoregate.kernel.host.process import run_until_stopped
from scoregate.kernel.host.runner import in_ci, in_container
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import INTERRUPTED
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import display_name, one_line
from scoregate.kernel.run.discover.files import ProjectFiles
from scoregate.kernel.run.discovery import find_suites
from scoregate.kernel.run.launch.warm import FileUse, WarmProcesses, open_warm_processes
from scoregate.kernel.run.plan import DiscoveredSuites, SuiteSource
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import Status

_MOST_NAMES, _LONGEST_NAME = 3, 100
_MOST_LINES = 20
_OTHER_LINES = 3  # above and below a report
# A file that changes this often while suites run, or right after them, is one of their outputs.
_MOST_ECHOES, _ECHO_S = 2, 1.0
_PYTHON = ".py"


def check_watch(options: OutputOptions, *, resume: bool) -> None:
    """Check that this process can watch files.

    Raises:
        UsageError: it can't, or another option excludes it.
    """
    if in_ci(os.environ) or in_container(os.environ):
        raise UsageError("--watch is for a developer's machine", advice="In CI, run without --watch.")
    if options.json or resume:
        raise UsageError(f"--watch and {'--json' if options.json else '--resume'} exclude each other")
    if find_spec("watchfiles") is None:
        raise UsageError("--watch needs the package watchfiles", advice="Run: pip install 'scoregate[watch]'")


def watch_project(load: Callable[[], Settings], root: Path, options: OutputOptions) -> int:
    """Run the suites of a project, and again what each change affects, until a signal ends it.

    Args:
        load: loads the settings, for each run.
        root: the folder of the project.
        options: how much is printed.

    Returns:
        The exit code of the last run; 130 if one was in progress.
    """
    with open_output(options) as output:
        return anyio.run(_watch, load, root, output)


async def _watch(load: Callable[[], Settings], root: Path, output: Output) -> int:
    settings = await anyio.to_thread.run_sync(load)
    async with anyio.create_task_group() as tasks, open_warm_processes(root) as warm:
        changes = FileChanges(root, (root / settings.out,), tasks)
        await changes.watch_project()
        watch = _Watch(load, root, output, changes, warm)
        tasks.start_soon(watch.listen, tasks.cancel_scope)
        code = await watch.run()
        tasks.cancel_scope.cancel()
    return code


@dataclass(slots=True)
class _Watch:
    """The state between runs.

    Args:
        load: loads the settings.
        root: the project.
        output: the streams.
        changes: the changes of files.
        warm: starts scripts.
    """

    load: Callable[[], Settings]
    root: Path
    output: Output
    changes: FileChanges
    warm: WarmProcesses
    ended: anyio.Event = field(default_factory=anyio.Event)
    _stop: anyio.Event | None = None
    _exit_code: int = INTERRUPTED
    _sources: tuple[SuiteSource, ...] = ()
    _past: dict[str, FileUse] = field(default_factory=dict)
    _unfinished: set[str] = field(default_factory=set)
    _ran: set[str] | None = None
    _lines: dict[str, list[Text]] = field(default_factory=dict)
    _echoes: Counter[str] = field(default_factory=Counter)
    _last_start: float = 0.0
    _last_end: float = 0.0
    _is_first: bool = True

    async def listen(self, scope: anyio.CancelScope) -> None:
        """End the watch at the first signal, and at once at the second."""
        with anyio.open_signal_receiver(*list_stop_signals()) as signals:
            async for _ in signals:
                if self.ended.is_set():
                    scope.cancel()
                self.ended.set()
                if self._stop is not None:
                    self._stop.set()

    async def run(self) -> int:
        """Run all suites, then what changes affect, until a signal."""
        changes: list[Change] = []
        affected: frozenset[str] | None = None
        while True:
            self._print_start(changes)
            _remove_bytecode(changes)
            changes = await self._run_until_changed(affected)
            if self.ended.is_set():
                return INTERRUPTED
            if not changes:
                affected = affected if self._ran is None else frozenset()
                self._print_end()
                await self.warm.refill()
                changes = await self._wait_for_changes()
                if self.ended.is_set():
                    return self._exit_code
            more = await self._find_affected(changes)
            affected = None if affected is None or more is None else affected | more
            if affected is not None and affected >= {source.path for source in self._sources}:
                affected = None  # a complete run

    async def _wait_for_changes(self) -> list[Change]:
        """Wait for changes that affect suites, or for a signal."""
        while True:
            await run_until_stopped(self.ended, self.changes.wait(), stopped=None)
            changes = self._without_echoes(self.changes.take())
            if self.ended.is_set() or await self._find_affected(changes) != frozenset():
                return changes

    async def _run_until_changed(self, affected: frozenset[str] | None) -> list[Change]:
        """Run sources; a change that affects them cancels this, and is returned."""
        stop = self._stop = anyio.Event()
        self._ran, self._last_start = None, time.time()
        changed: list[Change] = []

        async def cancel_at_change() -> None:
            while not changed:
                await self.changes.wait()
                changes = self._without_echoes(self.changes.take())
                if find_affected(self.root, changes, self._sources, self._read_uses()) != frozenset():
                    changed.extend(changes)
            stop.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel_at_change)
            try:
                await self._run_once(affected, stop)
            except ScoregateError as error:
                if self._is_first:  # the command line itself may be wrong
                    raise
                self._print(Text(f"error: {error}", style="red"))
            tasks.cancel_scope.cancel()
        self._stop, self._last_end = None, time.time()
        return changed

    async def _run_once(self, affected: frozenset[str] | None, stop: anyio.Event) -> None:
        settings = await anyio.to_thread.run_sync(self.load)
        if affected is not None:
            selection = replace(settings.selection, sources=tuple(sorted(affected)))
            settings = settings.model_copy(update={"selection": selection})
        if settings.env_file is not None:
            self.changes.watch_files([str(self.root / settings.env_file)])
        with lock_output(self.root / settings.out, self.root):
            outcome = await gate_project(
                settings,
                self.root,
                self.output,
                stop=stop,
                opened_by=self.warm.open_child,
                change_ports=self._note_sources,
            )
            self._is_first = False
            self._note_outcome(outcome)
            if not stop.is_set():
                self._exit_code = outcome.exit_code
                console = self.output.console
                lines = len(self._list_others()) + _OTHER_LINES
                height = max(console.height - lines, 0) if is_interactive(console) else None
                print_result(outcome, self.root / settings.out, self.output, height=height)

    def _note_sources(self, ports: Ports) -> Ports:
        async def discover(settings: Settings) -> DiscoveredSuites:
            suites = await ports.discover(settings)
            self._sources = suites.sources
            self.changes.watch_files(str(self.root / source.path) for source in suites.sources)
            return suites

        return replace(ports, discover=discover)

    def _note_outcome(self, outcome: Judged) -> None:
        run, self._ran = outcome.comparison.run, set()
        for source in self._sources:
            scripts = [each for each in run.scripts if each.name.partition(" #")[0] == source.path]
            if not scripts:
                continue
            self._ran.add(source.path)
            suites = [suite for suite in run.suites if (suite.script or "").partition(" #")[0] == source.path]
            self._lines[source.path] = [_format_suite(suite.label, suite.columns.count) for suite in suites]
            if all(each.exit_code is not None for each in scripts):
                self._unfinished.discard(source.path)
                self._past[source.path] = self._read_use(source)
            else:
                self._unfinished.add(source.path)
        self.changes.watch_files(path for use in self._past.values() for path in use.read)

    def _read_use(self, source: SuiteSource) -> FileUse:
        use, past = self.warm.read_use(self.root / source.path), self._past.get(source.path, FileUse())
        return replace(use, read=use.read | past.read, written=use.written | past.written)

    def _read_uses(self) -> dict[str, FileUse]:
        uses = {source.path: self._read_use(source) for source in self._sources}
        if self._stop is not None:  # what a script has not read yet, it reads as it is now
            return uses
        return uses | {path: replace(uses[path], is_known=False) for path in uses.keys() & self._unfinished}

    async def _find_affected(self, changes: Sequence[Change]) -> frozenset[str] | None:
        """What changes affect. A Python file that only now holds suites affects itself."""
        affected = find_affected(self.root, changes, self._sources, self._read_uses())
        known = {source.path for source in self._sources}
        scripts = {self._shorten(each.path) for each in changes if each.path.endswith(_PYTHON)} - known
        if not scripts:
            return affected
        try:
            settings = await anyio.to_thread.run_sync(self.load)
            suites = await find_suites(ProjectFiles(self.root), settings)
        except ScoregateError:
            return None
        added = scripts & {source.path for source in suites.sources}
        if affected is None:
            return frozenset(added) if len(added) == len(changes) else None
        return affected | added

    def _without_echoes(self, changes: Iterable[Change]) -> list[Change]:
        """The changes without those of files that suites write; those of commands can only be guessed."""
        uses = self._read_uses()
        kept = []
        for change in changes:
            is_input = any(change.path in use.read or self._shorten(change.path) == name for name, use in uses.items())
            if not self._is_near(change):
                del self._echoes[change.path]
            elif not is_input and not all(use.is_known for use in uses.values()):
                self._echoes[change.path] += 1
                if self._echoes[change.path] > _MOST_ECHOES:
                    self._print(Text(f"{self._shorten(change.path)} changes while suites run, so it is ignored then."))
                    continue
            kept.append(change)
        return kept

    def _is_near(self, change: Change) -> bool:
        """Whether a file changed while suites ran, or right after them. On a busy machine that is noticed later."""
        until = self._last_end + _ECHO_S
        is_noticed_early = self._stop is not None or time.time() < until
        return is_noticed_early or is_changed_between(change.path, self._last_start, until)

    def _shorten(self, path: str) -> str:
        return PurePath(path).relative_to(self.root).as_posix()

    def _print_start(self, changes: Sequence[Change]) -> None:
        names = [one_line(self._shorten(each.path), _LONGEST_NAME) for each in changes]
        shown = ", ".join(names[:_MOST_NAMES])
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        if is_interactive(self.output.console):
            self.output.console.control(Control.home(), Control.clear())
        reason = f"{shown}{more} changed" if names else "First run"
        self._print(Text(f"▸ {time.strftime('%H:%M:%S')} {reason}", style="bold"))

    def _print_end(self) -> None:
        for line in self._list_others():
            self._print(line)
        self._print(Text("Waiting for changes. Ctrl+C ends the watch.", style="dim"))

    def _list_others(self) -> list[Text]:
        """The last results of the suites that were not run again."""
        known = {source.path for source in self._sources}
        others = [line for path in sorted(known - (self._ran or known)) for line in self._lines.get(path, ())]
        if not others:
            return []
        more = [Text(f"  … and {len(others) - _MOST_LINES:,} more", style="dim")] if len(others) > _MOST_LINES else []
        return [Text("Not run again:", style="dim"), *others[:_MOST_LINES], *more]

    def _print(self, text: Text) -> None:
        self.output.console.print(text, soft_wrap=True)


def _format_suite(label: str, count: Callable[[Status], int]) -> Text:
    """`  demo: 3 passed, 1 failed`, with the colours of the table."""
    text = Text(f"  {display_name(label, _LONGEST_NAME)}: ")
    counts = [(f"{count(status):,} {word}", style) for status, (word, style) in STATES.items() if count(status)]
    for number, (part, style) in enumerate(counts or [(number_format.count(0, "case"), "dim")]):
        text.append(", " if number else "").append(part, style)
    return text


def _remove_bytecode(changes: Iterable[Change]) -> None:
    """Remove the compiled files of changed modules.

    Python recognises an outdated one by the size and the second of the last change of its source. Two changes within a
    second may have both in common.
    """
    for path in (Path(change.path) for change in changes):
        if path.suffix == _PYTHON:
            for compiled in (path.parent / "__pycache__").glob(f"{glob.escape(path.stem)}.*.pyc"):
                with contextlib.suppress(OSError):
                    compiled.unlink()
