"""Skills with cases in the formats of other tools, run with and without the skill."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.features.arms.skills import AGENT, settings, skill
from tests.features.arms.test_skills import arms_of, errors_of
from tests.integration.host.conftest import Project, Ran

FOLDER = "skills/paint"
# It writes the names of all files that it finds, and then does what the agent that follows rules does.
LISTING = (
    "import os, sys; names = sorted(os.path.join(a, b)[2:] for a, _, c in os.walk('.') for b in c);"
    "open('found.txt', 'w').write('\\n'.join(names)); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


def prepare(project: Project, cases: str = "") -> None:
    (project.root / "evals" / "demo.py").unlink(missing_ok=True)
    arguments = ("-I", "-S", "-c", LISTING, "-I", "-S", str(AGENT))
    project.write("scoregate.toml", settings(words=arguments))
    project.write(".gitignore", "scoregate-out/\n.scoregate-cache/\n")
    project.write(f"{FOLDER}/SKILL.md", skill())
    if cases:
        project.write(f"{FOLDER}/tests/eval.yaml", cases)


def run(project: Project, *words: str) -> Ran:
    return project.scoregate("run", *words)


def scenarios(*more: dict[str, Any], number: int = 4) -> str:
    """Scenarios as JSON, which is YAML."""
    colours = ("red", "green", "blue", "black", "white")
    results: list[dict[str, Any]] = [
        {
            "name": f"n{index}",
            "prompt": f"paint fact{index}",
            "assertions": [
                {"type": "output_contains", "value": colours[index % 5].upper()},
                {"type": "file_contains", "path": "*.txt", "value": colours[index % 5]},
            ],
        }
        for index in range(number)
    ]
    return json.dumps({"scenarios": [*results, *more]}, indent=1)


def test_scenarios_run_with_and_without_the_skill(project: Project) -> None:
    expected = ["in.txt", "ready.txt", "sub/x.txt"]
    files = [{"path": "sub/x.txt", "content": "x"}]
    checked: dict[str, Any] = {
        "name": "files",
        "prompt": "sing",
        "setup": {"copy_test_files": True, "files": files, "commands": ["cp in.txt ready.txt; false"]},
        "assertions": [{"type": "file_contains", "path": "found.txt", "value": "\n".join(expected)}],
        "expect_activation": False,
        "reject_tools": ["bash"],
    }
    no_cases: dict[str, Any] = {
        "name": "no cases",
        "prompt": "paint fact0",
        "assertions": [
            {"type": "file_not_contains", "path": "found.txt", "value": name}
            for name in ("eval.yaml", "tests", "in.txt")
        ],
        "expect_activation": True,
    }
    prepare(project, scenarios(checked, no_cases))
    project.write(f"{FOLDER}/tests/in.txt", "secret")
    outcome = run(project)
    assert outcome.exit_code == 0, outcome.output
    arm = arms_of(outcome)
    assert (arm["suite"], arm["effect"]["delta"] > 0.5) == ("paint", True)
    assert arm["triggered_unwanted"] == {"triggered": 0, "trials": 1}
    assert not any(errors_of(outcome).values())

    # A change of the skill runs one arm, a change of a file next to the cases both.
    project.write(f"{FOLDER}/SKILL.md", skill(facts=2))
    second = run(project)
    assert (second.exit_code, "1 arm did not run" in second.output) == (1, True), second.output
    project.write(f"{FOLDER}/tests/in.txt", "changed")
    assert "did not run" not in run(project).output


def test_unmeasured_cases_are_no_success(project: Project) -> None:
    strange = {"name": "strange", "prompt": "paint fact0", "max_turns": 3, "assertions": [{"type": "build_passes"}]}
    prepare(project, scenarios(strange))
    outcome = run(project)
    assert outcome.exit_code not in (0, 2), outcome.output
    errors = errors_of(outcome)
    assert {name for name, error in errors.items() if error} == {"strange"}
    for text in ("assertion build_passes: scoregate doesn't know this type", "max_turns: scoregate can't measure it"):
        assert text in errors["strange"]
    assert f"{FOLDER}/tests/eval.yaml:" in errors["strange"]


def test_tasks_of_waza_run_next_to_their_skill(project: Project) -> None:
    task = """\
