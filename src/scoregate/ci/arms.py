"""The arms of skills and other files for agents: which keep the base's results, and the base's version without any."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from anyio import to_thread

from scoregate.ci.affected import explain_all, explain_results
from scoregate.ci.archive import BASE_FOLDER
from scoregate.ci.baseline import Baseline
from scoregate.ci.dependencies.agent_programs import digest_program
from scoregate.ci.dependencies.project import find_folder, read_project_tree
from scoregate.ci.dependencies.tree import Tree
from scoregate.ci.job import JobContext
from scoregate.ci.kept_cases import describe_source
from scoregate.ci.plan import AffectedPlan, CarriedScripts, Launch, Plan
from scoregate.ci.ports import Ports
from scoregate.ci.report import number_format
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.ci.settings.agent_fields import AgentSettings
from scoregate.ci.settings.limit_fields import doubts_base
from scoregate.core.exemptions import Exemptions
from scoregate.core.relative_paths import is_below
from scoregate.core.runs.arms import Arm
from scoregate.core.runs.dependencies import UNKNOWN
from scoregate.core.runs.run import Run

_FOLDER = f"{BASE_FOLDER}/arms"
_CONTENT = "content"
# Besides the cases, it names the folder of the run, which may differ between jobs.
_HIDDEN = "hidden"
_VARIABLES = ("SCOREGATE_REPEATS", "SCOREGATE_MAX_CASES")


async def add_contents(plan: Plan, settings: Settings, environ: Mapping[str, str]) -> Plan:
    """The plan with a digest of everything that each arm depends on, as an argument of its worker.

    So the record of a run has it, and a later run knows whether an arm is the same.

    Args:
        plan: the plan.
        settings: the settings of the project.
        environ: the environment, for the PATH on which the agent is.
    """
    tree = await read_project_tree(plan.root, settings)
    if tree is None or settings.agent is None:
        return plan
    return await to_thread.run_sync(_add_contents, plan, settings.agent, tree, environ)


def _add_contents(plan: Plan, agent: AgentSettings, tree: Tree, environ: Mapping[str, str]) -> Plan:
    folder = find_folder(plan.root, tree)
    skills = {str(_read_options(each.argv).get("skill")) for each in plan.launches if each.source.arm} - {"None"}
    # The presets are named as their programs.
    program = digest_program(agent.command or (str(agent.preset),), environ, plan.root)

    def add(launch: Launch) -> Launch:
        if launch.source.arm is None or _has_unknown_files(launch, tree, folder):
            return launch
        start = json.dumps([program, *(launch.environment.get(name) for name in _VARIABLES)])
        if not (content := _digest_files(tree, _choose_uses(launch, agent, tree, folder, skills), start)):
            return launch
        options = _read_options(launch.argv) | {_CONTENT: content}
        return replace(launch, argv=(*launch.argv[:-1], json.dumps(options, ensure_ascii=False)))

    return replace(plan, launches=tuple(map(add, plan.launches)))


def _read_options(argv: Iterable[str]) -> dict[str, Any]:
    """The options of an arm's worker in its command line; empty for other commands."""
    *_, last = argv or ("",)
    try:
        options = json.loads(last)
    except (ValueError, RecursionError):
        return {}
    return options if isinstance(options, dict) else {}


def _choose_uses(
    launch: Launch, agent: AgentSettings, tree: Tree, folder: str, skills: Iterable[str]
) -> Callable[[str], bool]:
    """Which files an arm depends on, by their paths in the repository.

    An agent whose command names a file of the project may use all of the project's code, and one that works in a copy
    of the project may read all of it.
    """
    options = _read_options(launch.argv)

    def place(path: object) -> str:
        joined = os.path.normpath(Path(folder, str(path)))
        return "" if joined == os.curdir else joined

    workspace = options["agent"]["workspace"]
    own = [place(each) for each in (options.get("skill"), *options.get("files", ())) if each]
    cases = place(options["cases"])
    inputs = [place(each) for each in options.get("case_files", ())] or [cases.rpartition("/")[0]]
    others = [place(each) for each in skills if place(each) not in own]
    runs_project = any(_names_file(tree, launch, word) for word in agent.command or ())
    reads_project = workspace == os.curdir
    is_with = launch.source.arm is Arm.WITH

    def uses(path: str) -> bool:
        if any(is_below(path, each) for each in inputs):
            return True
        if any(is_below(path, each) for each in own):
            return is_with
        if reads_project:
            return True
        if workspace is not None and is_below(path, place(workspace)):
            return True
        return runs_project and not any(is_below(path, each) for each in others)

    return uses


