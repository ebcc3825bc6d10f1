"""Evals of other frameworks are found by their files, and the settings that make suites of them are valid."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from scoregate.kernel.judge.settings import Settings, load_settings
from scoregate.kernel.run.discover.files import ProjectFiles
from scoregate.kernel.run.discover.other_frameworks import find_frameworks
from scoregate.kernel.run.frameworks import FoundFramework, describe_frameworks, format_settings

pytestmark = pytest.mark.anyio

DEEPEVAL = "from deepeval import assert_test, evaluate\n"
DEEPEVAL_TEST = f"{DEEPEVAL}def test_it(): assert_test(None, [])\n"
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
            {"evals/test_a.py": DEEPEVAL_TEST, "evals/test_b.py": DEEPEVAL_TEST, "evals/conftest.py": ""},
            "env DEEPEVAL_RESULTS_FOLDER=deepeval-results/evals deepeval test run evals",
            "deepeval:deepeval-results/evals/test_run_*.json",
        ),
        "deepeval in tests/test_bot.py": (
            {"tests/test_bot.py": DEEPEVAL_TEST, "tests/test_other.py": TEST},
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


async def commands(root: Path, files: dict[str, str | bytes]) -> list[str]:
    return [" ".join(each.command.run) for each in await find(root, files) if each.command is not None]


@pytest.mark.parametrize(
    ("script", "report"),
    [
        ("vitest run --reporter=junit --outputFile.junit=eval.xml", "junit:eval.xml"),
        ("vitest run --reporter junit --outputFile eval.xml", "junit:eval.xml"),
        ("vitest run --reporter=default --reporter=json --outputFile=eval.json", "vitest:eval.json"),
        ("vitest run --reporter=json --outputFile.json 'my eval.json'", "vitest:my eval.json"),
    ],
)
async def test_a_script_of_vitest_keeps_its_own_report(tmp_path: Path, script: str, report: str) -> None:
    files: dict[str, str | bytes] = {
        "package.json": package(scripts={"eval:ci": script}, devDependencies={"vitest-evals": "1"}),
        "a.eval.ts": "",
    }
    (command,) = (await settings(tmp_path, files)).commands
    assert command.run == ("npm", "run", "eval:ci")
    assert [*(f"junit:{each}" for each in command.junit), *command.imports] == [report]


async def test_a_script_of_vitest_with_an_unknown_report_is_not_run(tmp_path: Path) -> None:
    script = "vitest run --reporter=html --outputFile=a.html"
    files: dict[str, str | bytes] = {
        "package.json": package(scripts={"eval": script}, devDependencies={"vitest-evals": "1"}),
        "src/a.eval.ts": "",
    }
    (run,) = await commands(tmp_path, files)
    assert run.startswith("npx vitest run --reporter=default --reporter=junit --outputFile.junit=")
    assert run.endswith(" src/a.eval.ts")


async def test_unit_tests_of_a_workspace_are_no_evals(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "package.json": package(devDependencies={"vitest": "1", "vitest-evals": "1", "evalite": "1"}),
        "src/sum.test.ts": "import { test } from 'vitest';\n",
    }
    assert await commands(tmp_path / "none", files) == []
    files |= {"packages/bot/package.json": package(), "packages/bot/a.eval.ts": VITEST_EVALS}
    (command,) = (await settings(tmp_path / "one", files)).commands
    assert (command.cwd, command.run[-1]) == ("packages/bot", "a.eval.ts")


async def test_unit_tests_beside_many_evals_are_not_run(tmp_path: Path) -> None:
    mark = f"import pytest\n@pytest.mark.eval(name='a')\n{TEST}"
    names = [f"tests/test_eval_{number}.py" for number in range(7)]
    (run,) = await commands(tmp_path / "beside", {**dict.fromkeys(names, mark), "tests/unit/test_a.py": TEST})
    assert run.split()[4:] == names
    (run,) = await commands(tmp_path / "alone", {**dict.fromkeys(names, mark), "unit/test_a.py": TEST})
    assert run.split()[4:] == ["tests"]


async def test_scripts_of_packages_name_configs_of_promptfoo(tmp_path: Path) -> None:
    scripts = {
        "eval": "dotenv -- promptfoo eval -c prompts/a.yaml --config=prompts/b.yaml --no-cache",
        "eval:red team": "npx promptfoo@latest eval --config 'red/*.yaml' other.yaml && promptfoo view -c a.yaml",
        "eval:same": "promptfoo eval -c prompts/a.yaml prompts/b.yaml",
        "eval:gone": "promptfoo eval -c missing.yaml",
        "view": "promptfoo view",
    }
    names = ("prompts/a.yaml", "prompts/b.yaml", "red/x.yaml", "red/y.yaml", "promptfooconfig.yaml", "a.yaml")
    files: dict[str, str | bytes] = {f"web/{name}": "" for name in names}
    read = await settings(tmp_path, {**files, "web/package.json": package(scripts=scripts)})
    assert {each.name: (" ".join(each.run[4:-3]), each.imports) for each in read.commands} == {
        "promptfoo-eval in web": ("-c prompts/a.yaml prompts/b.yaml", ("promptfoo:promptfoo-results-eval.json",)),
        "promptfoo-eval-red-team in web": (
            "-c red/x.yaml red/y.yaml",
            ("promptfoo:promptfoo-results-eval-red-team.json",),
        ),
        "promptfoo in web": ("-c promptfooconfig.yaml", ("promptfoo:promptfoo-results.json",)),
    }


@pytest.mark.parametrize("text", ["# we used braintrust before\n", "import deepeval\n", '"""Not of scoregate."""\n'])
async def test_a_test_that_mentions_a_framework_is_still_a_test(tmp_path: Path, text: str) -> None:
    files: dict[str, str | bytes] = {"tests/evals/test_a.py": text + TEST, "tests/test_unit.py": text + TEST}
    assert await commands(tmp_path, files) == ["pytest --junitxml pytest-results.xml tests/evals/test_a.py"]


async def test_tests_that_only_measure_have_no_results_of_deepeval(tmp_path: Path) -> None:
    text = "from deepeval.metrics import GEval\ndef test_it():\n    metric = GEval()\n    metric.measure(None)\n"
    (run,) = await commands(tmp_path, {"tests/test_bot.py": text})
    assert run == "pytest --junitxml pytest-results.xml tests/test_bot.py"


@pytest.mark.parametrize(
    "text",
    [
        "from deepeval import evaluate\ndef run_all(cases): return evaluate(cases, [])\n",
        "from deepeval.metrics import GEval\nclass Runner:\n    def evaluate(self): self.evaluate()\n",
        "from braintrust import Eval\ndef run(): return Eval('bot')\n",
        "from pydantic_evals import Dataset\ndef run(data: Dataset): return data.evaluate_sync(print)\n",
        "from deepeval import evaluate\n# evaluate(cases)\n",
    ],
)
async def test_libraries_of_helpers_are_no_evals(tmp_path: Path, text: str) -> None:
    assert await find(tmp_path, {"evals/_utils.py": text}) == ()


@pytest.mark.parametrize(
    "text",
    [
        "import deepeval\ndef main(): deepeval.evaluate([], [])\nif __name__ == '__main__':\n    main()\n",
        "from deepeval import evaluate as check\nimport asyncio\nasync def go(): check([], [])\nasyncio.run(go())\n",
        "import deepeval\nfrom bot import dataset\nfor golden in dataset().evals_iterator():\n    print(golden)\n",
    ],
)
async def test_scripts_that_run_deepeval_are_evals(tmp_path: Path, text: str) -> None:
    (run,) = await commands(tmp_path, {"evals/bot.py": text})
    assert run.endswith("python evals/bot.py")


@pytest.mark.parametrize("decorator", ["@langsmith.unit", "@langsmith.test(output_keys=['a'])", "@unit"])
async def test_old_decorators_of_langsmith_mark_evals(tmp_path: Path, decorator: str) -> None:
    text = f"import langsmith\nfrom langsmith import unit\n{decorator}\n{TEST}"
    (run,) = await commands(tmp_path, {"tests/test_a.py": text, "tests/test_b.py": f"import langsmith\n{TEST}"})
    assert run == "env LANGSMITH_TEST_TRACKING=false pytest --junitxml langsmith-results.xml tests/test_a.py"


@pytest.mark.parametrize("table", ["project.scripts", "tool.poetry.scripts"])
async def test_scripts_of_a_project_run_suites_of_autoblocks(tmp_path: Path, table: str) -> None:
    call = "run_test_suite(id='a', test_cases=[], fn=print)"
    files: dict[str, str | bytes] = {
        "bot/pyproject.toml": f'[{table}]\nserve = "my_project.app:main"\nstart = "my_project.run:run"\n',
        "bot/my_project/app.py": "def main(): pass\n",
        "bot/my_project/run.py": "from my_project.test_suites import hours\ndef run(): hours.run()\n",
        "bot/my_project/test_suites/hours/__init__.py": (
            f"from autoblocks.testing.run import run_test_suite\ndef run(): {call}\n"
        ),
    }
    (command,) = (await settings(tmp_path, files)).commands
    assert command.run == ("python", "-c", "from my_project.run import run; run()")
    assert command.cwd == "bot"


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
