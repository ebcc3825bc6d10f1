"""Run suites in the terminal: lock the output folder, show progress, print the result."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import anyio

from scoregate.cli.deferred_progress import DeferredProgress, defer_progress, update_progress
from scoregate.cli.output import Output, OutputOptions, open_output, print_result
from scoregate.cli.output_folder import limit_output, lock_output
from scoregate.cli.recovery import recover_runs
from scoregate.errors import HistoryError
from scoregate.features.steps import load_steps
from scoregate.kernel.host.process import OpenChild, open_child
from scoregate.kernel.host.runner import in_ci, in_container
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.pipeline import run_gate
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.progress_file import write_progress_file
from scoregate.kernel.job.steps import Outcome
from scoregate.kernel.job.wiring import open_ports
from scoregate.kernel.judge.archive import EARLIER, RUN_FOLDER, latest_run, mark_in_progress
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.discovery import FindSuites, find_suites
from scoregate.kernel.run.recording import Observer
from scoregate.kernel.types.records import record
from scoregate.kernel.types.slots import NO_SLOTS, Slots

_CONTAINER = Path("/")


@asynccontextmanager
async def stop_on_signals() -> AsyncIterator[anyio.Event]:
    """Yield an event that the first SIGINT, SIGTERM or SIGHUP sets.

    Raises:
        KeyboardInterrupt: a second signal arrived.
    """
    stop, is_done = anyio.Event(), False
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, stop, tasks.cancel_scope)
        yield stop
        is_done = True
        tasks.cancel_scope.cancel()
    if not is_done:  # a second signal has cancelled the block
        raise KeyboardInterrupt


async def _listen(stop: anyio.Event, scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(*list_stop_signals()) as signals:
        async for _ in signals:
            if stop.is_set():
                scope.cancel()
                return
            stop.set()


def list_stop_signals() -> tuple[signal.Signals, ...]:
    """The signals that end a run; `nohup` excludes SIGHUP."""
    under_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM) if under_nohup else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """An empty folder until the block ends: in RUNNER_TEMP, except in the container."""
    if in_container(os.environ) and os.environ.get("GITHUB_ACTIONS") == "true":
        scratch = Path(tempfile.mkdtemp(prefix="scoregate-")).resolve()
        try:
            yield scratch
        finally:
            # The runner removes the container. To delete the files of Node.js and of packages would take seconds.
            if scratch.stat().st_dev != _CONTAINER.stat().st_dev:
                shutil.rmtree(scratch, ignore_errors=True)
        return
    runner = os.environ.get("RUNNER_TEMP", "")
    place = runner if Path(runner).is_dir() and not in_container(os.environ) else None
    with tempfile.TemporaryDirectory(prefix="scoregate-", dir=place or None, ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@record
class ResumeOptions:
    """The run whose results are reused, by default the last one; `force` measures all again if none can be."""

    run: Path | None = None
    force: bool = False

    def make_requests(self, out: Path) -> Slots:
        """What `--resume` asks for: the folder of the run to resume."""
        from scoregate.kernel.job.resume_request import REQUEST, ResumeRequest

        return NO_SLOTS.put(REQUEST, ResumeRequest(latest_run(self.run or out), is_required=not self.force))


def run_project(
    settings: Settings,
    root: Path,
    options: OutputOptions,
    *,
    find: FindSuites = find_suites,
    resume: ResumeOptions | None = None,
) -> int:
    """Run the suites of a project, compare, apply the gates, report, and return the exit code.

    Args:
        settings: the settings of the project.
        root: the folder of the project.
        options: how much is printed.
        find: finds the suites.
        resume: the run whose results are reused if it did not finish; None for none.
    """
    with lock_output(root / settings.out, root), open_output(options) as output:
        outcome = anyio.run(_gate_until_signal, settings, root, output, find, resume)
        print_result(outcome, root / settings.out, output)
        if not in_ci(os.environ):
            _keep_oldest_runs(root, settings)
    return outcome.exit_code


def _keep_oldest_runs(root: Path, settings: Settings) -> None:
    if not (root / settings.out / EARLIER).is_dir():
        return
    from scoregate.features.history.deleted_runs import keep_oldest_runs

    try:
        keep_oldest_runs(root, root / settings.out, settings.keep_runs, os.environ)
    except HistoryError as error:
        from scoregate.cli.text_output import print_warning

        print_warning(f"warning: runs that `keep_runs` deletes are not kept: {error.message}")


async def _gate_until_signal(
    settings: Settings, root: Path, output: Output, find: FindSuites, resume: ResumeOptions | None
) -> Outcome:
    async with stop_on_signals() as stop:
        return await gate_project(settings, root, output, stop=stop, find=find, resume=resume)


async def gate_project(
    settings: Settings,
    root: Path,
    output: Output,
    *,
    stop: anyio.Event,
    find: FindSuites = find_suites,
    resume: ResumeOptions | None = None,
    opened_by: OpenChild = open_child,
    change_ports: Callable[[Ports], Ports] = lambda ports: ports,
) -> Outcome:
    """Run the suites of a project and judge them, with the output folder locked by the caller.

    Args:
        settings: the settings of the project.
        root: the folder of the project.
        output: where progress is shown.
        stop: ends what runs, once it is set.
        find: finds the suites.
        resume: the run whose results are reused if it did not finish; None for none.
        opened_by: starts the processes of suites.
        change_ports: changes the ports of the pipeline.
    """
    async with open_run(
        settings,
        root,
        output,
        stop=stop,
        find=find,
        make_requests=(lambda _: NO_SLOTS) if resume is None else resume.make_requests,
        opened_by=opened_by,
    ) as (own_settings, ports):
        return await run_gate(own_settings, change_ports(ports), load_steps)


@asynccontextmanager
async def open_run(
    settings: Settings,
    root: Path,
    output: Output,
    *,
    stop: anyio.Event,
    find: FindSuites = find_suites,
    make_requests: Callable[[Path], Slots] = lambda _: NO_SLOTS,
    opened_by: OpenChild = open_child,
) -> AsyncIterator[tuple[Settings, Ports]]:
    """The settings and the ports of one run until the block ends, while its progress is shown.

    Args:
        settings: the settings of the project.
        root: the folder of the project.
        output: where progress is shown.
        stop: ends what runs, once it is set.
        find: finds the suites.
        make_requests: what features are asked for, by the folder of runs.
        opened_by: starts the processes of suites.
    """
    out = root / settings.out
    recovered = tuple(each.notice for each in recover_runs(out, settings))
    settings = settings.model_copy(update={"notices": (*settings.notices, *recovered)})
    with (
        temporary_folder() as scratch,
        defer_progress(output) as display,
        limit_output(display.observe, display.print_line, folder=scratch, out=out, shown_out=settings.out) as printed,
    ):
        async with (
            _progress_observers(settings, root) as observers,
            open_ports(
                root,
                os.environ,
                settings,
                load_steps,
                scratch=scratch,
                observers=[printed, *observers],
                print_line=partial(_print_line, display),
                stop=stop,
                find=find,
                requests=make_requests(out),
                opened_by=opened_by,
            ) as quiet_ports,
            update_progress(display, quiet_ports.started),
        ):
            with mark_in_progress(out / RUN_FOLDER):
                if not output.options.verbose:
                    yield settings, quiet_ports
                    return
                from scoregate.cli.verbose import log_results

                yield settings, log_results(quiet_ports, display.print_line)


def _print_line(display: DeferredProgress, line: str) -> None:
    from scoregate.cli.progress_state import format_own_line

    display.print_line(format_own_line(line))


@asynccontextmanager
async def _progress_observers(settings: Settings, root: Path) -> AsyncIterator[list[Observer]]:
    """Observers that write the progress file for `scoregate view`; none in CI, where no page is served."""
    if in_ci(os.environ):
        yield []
        return
    message = settings.message and Redactor(secret_values(os.environ)).text(settings.message)
    async with write_progress_file(root / settings.out, message) as observer:
        yield [observer]
