"""Real frameworks for Node.js, and their reporters: as in test_python.py."""

from __future__ import annotations

import json
from importlib.resources import files

from tests.docs.project import Project
from tests.integration.frameworks.runs import Rows, check_inserted_row
from tests.integration.migrate.environments import use_node
from tests.integration.migrate.test_evalite import NODE as EVALITE_NODE
from tests.integration.migrate.test_evalite import PACKAGES as EVALITE
from tests.integration.migrate.test_promptfoo import NODE as PROMPTFOO_NODE
from tests.integration.migrate.test_promptfoo import PACKAGES as PROMPTFOO


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


def write_vitest(project: Project, rows: Rows) -> list[str]:
    tests = "".join(
        f"test({json.dumps(question)}, () => expect({json.dumps('yes' if passes else 'no')}).toBe('yes'));\n"
        for question, passes in rows
    )
    project.write("bot.test.mjs", f"import {{ expect, test }} from 'vitest';\n{tests}")
    command = "vitest run --reporter=junit --outputFile=results.xml; test $? -le 1"
    return ["--junit", "results.xml", "--", "sh", "-c", command]


def test_vitest(project: Project) -> None:
    modules = use_node(project, "evalite", EVALITE, version=EVALITE_NODE)
    (project.folder / "node_modules").symlink_to(modules)
    check_inserted_row(project, write_vitest, evaluator="passed")


def write_evalite(project: Project, rows: Rows) -> list[str]:
    project.write("package.json", '{"type": "module"}')
    project.write(
        "evalite.config.ts",
        'import { defineConfig } from "evalite/config";\n'
        'import { createInMemoryStorage } from "evalite/in-memory-storage";\n'
        "export default defineConfig({ storage: () => createInMemoryStorage() });\n",
    )
    project.write("evalite_events.mjs", (files("scoregate.cli") / "starter/evalite_events.mjs.txt").read_text("utf-8"))
    data = json.dumps([{"input": question, "expected": "yes"} for question, _ in rows])
    wrong = json.dumps([question for question, passes in rows if not passes])
    project.write(
        "bot.eval.ts",
        "import { evalite } from 'evalite';\n"
        f"evalite('capitals', {{ data: () => {data}, task: async (input) => ({wrong}.includes(input) ? 'no' : 'yes'),\n"
        "  scorers: [{ name: 'same', scorer: ({ output, expected }) => (output === expected ? 1 : 0) }] });\n",
    )
    command = "evalite run --outputPath results.json && node evalite_events.mjs results.json"
    return ["--", "sh", "-c", command]


def test_evalite(project: Project) -> None:
    modules = use_node(project, "evalite", EVALITE, version=EVALITE_NODE)
    (project.folder / "node_modules").symlink_to(modules)
    check_inserted_row(project, write_evalite, evaluator="same", fails=False)
