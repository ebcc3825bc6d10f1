"""An agent's command line as the task of a suite."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio.to_thread
from pydantic_core import from_json

from scoregate.agents.presets import PRESETS, PROMPT
from scoregate.agents.process import AgentProcess, ProcessEnd, run_process
from scoregate.agents.streams.stream import AgentStream
from scoregate.agents.traces import AgentSpans, choose_steps, receive_spans, remove_host_endpoint
from scoregate.agents.workspace import Snapshot, Workspace, list_changes, make_workspace, take_snapshot
from scoregate.errors import AgentError
from scoregate.kernel.types.amounts import Conclusion, check_limit
from scoregate.kernel.types.call_headers import ADDRESS_VARIABLE
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.json_io import dump, to_plain
from scoregate.kernel.types.text import is_positive_number, is_whole_number
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import Message, Step
from scoregate.kernel.types.usage import METER, measure_cost

TEXT = "text"
_SHOWN, _SHORT = 500, 150
_SHOWN_BYTES = 2_000
_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_MOST_TEXT = 16 * 1024 * 1024
_MOST_STEPS = 100_000
_EVENT_START = b'{"type"'
# The agent must not write to the log of the suite, and must not find what belongs to the host.
_OWN_PREFIX = "SCOREGATE_"
_HOME_FOLDERS = {
    "HOME": "",
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "TMPDIR": "tmp",
}
# Each names a folder or a file of the user's own settings, which may have skills and rules.
_OWN_SETTINGS = {
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_SQLITE_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"),
    *("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"),
}


@dataclass(frozen=True)
class CommandAgent:
    """A task that runs the command line of an agent. `command_agent` makes it.

    Attributes:
        command: the program and its arguments; `{prompt}` is the prompt. Without it, the prompt is the input.
        events: the format of its events: a name of `PRESETS`, or "text".
        workspace: the folder that is copied for each trial; None for an empty one.
        timeout: seconds until the agent is killed.
        max_steps: the most tool calls; None for any number.
        max_cost: the most US dollars that the agent may report; None for any amount.
        env: variables besides those of this process.
        network: whether the agent may use the network.
        name: the name of the task.
        otlp: whether its spans are received; None if the environment names no other endpoint for them.
        trace_file: a file of spans that it writes, relative to its workspace.
    """

    command: tuple[str, ...]
    events: str
    workspace: Path | None = None
    timeout: float = 600.0
    max_steps: int | None = None
    max_cost: float | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    network: bool = True
    name: str = "agent"
    otlp: bool | None = None
    trace_file: str | None = None

    @property
    def __name__(self) -> str:
        return self.name

    async def __call__(self, input: Any) -> Trajectory:  # noqa: A002
        """Run the agent in a fresh workspace.

        Args:
            input: the prompt; a value that is not text is given as JSON.

        Returns:
            What the agent did, with the changed files, and the workspace as long as the result is in use.

        Raises:
            AgentError: the agent can't run, failed, or exceeded a limit. Its `trajectory` has the steps until then.
        """
        prompt = input if isinstance(input, str) else dump(to_plain(input)).decode()
        return await self.run(prompt, await anyio.to_thread.run_sync(make_workspace, self.workspace))

    async def run(self, prompt: str, workspace: Workspace) -> Trajectory:
        """Run the agent in a workspace of its own.

        Args:
            prompt: the prompt.
            workspace: the folder that it works in; it may change it.

        Returns:
            As a call.

        Raises:
            AgentError: as a call.
        """
        # A folder of its own, so that the files of the agent are no changes of the workspace.
        home = await anyio.to_thread.run_sync(make_workspace, None, "scoregate-home-")
        before = await anyio.to_thread.run_sync(take_snapshot, workspace)
        output = _Output(self)
        has_prompt = any(PROMPT in argument for argument in self.command)
        environment, options = self._prepare(home)
        with receive_spans(environment, self.otlp if self.network else False) as spans:
            process = AgentProcess(
                [*(argument.replace(PROMPT, prompt) for argument in self.command), *options],
                workspace,
                {**environment, **spans.variables},
                None if has_prompt else prompt,
                self.timeout,
                self.network,
            )
            try:
                end = await run_process(process, output.read_line)
                output.check_end(end)
            except AgentError as error:
                with suppress(AgentError):  # without its file of spans, the first error counts
                    error.trajectory = await self._finish(output, spans, prompt, workspace, before)
                raise
            return await self._finish(output, spans, prompt, workspace, before)

    def _prepare(self, home: Workspace) -> tuple[dict[str, str], tuple[str, ...]]:
        """The variables of the agent, and its further options. Its home folder gets the files that it needs."""
        environment = self._make_environment(home)
        preset = PRESETS.get(self.events)
        if preset is None:
            return environment, ()
        setup = preset.prepare(environment)
        for name, content in setup.home_files.items():
            file = Path(environment["HOME"], name)
            if file.is_relative_to(home):  # `env` may name another folder, which is the user's
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content, encoding="utf-8")
        # The user's own command line has the options that the user wants.
        return {**environment, **setup.variables}, setup.options if self.command == preset.command else ()

    def _make_environment(self, home: Workspace) -> dict[str, str]:
        own = {name: Path(home, folder) for name, folder in _HOME_FOLDERS.items()}
        for folder in own.values():
            folder.mkdir(parents=True, exist_ok=True)
        known = remove_host_endpoint(os.environ)
        inherited = {
            name: value
            for name, value in known.items()
            if not name.startswith(_OWN_PREFIX) and name not in _OWN_SETTINGS
        }
        return {**inherited, **{name: str(folder) for name, folder in own.items()}, **self.env}

    async def _finish(
        self, output: _Output, spans: AgentSpans, prompt: str, workspace: Workspace, before: Snapshot
    ) -> Trajectory:
        try:
            changed = await anyio.to_thread.run_sync(list_changes, before, workspace)
        except ValueError as error:
            raise AgentError(f"it is unknown what the agent changed: {error}") from None
        span_steps = await anyio.to_thread.run_sync(spans.collect, workspace, self.trace_file)
        stream, meter = output.stream, METER.get()
        usage = None if stream is None else stream.usage
        # A gateway counts the calls of the agent itself.
        if usage is not None and meter is not None and ADDRESS_VARIABLE not in os.environ:
            meter.add(usage)
        steps, incomplete = choose_steps(output.steps, span_steps, has_events=stream is not None)
        is_repeated = any(isinstance(step, Message) and step.role == "user" and not step.agent for step in steps)
        return Trajectory(
            [*([] if is_repeated else [Message("user", prompt)]), *steps],
            output.find_answer(),
            [path for path in changed if path != self.trace_file],
            workspace,
            "" if stream is None else stream.stop_reason,
            incomplete=incomplete,
        )


class _Output:
    """What an agent prints: events, or plain text."""

    def __init__(self, agent: CommandAgent) -> None:
        self._agent = agent
        self.stream: AgentStream | None = None if agent.events == TEXT else PRESETS[agent.events].stream()
        self._text = bytearray()
        self._events = 0

    def read_line(self, line: bytes) -> None:
        """Read one line.

        Raises:
            AgentError: a line starts like an event and is none, or a limit is exceeded.
        """
        if self.stream is None or not line.lstrip().startswith(b"{"):
            self._read_text(line)
            return
        self._events += 1
        try:
            event = from_json(line)
        except ValueError as error:
            raise AgentError(f"event {self._events} of the agent is not JSON: {error}: {line[:_SHOWN]!r}") from None
        try:
            self.stream.feed(event)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise AgentError(
                f"event {self._events} of the agent has another form than {self._agent.events} documents: "
                f"{type(error).__name__}: {error}: {line[:_SHOWN]!r}"
            ) from None
        self._check_limits(self.stream)

    def _read_text(self, line: bytes) -> None:
        """Keep text: the answer, or what an agent prints besides its events."""
        if self.stream is not None and (position := line.find(_EVENT_START)) >= 0:
            shown = line[max(0, position - _SHOWN) : position + _SHOWN]
            raise AgentError(f"an event of the agent is behind other text in its line: {shown!r}")
        if len(self._text) + len(line) <= _MOST_TEXT:
            self._text += line + b"\n"
        elif self.stream is None:
            raise AgentError(f"the answer of the agent has more than {_MOST_TEXT >> 20} MB")

    def _check_limits(self, stream: AgentStream) -> None:
        steps, cost = self._agent.max_steps, self._agent.max_cost
        if len(stream.reader.steps) > _MOST_STEPS:
            raise AgentError(f"the agent took more than {_MOST_STEPS:,} steps and was killed")
        if steps is not None and stream.tool_call_count > steps:
            raise AgentError(f"the agent called more than {steps} tools and was killed")
        if cost is not None and check_limit(measure_cost(stream.usage), cost) is Conclusion.FAILED:
            raise AgentError(f"the agent used more than ${cost:g}")

    def check_end(self, end: ProcessEnd) -> None:
        """Check that the agent ended as it should.

        Raises:
            AgentError: it reported an error, exited with a code other than 0, or its events are incomplete.
        """
        stream = self.stream
        # Before the exit code, which says less.
        if stream is not None and stream.error is not None:
            raise AgentError(f"the agent failed: {stream.error[:_SHOWN]}")
        if end.exit_code != 0:
            raise self._make_error(f"the agent exited with {end.exit_code}", end)
        if stream is not None and not self._events:
            advice = "Name the format of its events: command_agent([...], events=...), or events='text'."
            raise self._make_error(f"the agent printed no event of the format {self._agent.events}", end, advice)
        if stream is not None and not stream.ended:
            raise self._make_error("the events of the agent end before its run did", end)
        self._check_reported_cost(None if stream is None else stream.usage, end)

    def _check_reported_cost(self, usage: Usage | None, end: ProcessEnd) -> None:
        """Without a cost, a limit of the cost would hold for any amount, in silence."""
        limit = self._agent.max_cost
        if limit is not None and check_limit(measure_cost(usage), limit) is Conclusion.UNMEASURABLE:
            problem = f"the agent reported no cost, so that max_cost = {limit:g} can't be checked"
            raise self._make_error(problem, end, "Limit its steps with max_steps, or the run with gateway.max_cost.")

    def _make_error(self, problem: str, end: ProcessEnd, advice: str = "") -> AgentError:
        """An error with the last lines that the agent printed.

        Reports shorten messages but no advice. So the message has one line, and the advice has all of them, which often
        name the remedy.
        """
        lines = _list_last_lines(end.stderr or self._text[-_SHOWN_BYTES:].decode("utf-8", "replace"))
        if not lines:
            return AgentError(problem, advice=advice)
        reason = next((line for line in reversed(lines) if line.lower().startswith("error")), lines[-1])
        is_shown = lines == [reason] and len(reason) <= _SHORT
        printed = "" if is_shown else f"The agent printed last: {' '.join(lines)}"
        return AgentError(f"{problem}: {reason}", advice=" ".join(filter(None, (advice, printed))))

    @property
    def steps(self) -> list[Step]:
        """The steps that the events report."""
        return [] if self.stream is None else self.stream.reader.steps

    def find_answer(self) -> str | None:
        """The final answer: that of the events, or what was printed; None for the last message."""
        if self.stream is not None:
            return self.stream.output
        return self._text.decode("utf-8", "replace").strip()


def _list_last_lines(text: str) -> list[str]:
    """The last lines of a text, each once, without colours and white space around them."""
    lines, size = list[str](), 0
    for line in reversed(_COLOUR.sub("", text).splitlines()):
        if (shown := line.strip()[-_SHOWN:]) and shown not in lines:
            size += len(shown)
            if size > _SHOWN:
                break
            lines.append(shown)
    return lines[::-1]


def command_agent(
    command: str | Sequence[str],
    *,
    events: str | None = None,
    workspace: str | Path | None = None,
    timeout: float = 600.0,
    max_steps: int | None = None,
    max_cost: float | None = None,
    env: Mapping[str, str] | None = None,
    network: bool = True,
    name: str | None = None,
    otlp: bool | None = None,
    trace_file: str | None = None,
) -> CommandAgent:
    """A task for `evaluate` that runs the command line of an agent.

    Each trial has a fresh copy of the workspace and an empty home folder of its own. At its end, everything that the
    agent started is killed. The agent finds its key in the environment, not in the user's home folder.

    Args:
        command: "claude", "codex", "gemini", "opencode", "copilot", or the program and its arguments, in which
            `{prompt}` is the input of the case. Without `{prompt}`, the agent reads it from its standard input.
        events: the format of the events that the agent prints, as a name above, or "text" if it prints its answer.
            Default: that of the known agent, otherwise "text".
        workspace: the folder that the agent works in a copy of, relative to the working directory. In a git repository
            the files that git ignores are left out. Default: an empty folder.
        timeout: seconds until the agent is killed.
        max_steps: the most tool calls. One more, and the agent is killed.
        max_cost: the most US dollars, as the agent reports them; some agents report costs at their end only. An agent
            that reports none is an error of the case.
        env: variables for the agent, besides those of this process.
        network: False takes the network away, where Linux allows it; elsewhere no case runs.
        name: the name of the task; default: the program.
        otlp: whether the agent gets an `OTEL_EXPORTER_OTLP_ENDPOINT` in this process that receives its spans. Default:
            unless the environment names an endpoint. True redirects its spans then, but no metrics and logs.
        trace_file: a file of OTLP that the agent writes, relative to its workspace: JSON, JSON lines or protobuf.

    Raises:
        ValueError: the command is unknown or empty, the workspace is not a folder, a limit is not positive, or
            spans can't be received without network.
    """
    if isinstance(command, str):
        if command not in PRESETS:
            raise ValueError(f"command must be one of {', '.join(PRESETS)}, or a list of words, not {command!r:.60}")
        events, arguments = events or command, PRESETS[command].command
    else:
        arguments = tuple(str(word) for word in command)
    if not arguments or not arguments[0]:
        raise ValueError("command must name a program")
    if events is not None and events != TEXT and events not in PRESETS:
        raise ValueError(f"events must be one of {', '.join(PRESETS)}, text, not {events!r:.60}")
    folder = None if workspace is None else Path(workspace).absolute()
    if folder is not None and not folder.is_dir():
        raise ValueError(f"workspace must be a folder, and {str(workspace)!r:.200} is none")
    if not is_positive_number(timeout):
        raise ValueError(f"timeout must be a number of seconds over 0, not {timeout!r:.60}")
    if max_steps is not None and not is_whole_number(max_steps, 0):
        raise ValueError(f"max_steps must be a whole number of at least 0, not {max_steps!r:.60}")
    if otlp and not network:
        raise ValueError("otlp=True needs the network; without it, let the agent write its spans to a trace_file")
    if max_cost is not None and not is_positive_number(max_cost):
        raise ValueError(f"max_cost must be a number of US dollars over 0, not {max_cost!r:.60}")
    return CommandAgent(
        arguments,
        events or TEXT,
        folder,
        timeout,
        max_steps,
        max_cost,
        dict(env or {}),
        network,
        name or Path(arguments[0]).name,
        otlp,
        None if trace_file is None else os.path.normpath(trace_file),
    )
