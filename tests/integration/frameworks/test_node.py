"""Real frameworks for Node.js, and their reporters: as in test_python.py."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

import pytest
from tests.docs.project import Project
from tests.integration.frameworks.runs import (
    HEAD,
    RUN_BRAINTRUST,
    Rows,
    WriteEvals,
    check_inserted_row,
    execute,
    read_json,
)
from tests.integration.migrate.environments import use_node
from tests.integration.migrate.test_braintrust import NODE as BRAINTRUST_NODE
from tests.integration.migrate.test_braintrust import PACKAGES as BRAINTRUST
from tests.integration.migrate.test_evalite import NODE as EVALITE_NODE
from tests.integration.migrate.test_evalite import PACKAGES as EVALITE
from tests.integration.migrate.test_promptfoo import NODE as PROMPTFOO_NODE
from tests.integration.migrate.test_promptfoo import PACKAGES as PROMPTFOO

# Evalite and vitest-evals still run on vitest 4, which their tests install.
VITEST = ("vitest@5.1.2",)
VITEST_NODE = "24.9.0"


def read_starter(name: str) -> str:
    """A file that `scoregate init` writes."""
    return (files("scoregate.cli") / f"starter/{name}.txt").read_text("utf-8")


def write_promptfoo(project: Project, rows: Rows) -> list[str]:
    tests = [{"vars": {"question": question}, "assert": [{"type": "equals", "value": "yes"}]} for question, _ in rows]
    wrong = [question for question, passes in rows if not passes]
    project.write(
        "bot.mjs",
        "export default class { id() { return 'bot'; }\n"
        f"  async callApi(prompt) {{ return {{ output: {json.dumps(wrong)}.includes(prompt) ? 'no' : 'yes' }}; }} }}\n",
    )
    config = {"description": "capitals", "prompts": ["{{question}}"], "providers": ["file://bot.mjs"], "tests": tests}
    project.write("promptfooconfig.json", json.dumps(config))
    command = ["promptfoo", "eval", "-c", "promptfooconfig.json", "-o", "results.json", "--no-cache"]
    return ["--import", "promptfoo:results.json", "--", "env", "PROMPTFOO_FAILED_TEST_EXIT_CODE=0", *command]


def test_promptfoo(project: Project) -> None:
    modules = use_node(project, "promptfoo", PROMPTFOO, version=PROMPTFOO_NODE, optional=False)
    (project.folder / "node_modules").symlink_to(modules)
    quiet = ("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "NODE_NO_WARNINGS")
    project.environment |= dict.fromkeys(quiet, "1")
    project.environment["PROMPTFOO_CONFIG_DIR"] = str(project.folder.parent / "promptfoo")
    check_inserted_row(project, write_promptfoo, evaluator="passed")


def write_vitest(project: Project, rows: Rows) -> None:
    tests = "".join(
        f"test({json.dumps(question)}, () => expect({json.dumps('yes' if passes else 'no')}).toBe('yes'));\n"
        for question, passes in rows
    )
    project.write("bot.test.mjs", f"import {{ expect, test }} from 'vitest';\n{tests}")


def write_vitest_junit(project: Project, rows: Rows) -> list[str]:
    write_vitest(project, rows)
    command = "vitest run --reporter=junit --outputFile=results.xml; test $? -le 1"
    return ["--junit", "results.xml", "--", "sh", "-c", command]


def write_vitest_json(project: Project, rows: Rows) -> list[str]:
    write_vitest(project, rows)
    return ["--import", "vitest:results.json", "--", "vitest", "run", "--reporter=json", "--outputFile=results.json"]


@pytest.mark.parametrize("write", [write_vitest_junit, write_vitest_json])
def test_vitest(project: Project, write: WriteEvals) -> None:
    modules = use_node(project, "vitest", VITEST, version=VITEST_NODE)
    (project.folder / "node_modules").symlink_to(modules)
    check_inserted_row(project, write, evaluator="passed")


def write_evalite(project: Project, rows: Rows) -> list[str]:
    project.write("package.json", '{"type": "module"}')
    project.write(
        "evalite.config.ts",
        'import { defineConfig } from "evalite/config";\n'
        'import { createInMemoryStorage } from "evalite/in-memory-storage";\n'
        "export default defineConfig({ storage: () => createInMemoryStorage() });\n",
    )
    data = json.dumps([{"input": question, "expected": "yes"} for question, _ in rows])
    wrong = json.dumps([question for question, passes in rows if not passes])
    project.write(
        "bot.eval.ts",
        "import { evalite } from 'evalite';\n"
        f"evalite('capitals', {{ data: () => {data}, task: async (input) => ({wrong}.includes(input) ? 'no' : 'yes'),\n"
        "  scorers: [{ name: 'same', scorer: ({ output, expected }) => (output === expected ? 1 : 0) }] });\n",
    )
    return ["--import", "evalite:results.json", "--", "evalite", "run", "--outputPath", "results.json"]


def test_evalite(project: Project) -> None:
    modules = use_node(project, "evalite", EVALITE, version=EVALITE_NODE)
    (project.folder / "node_modules").symlink_to(modules)
    check_inserted_row(project, write_evalite, evaluator="same", fails=False)


def write_braintrust(project: Project, rows: Rows) -> list[str]:
    project.write("scoregate_reporter.mjs", read_starter("scoregate_reporter.mjs"))
    data = json.dumps([{"input": question, "expected": "yes"} for question, _ in rows])
    wrong = json.dumps([question for question, passes in rows if not passes])
    project.write(
        "bot.eval.ts",
        "import { Eval } from 'braintrust';\n"
        "const same = ({ output, expected }: any) => (output === expected ? 1 : 0);\n"
        f"const task = async (input: string) => ({wrong}.includes(input) ? 'no' : 'yes');\n"
        f"Eval('team/capitals', {{ data: () => {data}, task, scores: [same] }});\n",
    )
    return ["--", "npx", "braintrust", *RUN_BRAINTRUST, "bot.eval.ts", "scoregate_reporter.mjs"]


def use_braintrust(project: Project) -> None:
    modules = use_node(project, "braintrust", BRAINTRUST, version=BRAINTRUST_NODE)
    (project.folder / "node_modules").symlink_to(modules)


def test_braintrust(project: Project) -> None:
    use_braintrust(project)
    check_inserted_row(project, write_braintrust, evaluator="same", fails=False)
    project.write("broken.eval.ts", "throw new Error('no module');\n")
    outcome = execute(project, [*write_braintrust(project, HEAD), "broken.eval.ts"], baseline="none", out="broken")
    assert (outcome.returncode, "no module" in outcome.stdout) == (3, True), outcome.stdout


def test_braintrust_reports_errors_labels_and_each_eval_of_a_project(project: Project) -> None:
    use_braintrust(project)
    project.write("scoregate_reporter.mjs", read_starter("scoregate_reporter.mjs"))
    project.write(
        "bot.mjs",
        "import { Eval } from 'braintrust';\nimport { reporter } from './scoregate_reporter.mjs';\n"
        "const task = (input) => { if (input === 'c') throw new Error('no answer'); return 'yes'; };\n"
        "const good = () => 1;\n"
        "const broken = ({ input }) => { if (input === 'b') throw new Error('no score'); return null; };\n"
        "const tone = () => ({ id: 'nice' });\n"
        "const data = () => ['a', 'b', 'c', 'a'].map((input) => ({ input, tags: ['x'] }));\n"
        "const evaluator = { data, task, scores: [good, broken], classifiers: [tone],\n"
        "  errorScoreHandler: ({ unhandledScores: names }) => Object.fromEntries(names.map((name) => [name, 1])) };\n"
        "for (const experimentName of ['one', 'two'])\n"
        "  await Eval('capitals', { ...evaluator, experimentName }, { noSendLogs: true, reporter });\n"
        "await Eval('none', evaluator, { noSendLogs: true, reporter, returnResults: false });\n",
    )
    outcome = execute(project, ["--", "node", "bot.mjs"], baseline="none", out="out")
    assert outcome.returncode == 3, outcome.stdout
    suites = {each["id"]: each for each in read_json(project.folder / "out" / "run" / "run.json")["suites"]}
    assert {name: each["cases"] for name, each in suites.items()} == {"capitals": 4, "capitals / two": 4, "none": 0}
    assert "No case ran in none" in outcome.stdout
    assert "no answer" in outcome.stdout
    assert "no score" in outcome.stdout
    number = list(suites).index("capitals")
    with gzip.open(project.folder / "out" / "run" / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        trials = {
            (each["hash"], each.get("repeat", 0)): each for each in map(json.loads, lines) if each["suite"] == number
        }
    assert {place: sorted(each.get("evaluations", {})) for place, each in trials.items()} == {
        ("a", 0): ["good"],
        ("a", 1): ["good"],
        ("b", 0): ["good"],
        ("c", 0): ["broken", "good"],
    }
    assert trials["a", 0]["labels"]["tone"]["label"] == "nice"