def _names_file(tree: Tree, launch: Launch, word: str) -> bool:
    """Whether a word of a command is a file of the project. It may also be a program as a text of any length."""
    path = launch.cwd / word
    return os.path.isfile(path) and path.resolve().is_relative_to(tree.top)  # noqa: PTH113


def _has_unknown_files(launch: Launch, tree: Tree, folder: str) -> bool:
    """Whether the agent gets a copy of a folder that git ignores, so that its files are unknown."""
    workspace = _read_options(launch.argv)["agent"]["workspace"]
    if workspace in (None, os.curdir):
        return False
    place = os.path.normpath(Path(folder, workspace))
    return not any(is_below(path, place) for path in tree.list_files())


def _digest_files(tree: Tree, uses: Callable[[str], bool], start: str) -> str:
    """The digest of the chosen files; empty if it is unknown, as with files in a submodule."""
    if tree.submodules:
        return ""
    digest = blake2b(start.encode(), digest_size=10)
    for path in sorted(filter(uses, tree.list_files())):
        file_digest = tree.digest_file(path)
        if UNKNOWN in file_digest:
            return ""
        digest.update(os.fsencode(f"{path}\0{file_digest}\n"))
    return digest.hexdigest()


async def carry_arms(
    context: JobContext, affected: AffectedPlan, settings: Settings, baseline: Baseline
) -> AffectedPlan:
    """Leave out the arms that are the same as in the base's run; they keep its results.

    With `--all` all arms run, and with a setting that keeps results of the base from being reused.

    Args:
        context: the job's context.
        affected: the plan so far.
        settings: the settings of the project.
        baseline: the base's run.
    """
    base, plan = baseline.run, affected.plan
    tree = await read_project_tree(plan.root, settings)
    runs_all = settings.is_for_run("affected") and not settings.affected
    if base is None or doubts_base(settings) or runs_all:
        return affected
    if await explain_all(context, plan, settings, base, tree, needs_record=False):
        return affected
    kept = frozenset(each.name for each in plan.launches if each.source.arm and _is_same(each, base))
    if not kept:
        return affected
    before = plan.carried.scripts if plan.carried is not None else frozenset[str]()
    launches = tuple(each for each in plan.launches if each.name not in kept)
    arms, depends = number_format.count(len(kept), "arm"), "it depends" if len(kept) == 1 else "they depend"
    source = describe_source(base).name
    notice = f"{arms} did not run, because nothing that {depends} on changed: the results are those of {source}"
    return replace(
        affected,
        plan=replace(plan, launches=launches, carried=CarriedScripts(base, before | kept)),
        notices=(*affected.notices, notice),
        reasons={name: "" if name in kept else why for name, why in affected.reasons.items()},
    )


def _is_same(launch: Launch, base: Run) -> bool:
    """Whether an arm is the same as in the base's run, and its results there are complete."""
    options = _read_options(launch.argv)
    base_options = next((_read_options(each.command) for each in base.scripts if each.name == launch.name), {})
    names = (options.keys() | base_options.keys()) - {_HIDDEN}
    is_equal = all(options.get(name) == base_options.get(name) for name in names)
    return bool(options.get(_CONTENT)) and is_equal and not next(explain_results(base, launch.name), "")


async def measure_base_arms(
    baseline: Baseline, plan: Plan, settings: Settings, ports: Ports, *, exemptions: Exemptions
) -> Baseline:
    """The base's version of each skill, run in this job, if a pull request's base has no stored results.

    Other suites have no baseline then, so nothing is run if one is required for them.

    Args:
        baseline: what was found instead of a run.
        plan: the plan.
        settings: the settings of the project.
        ports: runs the arms in the base's tree.
        exemptions: hold the cases in quarantine.
    """
    launches = tuple(launch for launch in plan.launches if launch.source.arm is Arm.WITH)
    has_others = any(launch.source.arm is None for launch in plan.launches)
    if not launches or baseline.unreadable or settings.baseline_kind is not BaselineKind.AUTO:
        return baseline
    if has_others and settings.require_baseline:
        return baseline
    part = replace(plan, launches=launches, broken=(), carried=None)
    at_base = settings.model_copy(update={"baseline": str(BaselineKind.RERUN)})
    measured = await ports.rerun(part, at_base, folder=_FOLDER, exemptions=exemptions)
    if measured.run is None or not measured.run.suites:
        note = measured.note if measured.run is None else "the base has none of these skills"
        return replace(baseline, note="; ".join(filter(None, (baseline.note, note))))
    return measured
