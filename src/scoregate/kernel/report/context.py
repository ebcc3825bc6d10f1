"""The context of a report: repository, commit, CI run. Everything is optional outside CI."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from posixpath import join
from urllib.parse import quote

from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import OneRunLimit, list_one_run_limits
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_scope import ExecCall


@record
class RunStart:
    """How a run was started.

    Attributes:
        files: the file that `scoregate run` takes for a suite, by the suite's index; suites of commands have none.
        named: the files of the run, if the user named them: other commands may not find them.
        exec_call: the call of `scoregate exec`; None for `scoregate run`.
        limits: the variables that set the limits of this one run again, by where these were set: `--max-drop`.
    """

    files: Mapping[int, str] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    exec_call: ExecCall | None = None
    limits: Mapping[str, str] = field(default_factory=dict)


def describe_start(run: Run) -> RunStart:
    """How a run was started."""
    limits: dict[str, str] = {}
    for each in list_one_run_limits(run.policy):  # a set of gates sets several
        limits[each.place] = f"{limits.get(each.place, '')} {_format_variable(each)}".lstrip()
    if run.scope.exec_call is not None:
        return RunStart(exec_call=run.scope.exec_call, limits=limits)
    commands = set(_list_command_names(run.settings or {}))
    files = {script.name: _get_path(script.name) for script in run.scripts if script.name not in commands}
    # The second process of a file, `evals/a.py #2`, has the same words as the first.
    known = {name: path for name, path in files.items() if _is_file(path, run)}
    by_suite = {index: known[each.script] for index, each in enumerate(run.suites) if each.script in known}
    return RunStart(by_suite, tuple(dict.fromkeys(known.values())) if run.scope.narrowed else (), limits=limits)


def _format_variable(limit: OneRunLimit) -> str:
    """The variable that sets a limit, as a shell writes it."""
    value = limit.value if isinstance(limit.value, str) else json.dumps(limit.value)
    return f"SCOREGATE_{limit.name.upper()}={shlex.quote(value)}"


def _list_command_names(settings: Mapping[str, object]) -> Iterator[str]:
    tables = settings.get("commands")
    for table in tables if isinstance(tables, list) else ():
        if isinstance(table, Mapping):
            yield str(table.get("name"))


def _get_path(name: str) -> str:
    path, sign, number = name.rpartition(" #")
    return path if sign and number.isdecimal() else name


def _is_file(path: str, run: Run) -> bool:
    """Whether a script is a file that its command line names, or a table of test sets, and not one of the store."""
    is_table = path.endswith(".toml")
    words = (word for script in run.scripts if _get_path(script.name) == path for word in script.command)
    return any(word == path or (is_table and f'"file": {json.dumps(path)}' in word) for word in words)


@record
class ReportContext:
    """The repository, the job and the options of a report.

    Args:
        key: distinguishes the comments of several jobs in one repository.
        repository: the web address of the repository, `https://github.com/owner/name`.
        folder: the project's folder within the repository, with slashes; empty at its top.
        commit: the full hash of the reported commit; None for that of the run.
        run: the id of the CI run with its attempt, `1234567.1`.
        run_url: the page with the full report and the log.
        base_branch: the branch whose next run can be a baseline.
        generated_at: seconds since the epoch.
        pull_request: whether the report is about a pull request.
        request: the number of the pull or merge request, where the report isn't posted by scoregate itself.
        named: the folder of the run, as commands need it; empty if it is the default.
        show_outputs: whether outputs of the code under test may be shown.
        redact: removes known secrets from text; reports with compressed parts call it themselves.
        start: how the run was started, for commands that repeat a part of it.
    """

    key: str = "scoregate"
    repository: str | None = None
    folder: str = ""
    commit: str | None = None
    run: str = ""
    run_url: str | None = None
    base_branch: str | None = None
    generated_at: float = 0.0
    pull_request: bool = False
    request: str = ""
    named: str = ""
    show_outputs: bool = True
    redact: Callable[[str], str] = str
    start: RunStart = RunStart()

    @property
    def side(self) -> str:
        """The heading of the run's own scores, next to those of the baseline."""
        return "PR" if self.pull_request else "Now"

    def command(self, name: str) -> str:
        """The command line that opens this run with a command such as `review`: `scoregate review other/folder`."""
        return " ".join(("scoregate", name, *([shlex.quote(self.named)] if self.named else [])))


def source_url(origin: Origin | None, context: ReportContext) -> str | None:
    """The web address of the line that defines a suite or a case; None outside a repository on the web."""
    if origin is None or not context.commit or not (context.repository or "").startswith("https://"):
        return None
    path = quote(join(context.folder, origin.file).encode("utf-8", "replace"), safe="/")
    return f"{context.repository}/blob/{quote(context.commit, safe='')}/{path}#L{origin.line}"


def commit_url(commit: str | None, context: ReportContext) -> str | None:
    """The web address of a commit; None outside a repository on the web."""
    if not commit or not (context.repository or "").startswith("https://"):
        return None
    return f"{context.repository}/commit/{quote(commit, safe='')}"
