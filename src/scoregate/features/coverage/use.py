"""Coverage of tools and prompts: what no case of a run uses, and notes where it is defined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from anyio import to_thread

from scoregate.errors import RecordError
from scoregate.features.coverage.declare import ANNOTATE_COVERAGE, COVERAGE_PROMPTS, COVERAGE_TOOLS
from scoregate.features.coverage.lists.files import read_tool_list
from scoregate.features.coverage.lists.tools import ToolDefinition
from scoregate.features.coverage.server_tools import list_server_tools, names_server
from scoregate.features.coverage.tool_use import ToolCoverage, UnusedItem, UseCount, measure_coverage
from scoregate.features.coverage.view import FOUND, CoverageView
from scoregate.kernel.host import git
from scoregate.kernel.job.github.commands import command
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.judge.archive import RUN_FILE, RUN_FOLDER, read_head
from scoregate.kernel.judge.settings import Settings, ShowOutputs
from scoregate.kernel.report.text import one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.run.dependencies.unread import find_doubt, find_unread
from scoregate.kernel.types.relative_paths import matches_path
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.run import Run

# A runner shows ten notices of a step; others are for cases and for files that no eval reads.
_MOST_NOTES = 3
_MOST_PROMPTS = 2_000
_LONGEST = 300
_TITLE = "scoregate"


async def find_coverage(context: JobContext, run: Run) -> tuple[CoverageView | None, list[str]]:
    """The coverage of the listed tools and prompts by a run; None without a list that can be read.

    Args:
        context: the context of the job, whose output folder has the record of the run.
        run: the run.

    Returns:
        The coverage, and what is wrong with the lists.
    """
    root, settings, environ = context.root, context.settings, context.environ
    folder, out = context.folder, context.out
    problems: list[str] = []
    tools = await _read_lists(root, COVERAGE_TOOLS.of(settings), environ, problems)
    is_missing = bool(problems)
    prompts = await _find_prompts(root, COVERAGE_PROMPTS.of(settings), problems)
    if not tools and not prompts:
        return None, problems
    doubts: list[str] = []
    measured = ToolCoverage()
    if tools:
        measured = await to_thread.run_sync(measure_coverage, tools, (case.trace for case in run.cases))
        doubts += [*_find_doubts(run, settings, measured), *(["a list of tools can't be read"] if is_missing else [])]
    unread: list[str] = []
    if prompts:
        try:
            head = await to_thread.run_sync(read_head, out / RUN_FOLDER / RUN_FILE)
            doubt = find_doubt(head)
        except RecordError as error:
            doubt = error.message
        if doubt:
            problems.append(f"coverage_prompts: it is unknown which prompts are used: {doubt}")
            prompts = []
        else:
            top = {f"{folder}/{path}".lstrip("/"): path for path in prompts}
            unread = [top[path] for path in find_unread(head.dependencies, top)]
    counts = {
        "tool": measured.tools,
        "argument": measured.arguments,
        "value": measured.values,
        "prompt": UseCount(len(prompts), len(prompts) - len(unread)),
    }
    unused = (*measured.unused, *(UnusedItem("prompt", path, path=path) for path in unread))
    view = CoverageView(counts, unused, measured.unlisted, "; ".join(doubts), ANNOTATE_COVERAGE.of(settings))
    return (view if any(each.known for each in counts.values()) else None), problems


async def _read_lists(
    root: Path, references: Sequence[str], environ: Mapping[str, str], problems: list[str]
) -> list[ToolDefinition]:
    tools: list[ToolDefinition] = []
    for reference in references:
        try:
            if names_server(reference):
                tools += await list_server_tools(reference, root, environ)
            else:
                tools += await to_thread.run_sync(read_tool_list, root, reference)
        except ValueError as error:
            problems.append(one_line(f"coverage_tools: {reference}: {error}", _LONGEST))
    return tools


async def _find_prompts(root: Path, globs: Sequence[str], problems: list[str]) -> list[str]:
    if not globs:
        return []
    files = await git.list_files(root)
    if files is None:
        problems.append("coverage_prompts: the files of the project can't be listed: it is not a git repository")
        return []
    prompts = [path for path in files if any(matches_path(path, glob) for glob in globs)]
    if not prompts:
        problems.append(f"coverage_prompts: no file matches {', '.join(globs):.200}")
    if len(prompts) > _MOST_PROMPTS:
        problems.append(f"coverage_prompts: only the first {_MOST_PROMPTS:,} of {len(prompts):,} files are shown")
    return prompts[:_MOST_PROMPTS]


def _find_doubts(run: Run, settings: Settings, measured: ToolCoverage) -> Iterator[str]:
    """Why more may be used than the run shows."""
    if settings.show_outputs is not ShowOutputs.FULL:
        yield "`show_outputs` leaves trajectories out of the record"
    elif measured.unrecorded:
        total = number_format.count(measured.trials + measured.unrecorded, "trial")
        yield f"the tool calls of {measured.unrecorded:,} of {total} are not recorded"
    if run.scope.selection or run.scope.filters or run.scope.narrowed or run.scope.left_out or not run.end.complete:
        yield "only a part of the suites or cases ran"


async def publish_unused_items(view: ReportView, target: PublishTarget) -> Delivery:
    """Write a notice where tools and prompts are defined that no case uses. In doubt there is none."""
    coverage, _ = view.slots.get(FOUND) or (None, ())
    if target.connection is None or not target.annotations or coverage is None or not coverage.annotate:
        return Delivery()
    items = [item for item in coverage.unused if item.line and (item.kind == "prompt" or not coverage.doubt)]
    notes = list(_describe_places(items))
    for path, line, text in notes[:_MOST_NOTES]:
        file = f"{view.context.folder}/{path}".lstrip("/")
        target.log(command("notice", target.redact(text), file=target.redact(file), line=line, title=_TITLE))
    if (more := len(notes) - _MOST_NOTES) > 0:
        text = f"{more:,} more tools or prompts that no eval uses in full"
        target.log(command("notice", text, title=_TITLE))
    return Delivery()


def _describe_places(items: Iterable[UnusedItem]) -> Iterator[tuple[str, int, str]]:
    """The path, the line and the note of each tool or prompt."""
    for (path, line, name), group in groupby(items, lambda item: (item.path, item.line, item.name)):
        unused = list(group)
        if unused[0].kind in ("tool", "prompt"):
            text = f"No eval calls the tool {name}." if unused[0].kind == "tool" else "No eval reads this prompt."
        else:
            parts = ", ".join(item.detail for item in unused)
            text = f"No eval uses these arguments or values of the tool {name}: {parts}"
        yield path, line, one_line(text, _LONGEST)
