"""What each arm depends on, as a digest in its command: so a later run knows whether it is the same."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from anyio import to_thread

from scoregate.features.arms.agent_programs import digest_program
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.tables import AgentSettings
from scoregate.kernel.run.dependencies.project import find_folder, read_project_tree
from scoregate.kernel.run.dependencies.tree import Tree
from scoregate.kernel.run.plan import Launch, Plan
from scoregate.kernel.types.relative_paths import is_below
from scoregate.kernel.types.runs.arms import Arm
from scoregate.kernel.types.runs.dependencies import UNKNOWN

CONTENT = "content"
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
    skills = {str(read_options(each.argv).get("skill")) for each in plan.launches if each.source.arm} - {"None"}
    # The presets are named as their programs.
    program = digest_program(agent.command or (str(agent.preset),), environ, plan.root)

    def add(launch: Launch) -> Launch:
        if launch.source.arm is None or _has_unknown_files(launch, tree, folder):
            return launch
        start = json.dumps([program, *(launch.environment.get(name) for name in _VARIABLES)])
        if not (content := _digest_files(tree, _choose_uses(launch, agent, tree, folder, skills), start)):
            return launch
        options = read_options(launch.argv) | {CONTENT: content}
        return replace(launch, argv=(*launch.argv[:-1], json.dumps(options, ensure_ascii=False)))

    return replace(plan, launches=tuple(map(add, plan.launches)))


def read_options(argv: Iterable[str]) -> dict[str, Any]:
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
    options = read_options(launch.argv)

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
    workspace = read_options(launch.argv)["agent"]["workspace"]
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
