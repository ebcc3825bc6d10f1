"""Run the commands that install Node.js and packages, as the user that makes environments."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from scoregate.errors import InstallError
from scoregate.features.setup.javascript.packages import PNPM
from scoregate.kernel.host.error_lines import ErrorDetector
from scoregate.kernel.host.file_access import create_file
from scoregate.kernel.host.process import ChildProcess, OutputTail, run_child
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import mark_output

MARK = "SCOREGATE_NODE"
_LONGEST_COMMAND = 200
_ADVICE = "Try the same command on your machine. To install in another way, set `install` to none or a command."
_MOST_ERRORS = 12
# Defaults: variables of the workflow come first.
_QUIET = {
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "npm_config_progress": "false",
    "npm_config_update_notifier": "false",
    "YARN_ENABLE_TELEMETRY": "0",
}


class ErrorLines:
    """The first lines of an output that report errors. Without any, the last lines."""

    def __init__(self) -> None:
        self._errors: list[str] = []
        self._tail = OutputTail()
        self._detector = ErrorDetector()

    def add(self, line: str) -> None:
        """Add a line."""
        self._tail.add(line)
        if self._detector.is_error(line) and len(self._errors) < _MOST_ERRORS:
            self._errors.append(line)

    def __str__(self) -> str:
        lines = self._errors or str(self._tail).splitlines()[-_MOST_ERRORS:]
        return "\n".join(map(mark_output, lines))


@record
class Installer:
    """Runs commands, and prints what they print.

    Args:
        scratch: a folder outside of the project. Node.js and package managers are installed in it.
        environ: the variables of the commands.
        redact: removes known secrets from what is printed.
        print_line: prints a line.
        identity: the user that runs them; None for the host's own.
        timeout_s: the limit of each command.
        origin: the setting that asks for the installation.
    """

    scratch: Path
    environ: Mapping[str, str]
    redact: Redactor
    print_line: Callable[[str], None]
    identity: Identity | None
    timeout_s: float
    origin: str

    def open_folder(self, name: str, files: Mapping[str, str] = MappingProxyType({})) -> Path:
        """Create a folder with files, for the users that fill it and use it. No other process can have created it."""
        folder = self.scratch / name
        folder.mkdir(mode=0o700)
        for path, content in files.items():
            create_file(folder / path, content)
        if self.identity is not None:
            self.identity.share(folder)
        return folder

    @property
    def owns_workspace(self) -> bool:
        """Whether the commands can write into the workspace."""
        return self.identity is None or self.identity.owns

    def report(self, text: str) -> None:
        """Print a line about what was done."""
        self.print_line(self.redact.text(text))

    async def run(self, words: tuple[str, ...], cwd: Path, *, path: str = "", why: str) -> None:
        """Run a command and print its output.

        Args:
            words: the command.
            cwd: the folder to run it in.
            path: folders to put before PATH.
            why: the reason for it, for the message.

        Raises:
            InstallError: it failed, or took longer than a suite may.
        """
        output = ErrorLines()

        def on_line(line: str) -> None:
            output.add(line)
            self.print_line(mark_output(line))

        command = self.redact.text(shlex.join((Path(words[0]).name, *words[1:])))[:_LONGEST_COMMAND]
        self.print_line(f"$ {command}")
        problem = await self.attempt(words, cwd, path=path, on_line=on_line)
        if problem is not None:
            message = f"the packages of the suites can't be installed: `{command}` {problem}; {self.origin}, {why}"
            raise InstallError(self.redact.text(f"{message}\n{output}".rstrip()), advice=_ADVICE)

    async def attempt(
        self, words: tuple[str, ...], cwd: Path, *, path: str = "", on_line: Callable[[str], None]
    ) -> str | None:
        """Run a command quietly.

        Args:
            words: the command.
            cwd: the folder to run it in.
            path: folders to put before PATH.
            on_line: is called with each line of its output.

        Returns:
            How it failed; None if it ended well.
        """
        mark = str(self.scratch / "node")
        environment = self._environment(words[0], path) | {MARK: mark}
        child = ChildProcess(words, cwd, environment, mark, self.identity, self.timeout_s)
        try:
            end = await run_child(child, on_line, self.redact)
        except OSError as error:
            return f"can't be started: {error.strerror}"
        if end.timed_out:
            return f"took more than {self.timeout_s:g} s"
        return f"ended with exit code {end.exit_code}" if end.exit_code else None

    def _environment(self, program: str, path: str) -> dict[str, str]:
        defaults = dict(_QUIET)
        if program == PNPM and self.identity is not None:
            # pnpm would put its store at the top of the workspace's file system: that is the workspace.
            defaults["npm_config_store_dir"] = str(self.scratch / "home" / ".pnpm-store")
        if "SSL_CERT_FILE" in self.environ:  # by default, Node.js doesn't read it
            defaults["NODE_EXTRA_CA_CERTS"] = self.environ["SSL_CERT_FILE"]
        own = {"PATH": os.pathsep.join((path, self.environ.get("PATH", os.defpath)))} if path else {}
        return {**defaults, **self.environ, **own}
