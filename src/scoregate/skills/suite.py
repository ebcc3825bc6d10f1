"""The suite of a skill or of other files for agents: one arm of it, as the worker runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import anyio.to_thread

from scoregate.agents import CommandAgent, command_agent
from scoregate.errors import AgentError, SkillError
from scoregate.evals import evaluate
from scoregate.kernel.types.runs.arms import Arm
from scoregate.kernel.types.skill_cases import InputFile, SkillCase, SkillCases, is_graded
from scoregate.kernel.types.skill_formats.formats import parse_cases
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.skills.scorers import PASS_AT_ONE, ExpectationsScorer, TriggerScorer, list_statements
from scoregate.skills.workspaces import ArmWorkspaces, MeasuredFiles, run_setup

_MOST_SHOWN = 10


def run_arm(
    name: str,
    *,
    arm: str,
    cases: str,
    agent: Mapping[str, Any],
    skill: str | None = None,
    skill_name: str = "",
    target: str = "",
    files: Sequence[str] = (),
    hidden: Sequence[str] = (),
    private: Sequence[str] = ("evals",),
    case_files: Sequence[str] = (),
    root: Path | None = None,
) -> None:
    """Run the cases of a suite in one arm. Paths are relative to the root.

    Args:
        name: the name of the suite.
        arm: "with" or "without".
        cases: the file of the cases.
        agent: the arguments of `command_agent`, and `concurrency`.
        skill: the folder of the skill; None for other files.
        skill_name: the name of the skill.
        target: where the skill is in the workspace.
        files: the other files for agents.
        hidden: files and folders of the project that the agent must not see in any arm; first that of reports.
        private: what the agent must not find in its copy of the skill, relative to it.
        case_files: the other files and folders that the cases consist of.
        root: the project; default: the working directory.

    Raises:
        SkillError: the cases can't be read.
        ValueError: an option of the agent is wrong.
    """
    top, is_with = (root or Path.cwd()).absolute(), arm == Arm.WITH
    loaded = _load_cases(top, cases, skill or "").cases
    options = dict(agent)
    concurrency = options.pop("concurrency")
    agent_task = command_agent(**options)
    workspaces = ArmWorkspaces(
        top,
        None if agent_task.workspace is None else agent_task.workspace,
        (*hidden, *([skill] if skill else []), *files),
        top / skill if skill and is_with else None,
        target,
        tuple(files) if is_with else (),
        top / _find_input_folder(cases),
        tuple(private),
    )
    graded = [case for case in loaded if is_with or is_graded(case)]
    inputs = [cases, *case_files, *([skill] if skill else []), *files]
    task = _make_task(agent_task, workspaces, MeasuredFiles(top, inputs, hidden[:1]))
    asks_model = any(
        list_statements(case.expectations, (*case.checks, *case.graders), case.expected_output) for case in loaded
    )
    hidden_folders = (target,) if target else tuple(files)
    scorers: list[Any] = []
    if any(map(is_graded, loaded)):
        scorers.append(ExpectationsScorer(hidden_folders, asks_model, PASS_AT_ONE if is_with else None))
    if is_with and skill and agent_task.events != "text":
        folder = PurePosixPath(target).name
        kinds = {case.should_trigger is not False for case in loaded}
        scorers += [TriggerScorer(skill_name, folder, wanted) for wanted in (True, False) if wanted in kinds]
    evaluate(
        name,
        data=[_make_row(case) for case in graded],
        task=task if is_with else {Arm.WITHOUT.value: task},
        scorers=scorers,
        concurrency=concurrency,
    )


def _find_input_folder(cases: str) -> PurePosixPath:
    """The folder that the files of cases are relative to: that of the skill."""
    folder = PurePosixPath(cases).parent
    return folder.parent if folder.name == "evals" else folder


def _load_cases(root: Path, shown: str, skill: str) -> SkillCases:
    try:
        parsed = parse_cases((root / shown).read_text("utf-8-sig"), shown, root, skill)
    except (OSError, UnicodeDecodeError) as error:
        raise SkillError(f"{shown} can't be read: {error}") from None
    if parsed.problems:
        raise SkillError("\n".join(parsed.problems))
    return parsed


def _make_row(case: SkillCase) -> dict[str, Any]:
    row = {
        "id": case.id,
        "input": case.prompt,
        "expected": case.expected_output,
        "expectations": list(case.expectations),
        "checks": list(case.checks),
        "files": list(case.files),
        "should_trigger": case.should_trigger,
        "tags": list(case.tags),
        "graders": [{"label": each.label, "kind": each.kind, **each.options} for each in case.graders],
        "workspace_files": [_make_file_row(each) for each in case.workspace_files],
        "setup": list(case.setup),
        "unsupported": list(case.unsupported),
    }
    return {name: value for name, value in row.items() if value not in (None, [])}


def _make_file_row(file: InputFile) -> dict[str, Any]:
    row = {"path": file.path, "source": file.source, "content": file.content, "left_out": list(file.left_out)}
    return {name: value for name, value in row.items() if value not in (None, [])}


def _make_task(agent: CommandAgent, workspaces: ArmWorkspaces, measured: MeasuredFiles) -> Any:
    async def run_agent(
        input: str,  # noqa: A002
        files: Sequence[str] = (),
        workspace_files: Sequence[Mapping[str, Any]] = (),
        setup: Sequence[str] = (),
        unsupported: Sequence[str] = (),
    ) -> Trajectory:
        if unsupported:  # before the agent costs anything
            more = f"; and {len(unsupported) - _MOST_SHOWN:,} more" if len(unsupported) > _MOST_SHOWN else ""
            raise SkillError(f"parts of the case can't be measured: {'; '.join(unsupported[:_MOST_SHOWN])}{more}")
        try:
            workspace = await anyio.to_thread.run_sync(workspaces.make, files, workspace_files)
        except (OSError, ValueError) as error:
            raise AgentError(f"the workspace can't be made: {error}") from None
        for command in setup:
            await anyio.to_thread.run_sync(run_setup, command, workspace)
        done = await agent.run(input, workspace)
        await anyio.to_thread.run_sync(measured.check)
        return done

    return run_agent
