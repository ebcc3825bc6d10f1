"""What `scoregate init` writes for evals of other frameworks runs them, without any change to them."""

from __future__ import annotations

import json
from typing import Any

from tests.docs.project import ROOT, Project
from tests.integration.migrate import test_braintrust, test_deepeval, test_evalite, test_promptfoo
from tests.integration.migrate.environments import use_node, use_python


def run(project: Project) -> dict[str, Any]:
    """The suites of the first run, by id."""
    project.environment["PYTHONPATH"] = str(ROOT / "src")
    outcome = project.run(["scoregate", "init"])
    assert outcome.returncode == 0, outcome.stderr
    outcome = project.run(["scoregate", "run", "--baseline", "none"])
    record = json.loads((project.folder / "scoregate-out" / "run" / "run.json").read_text(encoding="utf-8"))
    assert all(script["exit_code"] == 0 or script["tests_failed"] for script in record["scripts"]), (
        outcome.stdout + outcome.stderr
    )
    return {suite["id"]: {name: n for name, n in suite["statuses"].items() if n} for suite in record["suites"]}


def test_evals_of_deepeval(reader: Project) -> None:
    use_python(reader, "deepeval", test_deepeval.REQUIREMENTS)
    reader.environment["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    imports = (
        "from deepeval import assert_test, evaluate\n"
        "from deepeval.metrics import ExactMatchMetric\n"
        "from deepeval.test_case import LLMTestCase\n"
        "def case(a): return LLMTestCase(name=a, input=a, actual_output='nine', expected_output=a)\n"
    )
    test = "def test_{0}(): assert_test(case('{0}'), [ExactMatchMetric()])\n"
    reader.write("tests/evals/test_bot.py", imports + test.format("nine") + test.format("five"))
    reader.write("bot.py", f"{imports}evaluate([case('nine')], [ExactMatchMetric()])\n")
    suites = run(reader)
    assert suites == {"tests/evals/test_bot.py": {"passed": 1, "failed": 1}, "deepeval": {"passed": 1}}


def test_evals_of_braintrust(reader: Project) -> None:
    use_python(reader, "braintrust", test_braintrust.REQUIREMENTS)
    data = '[{"input": "a", "expected": "A"}, {"input": "b", "expected": "C"}]'
    reader.write(
        "evals/eval_bot.py",
        "from braintrust import Eval\n"
        "def same(input, output, expected): return float(output == expected)\n"
        f'Eval("bot", data=lambda: {data}, task=lambda input: input.upper(), scores=[same])\n',
    )
    assert run(reader) == {"bot": {"scored": 2}}


def test_evals_of_promptfoo(reader: Project) -> None:
    modules = use_node(reader, "promptfoo", test_promptfoo.PACKAGES, version=test_promptfoo.NODE, optional=False)
    (reader.folder / "node_modules").symlink_to(modules)
    quiet = ("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "NODE_NO_WARNINGS")
    reader.environment |= dict.fromkeys(quiet, "1")
    reader.environment["PROMPTFOO_CONFIG_DIR"] = str(reader.folder.parent / "promptfoo")
    test = "  - vars: {{ question: {0} }}\n    assert: [{{ type: contains, value: open }}]\n"
    reader.write(
        "web/promptfooconfig.yaml",
        "description: bot\nprompts: ['{{question}}']\nproviders: [echo]\ntests:\n"
        + test.format("open?")
        + test.format("closed?"),
    )
    assert run(reader) == {"bot": {"passed": 1, "failed": 1}}


def test_evals_of_evalite(reader: Project) -> None:
    modules = use_node(reader, "evalite", test_evalite.PACKAGES, version=test_evalite.NODE)
    (reader.folder / "node_modules").symlink_to(modules)
    reader.write("package.json", '{"type": "module"}')
    reader.write(
        "evalite.config.ts",
        'import { defineConfig } from "evalite/config";\n'
        'import { createInMemoryStorage } from "evalite/in-memory-storage";\n'
        "export default defineConfig({ storage: () => createInMemoryStorage() });\n",
    )
    reader.write(
        "bot.eval.ts",
        'import { evalite } from "evalite";\n'
        'evalite("bot", {\n'
        '  data: [{ input: "a", expected: "A" }, { input: "b", expected: "C" }],\n'
        "  task: async (input) => input.toUpperCase(),\n"
        '  scorers: [{ name: "same", scorer: ({ output, expected }) => (output === expected ? 1 : 0) }],\n'
        "});\n",
    )
    assert run(reader) == {"bot": {"scored": 2}}
