"""Evals of other frameworks are found by their files, and the settings that make suites of them are valid."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from scoregate.ci.discover.files import ProjectFiles
from scoregate.ci.discover.other_frameworks import find_frameworks
from scoregate.ci.frameworks import FoundFramework, describe_frameworks, format_settings
from scoregate.ci.settings import Settings, load_settings

pytestmark = pytest.mark.anyio

DEEPEVAL = "from deepeval import assert_test, evaluate\n"
TEST = "def test_it(): assert True\n"
INSPECT = "from inspect_ai import Task, task\n\n@task\ndef hours(): return Task()\n"
BRAINTRUST = "from braintrust import Eval\nEval('bot')\n"
EVALITE = 'import { evalite } from "evalite";\n'
VITEST_EVALS = "import { describeEval } from 'vitest-evals';\n"


async def find(root: Path, files: dict[str, str | bytes]) -> tuple[FoundFramework, ...]:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return await find_frameworks(ProjectFiles(root))


async def settings(root: Path, files: dict[str, str | bytes]) -> Settings:
    """The settings that scoregate reads from the lines."""
    (root / "scoregate.toml").write_text("\n".join(format_settings(await find(root, files))), encoding="utf-8")
    return load_settings(root, {})


def package(**values: object) -> str:
    return json.dumps(values)


async def test_each_framework_has_its_command(tmp_path: Path) -> None:
    promptfoo = "npx --yes promptfoo eval -c {} -o {} --no-cache"
    vitest = "{} --reporter=default --reporter=junit --outputFile.junit=vitest-results.xml"
    cases: dict[str, tuple[dict[str, str | bytes], str, str]] = {
        "promptfoo": (
            {"promptfooconfig.yaml": ""},
            promptfoo.format("promptfooconfig.yaml", "promptfoo-results.json"),
            "promptfoo:promptfoo-results.json",
        ),
        "promptfoo-chat": (
            {"promptfooconfig.chat.yml": ""},
            promptfoo.format("promptfooconfig.chat.yml", "promptfoo-results-chat.json"),
            "promptfoo:promptfoo-results-chat.json",
        ),
        "deepeval in evals": (
            {"evals/test_a.py": DEEPEVAL, "evals/test_b.py": DEEPEVAL, "evals/conftest.py": ""},
            "env DEEPEVAL_RESULTS_FOLDER=deepeval-results/evals deepeval test run evals",
            "deepeval:deepeval-results/evals/test_run_*.json",
        ),
        "deepeval in tests/test_bot.py": (
            {"tests/test_bot.py": DEEPEVAL, "tests/test_other.py": TEST},
            "env DEEPEVAL_RESULTS_FOLDER=deepeval-results/tests/test_bot deepeval test run tests/test_bot.py",
            "deepeval:deepeval-results/tests/test_bot/test_run_*.json",
        ),
        "deepeval in bot.py": (
            {"bot.py": f"{DEEPEVAL}evaluate([], [])\n", "metrics.py": "from deepeval.metrics import GEval\n"},
            "env DEEPEVAL_RESULTS_FOLDER=deepeval-results/bot python bot.py",
            "deepeval:deepeval-results/bot/test_run_*.json",
        ),
        "inspect": (
            {"evals/hours.py": INSPECT, "lib.py": "import inspect_ai\n"},
            "inspect eval evals/hours.py --log-dir inspect-logs --display plain",
            "inspect:inspect-logs/*.eval",
        ),
        "braintrust": (
            {"evals/eval_bot.py": BRAINTRUST, "log.py": "import braintrust\n"},
            "braintrust eval --no-send-logs --terminate-on-failure evals/eval_bot.py scoregate_reporter.py",
            "",
        ),
        "pytest": (
            {"evals/test_a.py": TEST, "tests/test_b.py": TEST},
            "pytest --junitxml pytest-results.xml evals/test_a.py",
            "pytest-results.xml",
        ),
        "pytest-evals": (
            {"tests/test_a.py": f"import pytest\n@pytest.mark.eval(name='a')\n{TEST}"},
            "pytest --run-eval --junitxml pytest-evals-results.xml tests/test_a.py",
            "pytest-evals-results.xml",
        ),
        "evalite": (
            {"package.json": package(devDependencies={"evalite": "1"}), "src/a.eval.ts": EVALITE},
            "npx evalite run --hideTable --outputPath evalite-results.json",
            "evalite:evalite-results.json",
        ),
        "braintrust in web": (
            {"web/package.json": package(), "web/src/a.eval.ts": "import { Eval } from 'braintrust';\n"},
            "npx braintrust eval --no-send-logs --terminate-on-failure src/a.eval.ts scoregate_reporter.mjs",
            "",
        ),
        "vitest-evals": (
            {
                "package.json": package(scripts={"test": "vitest run", "evals": "vitest run -c evals.ts"}),
                "a.eval.ts": VITEST_EVALS,
            },
            vitest.format("npm run evals --"),
            "vitest-results.xml",
        ),
        "vitest-evals in web": (
            {
                "web/package.json": package(scripts={"evals": "vitest"}, dependencies={"vitest-evals": "1"}),
                "web/vitest.evals.config.ts": "",
            },
            vitest.format("npx vitest run --config vitest.evals.config.ts"),
            "vitest-results.xml",
        ),
    }
    for number, (name, (files, run, results)) in enumerate(cases.items()):
        (command,) = (await settings(tmp_path / str(number), files)).commands
        assert (command.name, " ".join(command.run)) == (name, run)
        assert (*command.junit, *command.imports) == ((results,) if results else ()), name
        assert command.cwd == ("web" if name.endswith("web") else "."), name


async def test_evals_without_a_command_are_named(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "data.py": "from pydantic_evals import Dataset\nDataset([]).evaluate_sync(print)\n",
    }
    found = await find(tmp_path, files)
    assert {each.name: each.command for each in found} == {"pydantic-evals": None}
    assert list(format_settings(found)) == []


async def test_suites_in_other_places_need_paths(tmp_path: Path) -> None:
    call = "from scoregate.testing.run import run_test_suite\nrun_test_suite(id='a', test_cases=[], fn=print)\n"
    names = ("src/bot/checks/hours.py", "src/bot/checks/days.py", "test_suites/hours/__init__.py", "smoke.py")
    read = await settings(tmp_path, {**dict.fromkeys(names, call), "lib.py": "import scoregate\n"})
    assert (read.paths, read.commands) == (("smoke.py", "src/bot/checks", "test_suites"), ())


async def test_projects_of_a_repository_have_commands_of_their_own(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {}
    for project in ("a", "b"):
        files[f"services/{project}/pyproject.toml"] = ""
        files[f"services/{project}/evals/hours.py"] = INSPECT
        files[f"services/{project}/promptfooconfig.yaml"] = files[f"services/{project}/promptfooconfig.json"] = ""
    commands = (await settings(tmp_path, files)).commands
    assert [(each.name, each.cwd) for each in commands if "inspect" in each.name] == [
        ("inspect in services/a", "services/a"),
        ("inspect in services/b", "services/b"),
    ]
    assert [each.run[2] for each in commands if "inspect" in each.name] == ["evals/hours.py"] * 2
    assert len({each.name for each in commands}) == 6


async def test_many_files_are_run_by_their_folders(tmp_path: Path) -> None:
    (command,) = (await settings(tmp_path, {f"evals/task_{number}.py": INSPECT for number in range(9)})).commands
    assert command.run[:3] == ("inspect", "eval", "evals")


async def test_hostile_names_and_contents_are_safe(tmp_path: Path) -> None:
    odd = "evals/test_$(touch x) \"quoted\"; 'y'.py"
    files: dict[str, str | bytes] = {
        odd: TEST,
        "evals/test_line\nbreak.py": TEST,
        "-c/promptfooconfig.yaml": "",
        "package.json": "[" * 100_000,
        "broken/package.json": '{"devDependencies": ["evalite"], "scripts": 1}',
        "node_modules/evalite/a.eval.ts": EVALITE,
        "huge.eval.ts": EVALITE + " " * 2**21,
        "evals/test_bytes.py": b"\xff\xfe scoregate\n",
    }
    read = await settings(tmp_path, files)
    (command,) = read.commands
    assert command.run == ("pytest", "--junitxml", "pytest-results.xml", odd)  # one argument, and no shell


async def test_the_notice_of_a_run_has_the_setting_if_that_is_short(tmp_path: Path) -> None:
    found = await find(tmp_path, {"evals/hours.py": INSPECT})
    what, setting = describe_frameworks(found)
    assert what == "There are evals that are no suites yet: Inspect in evals/hours.py."
    assert tomllib.loads(setting.partition(" writes it: ")[2])["commands"][0]["name"] == "inspect"
    more = await find(tmp_path, {f"{name}/promptfooconfig.yaml": "" for name in "abcdefg"})
    what, setting = describe_frameworks(more)
    assert what.endswith("promptfoo in e/promptfooconfig.yaml; and 3 more.")
    assert "`scoregate list` shows" in setting
    assert list(describe_frameworks(())) == []
    assert list(describe_frameworks(found, has_settings=True))[1].startswith("This line in the settings makes a suite")
    assert list(describe_frameworks(more, has_settings=True))[1].startswith("`scoregate list` shows the settings")


async def test_names_are_never_options_of_a_command(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "p/pyproject.toml": "",
        "p/--sandbox=local.py": INSPECT,
        "p/-x/promptfooconfig.yaml": "",
        "p/--evaluate.py": f"{DEEPEVAL}evaluate([], [])\n",
    }
    commands = (await settings(tmp_path, files)).commands
    words = [word for command in commands for word in command.run if "sandbox" in word or "evaluate" in word]
    assert {"./--evaluate.py", "./--sandbox=local.py"} < set(words)
    assert not any(word.startswith("-") for word in words)
    assert not any(word.startswith("-x") for command in commands for word in command.run)
    assert {command.cwd for command in commands} == {"p", "p/-x"}