id: one
inputs: {prompt: paint fact0, files: [{path: in.csv}]}
expected: {output_contains: [red], should_trigger: true}
graders:
- {name: files, type: file, config: {must_exist: [answer.txt, in.csv], must_not_exist: [tasks]}}
- {name: tools, type: behavior, config: {required_tools: [Skill], max_tool_calls: 3, max_duration_ms: 600000}}
- {name: script, type: program, config: {command: sh, args: [graders/check.sh]}}
- {name: code, type: code, config: {assertions: ["output == 'red'"]}}
"""
    prepare(project)
    check = "grep -q red && ! grep -E 'eval.yaml|tasks|graders' \"$WAZA_WORKSPACE_DIR/found.txt\"\n"
    for name, text in {
        "eval.yaml": "name: a\nskill: paint\nconfig: {executor: mock}\ntasks: ['tasks/*.yaml']\n",
        "tasks/one.yaml": task,
        "graders/check.sh": check,
        "fixtures/in.csv": "1\n",
        "trigger_tests.yaml": "skill: paint\nshould_not_trigger_prompts:\n- prompt: sing\n",
    }.items():
        project.write(f"{FOLDER}/{name}", text)
    outcome = run(project)
    assert outcome.exit_code == 0, outcome.output
    assert "these fields have no effect: 'config' (line 3)" in " ".join(outcome.output.split())
    arm = arms_of(outcome)
    assert (arm["triggered"]["triggered"], arm["triggered_unwanted"]["trials"]) == (1, 1)
    assert not any(errors_of(outcome).values())
    project.write(f"{FOLDER}/tasks/one.yaml", task.replace("'red'", "'blue'"))
    assert run(project).exit_code == 1


def test_cases_of_a_plugin_are_next_to_it(project: Project) -> None:
    hidden = {
        "name": "hidden",
        "prompt": "paint fact0",
        "assertions": [{"type": "file_contains", "path": "found.txt", "value": "tests/art/other/eval.yaml"}]
        + [{"type": "file_not_contains", "path": "found.txt", "value": text} for text in ("art/draw", "plugins/art")],
    }
    prepare(project)
    project.write("scoregate.toml", (project.root / "scoregate.toml").read_text() + 'workspace = "worktree"\n')
    project.write("plugins/art/skills/draw/SKILL.md", skill(name="draw"))
    project.write("tests/art/draw/eval.yaml", scenarios(hidden, number=2))
    project.write("tests/art/other/eval.yaml", "scenarios: []\n")
    outcome = run(project, "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert arms_of(outcome)["suite"] == "draw"
    assert not any(errors_of(outcome).values())


def test_other_files_for_agents_have_cases_in_yaml(project: Project) -> None:
    prepare(project)
    (project.root / FOLDER / "SKILL.md").unlink()
    arms = 'workspace = "worktree"\n[arms]\nwith = "AGENTS.md"\ncases = "evals/agents.yaml"\n'
    project.write("scoregate.toml", (project.root / "scoregate.toml").read_text() + arms)
    project.write("AGENTS.md", skill())
    project.write("evals/agents.yaml", "tasks: ['tasks/*.yaml']\n")
    unseen = "{name: x, type: file, config: {content_patterns: [{path: found.txt, must_not_match: [evals]}]}}"
    task = f"id: a\ninputs: {{prompt: paint fact0}}\nexpected: {{output_contains: [red]}}\ngraders: [{unseen}]\n"
    project.write("evals/tasks/one.yaml", task)
    outcome = run(project, "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    arm = arms_of(outcome)
    assert (arm["suite"], round(arm["effect"]["delta"], 2)) == ("AGENTS.md", 0.33), arm


def test_a_file_of_another_tool_is_named(project: Project) -> None:
    prepare(project, "prompts: [a]\n")
    text = " ".join(project.scoregate("list").output.split())
    assert f"{FOLDER}/tests/eval.yaml is not read, as it has none of the fields 'scenarios'" in text


def test_a_limit_of_the_duration_is_measured(project: Project) -> None:
    grader = "{type: behavior, name: fast, config: {max_duration_ms: 1}}"
    prepare(project, f"graders: [{grader}]\ntasks: [{{id: a, inputs: {{prompt: paint fact0}}}}]\n")
    outcome = run(project, "--baseline", "none")
    assert outcome.exit_code == 1, outcome.output
    assert "max_duration_ms 1: it took" in " ".join(outcome.output.split())


def test_an_invalid_file_stops_it(project: Project) -> None:
    for text, message, agent in (
        ("scenarios: [&a {name: b, prompt: c}, *a]", ":1: *a is an alias; write out what it means", "claude"),
        (
            "scenarios: [{name: a, prompt: b, setup: {files: [{path: x, source: y}]}}]",
            f"'{FOLDER}/y' does not",
            "claude",
        ),
        ("scenarios: [{name: a, prompt: b, expect_tools: [bash]}]", "so expect_tools bash can't be measured", "text"),
    ):
        prepare(project, text)
        own = settings(python=sys.executable).replace('"claude"', f'"{agent}"')
        project.write("scoregate.toml", own)
        outcome = run(project, "--baseline", "none")
        assert outcome.exit_code == 3, outcome.output
        assert message in " ".join(outcome.output.split()), outcome.output
