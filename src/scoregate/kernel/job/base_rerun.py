"""Run the version of the base here, and read its policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from scoregate.errors import GitError, SettingsError
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.host.process import visible_environment
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.job.baseline.rerun import (
    add_base_suites,
    find_import_folders,
    link_node_packages,
    move_plan,
    open_base_tree,
)
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.job.ports import RecordPlan
from scoregate.kernel.job.steps import LoadSteps
from scoregate.kernel.judge.archive import BASE_FOLDER, amend_run
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.dependencies.head_checkout import OPENED_CHANGE, open_head_checkout
from scoregate.kernel.run.discover.testset_files import find_in_tree
from scoregate.kernel.run.discovery import (
    FindSuites,
    choose_base_suites,
    choose_tree_settings,
    find_suites,
    plan_base_suites,
)
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.run.recording import Recorder
from scoregate.kernel.run.tree_settings import load_tree_settings, with_tree_policy
from scoregate.kernel.types.slots import NO_SLOTS, Slots

_MOST_FAILURES = 3


async def rerun_baseline(
    context: JobContext,
    load: LoadSteps,
    recorder: Recorder,
    record: RecordPlan,
    identity: Identity | None,
    find: FindSuites,
    plan: Plan,
    settings: Settings,
    *,
    folder: str = BASE_FOLDER,
    slots: Slots = NO_SLOTS,
) -> Baseline:
    """Run a plan in the base's tree, with the suites that only the base has. It must open no file of the change."""
    try:
        async with open_base_tree(plan.root, settings, context.base) as tree:
            if find is find_suites and folder == BASE_FOLDER:  # later reruns repeat chosen cases only
                plan = await _with_base_suites(plan, settings, tree.path, recorder.environ)
            else:
                plan = await _with_base_agents(plan, settings, tree.path, recorder.environ, find)
            base = await plan_in_tree(plan, tree.path, settings, recorder.environ, identity)
            base = replace(base, broken=plan.broken)  # what only the base has, and can't be run
            run = await record(base, settings, base.notices, folder=folder)
            sources = find_in_tree(tree.path, (launch.source for launch in base.launches))
            run = with_tree_policy(run, tree.path, settings, recorder.environ, sources=sources)
    except GitError as error:
        if context.base is None or settings.rerun_ref is not None:
            raise
        return Baseline(None, ". ".join(filter(None, (error.message, error.advice.rstrip(".")))), unreadable=True)
    for step in load(replace(context.facts, settings=settings, slots=slots)):
        run = step.store_base(run, slots)
    amend_run(recorder.out / folder, run)
    if opened := [each.error for each in run.scripts if each.error is not None and each.error.type == OPENED_CHANGE]:
        return Baseline(None, f"{tree.note} isn't compared: {opened[0].message}. {opened[0].advice}", unreadable=True)
    # Where a part of the base failed, its scores are missing from the baseline.
    failures = find_script_failures(run)
    note = "; ".join((tree.note, *(f"in the baseline, {why}" for why in list(failures.values())[:_MOST_FAILURES])))
    return Baseline(run, note, unreadable=bool(failures) or not run.end.complete)


async def plan_in_tree(
    plan: Plan,
    tree: Path,
    settings: Settings,
    environ: Mapping[str, str],
    identity: Identity | None,
    *,
    made_from: Path | None = None,
) -> Plan:
    """The plan in another work tree of the project, whose processes must open no file of this one.

    Args:
        plan: the plan here.
        tree: the project in the other tree.
        settings: the settings of the project.
        environ: the host's environment, of which processes get a part.
        identity: the user that lists what Python imports; None for the host's own.
        made_from: the project in the tree that the interpreter's environment was made from; None for this one.

    Raises:
        GitError: git can't list the files here.
    """
    visible = visible_environment(environ)
    move_text = (await open_head_checkout(plan.root, settings)).make_mover(tree, visible)
    home = made_from or plan.root
    found = await find_import_folders(plan.interpreter, root=home, environ=visible, identity=identity)
    found = found.move_installed(home, plan.root)
    moved = move_plan(plan, tree, imports=found, environ=visible, move_text=move_text)
    link_node_packages(moved, plan)
    return moved


async def plan_by_tree(
    plan: Plan,
    tree: Path,
    settings: Settings,
    environ: Mapping[str, str],
    identity: Identity | None,
    *,
    made_from: Path | None = None,
) -> tuple[Settings, Plan]:
    """Like `plan_in_tree`, with what the settings of the other tree choose to run; also these settings.

    Raises:
        GitError: git can't list the files here.
        SettingsError: the settings of the other tree can't be read.
    """
    of_tree = load_tree_settings(tree, settings, environ)
    if of_tree is None:
        raise SettingsError("the settings can't be read")
    settings = choose_tree_settings(settings, of_tree)
    plan = await plan_base_suites(tree, settings, plan, environ=environ)
    return settings, await plan_in_tree(plan, tree, settings, environ, identity, made_from=made_from)


async def _with_base_suites(plan: Plan, settings: Settings, tree: Path, environ: Mapping[str, str]) -> Plan:
    """The plan with the suites that only the base has: a suite that is gone must be in the baseline."""
    of_base = load_tree_settings(tree, settings, environ) or settings
    base = await plan_base_suites(tree, choose_base_suites(settings, of_base), plan, environ=environ)
    return add_base_suites(plan, base)


async def _with_base_agents(
    plan: Plan, settings: Settings, tree: Path, environ: Mapping[str, str], find: FindSuites
) -> Plan:
    """The plan with the arms as the base runs them; its own agent may not exist there."""
    if find is not find_suites or not any(launch.source.arm for launch in plan.launches):
        return replace(plan, broken=())
    base = await _with_base_suites(plan, settings, tree, environ)
    arms = {launch.name: launch for launch in base.launches if launch.source.arm}
    return replace(plan, launches=tuple(arms.get(launch.name, launch) for launch in plan.launches), broken=())
