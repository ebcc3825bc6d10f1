"""Real frameworks in Python: a row that is inserted causes no newly failing case, and a regression is found."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

from tests.docs.project import Project
from tests.integration.frameworks.runs import HEAD, RUN_BRAINTRUST, Rows, check_inserted_row, execute
from tests.integration.migrate.environments import use_python
from tests.integration.migrate.test_braintrust import REQUIREMENTS as BRAINTRUST
from tests.integration.migrate.test_deepeval import REQUIREMENTS as DEEPEVAL
from tests.integration.migrate.test_pydantic_evals import REQUIREMENTS as PYDANTIC_EVALS

INSPECT = ("inspect-ai==0.3.285",)
LANGSMITH = ("langsmith==0.15.1", "pytest==9.2.0", "rapidfuzz==3.*")
EXIT_ONE_IS_A_FAILED_TEST = "test $? -le 1"


def write_pytest(project: Project, rows: Rows) -> list[str]:
    cases = [(question, "yes" if passes else "no") for question, passes in rows]
    ids = [f"case{number}" for number in range(len(cases))]
    project.write(
        "test_bot.py",
        "import pytest\n"
        f"@pytest.mark.parametrize('question, answer', {cases!r}, ids={ids!r})\n"
        "def test_answer(question, answer, record_property):\n"
        "    record_property('input', question)\n"
        "    assert answer == 'yes'\n",
    )
    command = f"python -m pytest -q -p no:cacheprovider --junitxml results.xml test_bot.py; {EXIT_ONE_IS_A_FAILED_TEST}"
    return ["--junit", "results.xml", "--", "sh", "-c", command]


def test_pytest(project: Project) -> None:
    check_inserted_row(project, write_pytest, evaluator="passed")


def write_deepeval(project: Project, rows: Rows) -> list[str]:
    project.write(
        "bot.py",
        "from deepeval import evaluate\n"
        "from deepeval.metrics import ExactMatchMetric\n"
        "from deepeval.test_case import LLMTestCase\n"
        f"rows = {rows!r}\n"
        "evaluate([\n"
        "    LLMTestCase(input=question, actual_output='yes' if passes else 'no', expected_output='yes')\n"
        "    for question, passes in rows\n"
        "], [ExactMatchMetric()])\n",
    )
    return ["--import", "deepeval:.deepeval/.latest_run_full.json", "--", "python", "bot.py"]


def test_deepeval(project: Project) -> None:
    use_python(project, "deepeval", DEEPEVAL)
    project.environment["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    check_inserted_row(project, write_deepeval, evaluator="Exact Match")


def write_inspect(project: Project, rows: Rows) -> list[str]:
    project.write(
        "bot.py",
        "from inspect_ai import Task, task\n"
        "from inspect_ai.dataset import Sample\n"
        "from inspect_ai.model import ModelOutput\n"
        "from inspect_ai.scorer import match\n"
        "from inspect_ai.solver import solver\n"
        "@solver\n"
        "def answer():\n"
        "    async def solve(state, generate):\n"
        "        state.output = ModelOutput.from_content('mockllm/model', state.metadata['answer'])\n"
        "        return state\n"
        "    return solve\n"
        "@task\n"
        "def capitals():\n"
        f"    rows = {rows!r}\n"
        "    samples = [Sample(input=question, target='yes', metadata={'answer': 'yes' if passes else 'no'})\n"
        "               for question, passes in rows]\n"
        "    return Task(dataset=samples, solver=answer(), scorer=match())\n",
    )
    command = ["inspect", "eval", "bot.py", "--model", "mockllm/model", "--log-dir", "logs", "--display", "none"]
    return ["--import", "inspect:logs/*.eval", "--", *command]


def test_inspect_ai(project: Project) -> None:
    use_python(project, "inspect", INSPECT)
    check_inserted_row(project, write_inspect, evaluator="match", fails=False)


def write_pydantic_evals(project: Project, rows: Rows) -> list[str]:
    answers = {question: "yes" if passes else "no" for question, passes in rows}
    project.write(
        "bot.py",
        "from pathlib import Path\n"
        "from pydantic_evals import Case, Dataset\n"
        "from pydantic_evals.evaluators import EqualsExpected\n"
        "from pydantic_evals.reporting import EvaluationReportAdapter\n"
        f"ANSWERS = {json.dumps(answers)}\n"
        "def answer(question): return ANSWERS[question]\n"
        "cases = [Case(inputs=question, expected_output='yes') for question in ANSWERS]\n"
        "dataset = Dataset(name='capitals', cases=cases, evaluators=[EqualsExpected()])\n"
        "report = dataset.evaluate_sync(answer, progress=False)\n"
        "Path('report.json').write_bytes(EvaluationReportAdapter.dump_json(report))\n",
    )
    return ["--import", "pydantic-evals:report.json", "--", "python", "bot.py"]


def test_pydantic_evals(project: Project) -> None:
    use_python(project, "pydantic-evals", PYDANTIC_EVALS)
    check_inserted_row(project, write_pydantic_evals, evaluator="EqualsExpected")


def write_braintrust(project: Project, rows: Rows) -> list[str]:
    reporter = (files("scoregate.cli") / "starter/scoregate_reporter.py.txt").read_text("utf-8")
    project.write("scoregate_reporter.py", reporter)
    data = [{"input": question, "expected": "yes"} for question, _ in rows]
    invalid = [question for question, passes in rows if not passes]
    project.write(
        "eval_bot.py",
        "from braintrust import Eval\n"
        "def same(input, output, expected): return float(output == expected)\n"
        f"def answer(question): return 'no' if question in {invalid!r} else 'yes'\n"
        f'Eval("capitals", data=lambda: {data!r}, task=answer, scores=[same])\n',
    )
    return ["--", "braintrust", *RUN_BRAINTRUST, "eval_bot.py", "scoregate_reporter.py"]


def test_braintrust(project: Project) -> None:
    use_python(project, "braintrust", BRAINTRUST)
    check_inserted_row(project, write_braintrust, evaluator="same", fails=False)
    project.write("eval_broken.py", "import nothing_here\n")
    outcome = execute(project, [*write_braintrust(project, HEAD), "eval_broken.py"], baseline="none", out="broken")
    assert (outcome.returncode, "nothing_here" in outcome.stdout) == (3, True), outcome.stdout


def write_langsmith(project: Project, rows: Rows) -> list[str]:
    data = [{"question": question} for question, _ in rows]
    invalid = [question for question, passes in rows if not passes]
    project.write(
        "test_bot.py",
        "import pytest\n"
        "from langsmith import testing as t\n"
        "@pytest.mark.langsmith(test_suite_name='capitals')\n"
        f"@pytest.mark.parametrize('row', {data!r})\n"
        "def test_answer(row):\n"
        f"    answer = 'no' if row['question'] in {invalid!r} else 'yes'\n"
        "    t.log_inputs({'question': row['question']})\n"
        "    t.log_outputs({'answer': answer})\n"
        "    t.log_feedback(key='yes', score=float(answer == 'yes'))\n"
        "    assert answer == 'yes'\n",
    )
    return ["--", "pytest", "-q", "-p", "no:cacheprovider", "test_bot.py"]


def use_langsmith(project: Project) -> None:
    use_python(project, "langsmith", LANGSMITH)
    # Without an account, and without a network.
    offline = {"LANGSMITH_TEST_TRACKING": "false", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9"}
    project.environment |= {"PYTEST_PLUGINS": "scoregate.pytest_plugin", **offline}


def test_langsmith(project: Project) -> None:
    use_langsmith(project)
    check_inserted_row(project, write_langsmith, evaluator="passed")


def test_everything_that_a_test_logs_with_langsmith_is_recorded(project: Project) -> None:
    use_langsmith(project)
    project.write("evals/conftest.py", "from langsmith.testing import log_outputs\n")
    project.write(
        "evals/test_bot.py",
        "import pytest\n"
        "from langsmith import expect, testing as t\n"
        "from langsmith.testing import log_feedback\n"
        "from conftest import log_outputs\n"
        "@pytest.mark.langsmith(output_keys=['expected'], repetitions=2)\n"
        "@pytest.mark.parametrize('question, expected', [('When?', 'nine')])\n"
        "def test_hours(question, expected):\n"
        "    t.log_inputs({'user': 'a'})\n"
        "    log_outputs({'answer': 'at nine'})\n"
        "    t.log_reference_outputs({'tone': 'warm'})\n"
        "    with t.trace_feedback():\n"
        "        t.log_feedback(key='judge', score=0.75, comment='polite')\n"
        "    log_feedback(key='stars', score=4)\n"
        "    log_feedback(key='brief', score=False)\n"
        "    log_feedback(key='brief', score=True)\n"
        "    log_feedback(key='passed', score=1)\n"
        "    log_feedback(key='tone', value='cold')\n"
        "    log_feedback(key='odd', score='high')\n"
        "    log_feedback(key='nothing')\n"
        "    expect.score(0.5, key='similar').to_be_greater_than(0.1)\n"
        "    expect.edit_distance('a', 'b')\n"
        "    assert expected in 'at nine'\n"
        "def test_plain(): ...\n",
    )
    project.write("scoregate.toml", "[evaluators.stars]\nscale = [1, 5]\n")
    outcome = project.run(["scoregate", "run", "--baseline", "none", "--out", "out"])
    with gzip.open(project.folder / "out" / "run" / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        first, second = map(json.loads, lines)
    assert (first["name"], second["repeat"]) == ("test_hours[When?-nine]", 1)
    assert first["input"] == {
        "input": {"question": "When?", "user": "a"},
        "expected": {"expected": "nine", "tone": "warm"},
    }
    assert first["output"] == {"answer": "at nine"}
    scores = {name: each.get("score") for name, each in first["evaluations"].items()}
    assert scores == {
        "passed": 1.0,
        "judge": 0.75,
        "stars": 0.75,
        "brief": 0.0,
        "brief #2": 1.0,
        "passed #2": 1.0,
        "similar": 0.5,
        "edit_distance": 1.0,
    }
    assert first["labels"]["tone"]["label"] == "cold"
    assert "'high', no number" in json.dumps(first)
    assert outcome.returncode == 3, outcome.stdout  # `odd` is an error
