"""`scoregate mutate`: whether the evals notice that a part of a prompt or of data is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import click
from anyio import to_thread

from scoregate.cli.options import (
    load_gate_settings,
    model_options,
    out_option,
    project_root,
    running_options,
    selection_options,
)
from scoregate.cli.output_folder import lock_output
from scoregate.cli.quiet_ports import UNMEASURABLE, open_quiet_ports
from scoregate.cli.run_gate import temporary_folder
from scoregate.cli.text_output import print_line, print_table, print_warning
from scoregate.features.interventions.edited_trees.changed_lines import list_changed_lines, list_own_changes
from scoregate.features.interventions.edited_trees.edited_runs import plan_suites
from scoregate.features.interventions.mutation.budget import DEFAULT, Budget
from scoregate.features.interventions.mutation.chosen_units import Choice
from scoregate.features.interventions.mutation.comment import UNKNOWN_CHANGE, publish_mutation
from scoregate.features.interventions.mutation.mutate import MutationRequest, mutate
from scoregate.features.interventions.mutation.operators import Operator
from scoregate.features.interventions.mutation.report import (
    PAGE,
    RESULT,
    MutationView,
    describe_place,
    describe_result,
    list_texts,
    make_view,
    render_markdown,
    write_reports,
)
from scoregate.features.steps import load_steps
from scoregate.kernel.host import git
from scoregate.kernel.judge.settings import Settings

_FOLDER = "mutate"
_MOST_PRINTED, _LONGEST_PLACE = 30, 32


@click.command("mutate")
@selection_options
@click.option(
    "--files", multiple=True, metavar="GLOB", help="Edit only these files (repeatable); default: all that suites read."
)
@click.option("--since", metavar="REV", help="Edit only what changed since this commit.")
@click.option(
    "--operators",
    default=Operator.DELETE.value,
    show_default=True,
    metavar="NAMES",
    help=f"Edits, separated by commas: {', '.join(Operator)}.",
)
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Edit a random sample of N units.")
@click.option(
    "--budget",
    default=DEFAULT,
    show_default=True,
    metavar="AMOUNT",
    help="Stop once this is spent: '200 calls' of models, '5 USD' or '30 minutes'.",
)
@click.option("--copies", type=click.IntRange(1, 16), default=2, show_default=True, help="Units measured at a time.")
@running_options
@model_options
@out_option
@click.option("--json", "json_", is_flag=True, help="Print the result as JSON.")
def command(
    *,
    files: tuple[str, ...],
    since: str | None,
    operators: str,
    sample: int | None,
    budget: str,
    copies: int,
    json_: bool,
    **flags: Any,
) -> int:
    """Edit each part of the files that the suites under PATHS read, and measure whether the evals notice.

    Each section and list item of a prompt, each row and each value of data is deleted once, in a copy of the work tree.
    No gate depends on the result. The same command goes on where an interrupted one, or its budget, ended.
    """
    names = [each.strip() for each in operators.split(",") if each.strip()]
    if unknown := [each for each in names if each not in set(Operator)]:
        raise click.UsageError(f"--operators has {unknown[0]!r}, which is none of {', '.join(Operator)}")
    root = project_root(flags)
    settings = load_gate_settings(root, flags)
    cache = "on" if settings.cache.partition(":")[0] in ("off", "readonly", "refresh") else settings.cache
    # What an edit doesn't change is answered from the cache, and costs nothing.
    settings = settings.model_copy(update={"out": f"{settings.out}/{_FOLDER}", "cache": cache})
    choice = Choice(tuple(map(Operator, names)), files, sample=sample)
    with lock_output(root / settings.out, root):
        request = MutationRequest(choice, Budget.parse(budget), copies)
        view = anyio.run(_mutate, root, settings, request, since)
    if json_:
        click.echo((root / settings.out / RESULT).read_text(encoding="utf-8"), nl=False)
    else:
        _print(view, f"{settings.out}/{PAGE}")
    return UNMEASURABLE if view.mutation.problem else 0


async def _mutate(root: Path, settings: Settings, request: MutationRequest, since: str | None) -> MutationView:
    """Measure the project, and write the reports: within a job, also its summary and a comment."""
    changed = None if since is None else await list_changed_lines(root, since)
    with temporary_folder() as scratch:
        async with open_quiet_ports(root, settings, scratch) as ports:
            context = ports.reporting.context
            base = context.base.commit if context.base is not None else None
            own = {} if since is not None else await list_own_changes(root, settings.base_branch, base)
            if own is None:
                print_warning(f"{UNKNOWN_CHANGE} ({git.FETCH_ADVICE})")
            request = replace(request, choice=replace(request.choice, changed=changed, first=own or {}))
            settings, plan = await plan_suites(settings, ports)
            view = make_view(await mutate(plan, settings, ports, load_steps, request))
            await to_thread.run_sync(write_reports, view, context.out, context.redact)
            if context.connection is not None and (summary := context.connection.github.summary) is not None:
                with summary.open("a", encoding="utf-8") as file:
                    file.write(context.redact.text(render_markdown(view)))
            if not ports.stop.is_set():  # else a complete comment would be replaced
                await publish_mutation(view, context, knows_change=own is not None)
            return view


def _print(view: MutationView, page: str) -> None:
    for title, units in view.groups:
        print_line(f"{title} ({len(units):,})")
        rows = [
            (
                describe_place(each, _LONGEST_PLACE),
                *([each.unit.operator.value] if view.has_edits else []),
                " → ".join(list_texts(each, 40 if each.unit.operator is Operator.DELETE else 24)),
                describe_result(each),
            )
            for each in units[:_MOST_PRINTED]
        ]
        print_table(("unit", *(["edit"] if view.has_edits else []), "text", "result"), rows)
        if units[_MOST_PRINTED:]:
            print_line(f"… {len(units) - _MOST_PRINTED:,} more")
        print_line("")
    for note in view.notes:
        print_warning(note)
    print_line(view.headline)
    print_line(f"Report: {page}")
