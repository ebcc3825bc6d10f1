"""The commands of failed gates and of cases, run as a shell runs them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
from tests.integration.host.conftest import Project, project

from scoregate.cli.mcp_command import Questions
from scoregate.kernel.report.answers import describe_verdict, rerun_command
from scoregate.kernel.report.reproduction import quote_keyword
from scoregate.kernel.types.selection import parse_keywords

__all__ = ["project"]

SUITE = """
from scoregate import evaluate

cases = [{"id": f"it's {n}", "input": n} for n in range(12)]
evaluate("tone [a]", data=cases, task=lambda input: input, scorers=[low])
"""
SCORER = "def low(output):\n    return 0.5 if output == 3 else 0.9\n"
REPORT = """
open("r.xml", "w").write(
    '<testsuite name="unit"><testcase classname="c" name="a &quot;b&quot; and it\\'s"><failure/></testcase>'
    '<testcase classname="c" name="other"/></testsuite>'
)
raise SystemExit(1)
"""


def next_commands(project: Project) -> dict[str, str]:
    result = json.loads((project.root / "scoregate-out/result.json").read_text("utf-8"))
    return {each["rule"]: each["next"] for each in result["findings"] if each["next"]}


def run_in_shell(project: Project, line: str) -> tuple[int, str]:
    """The exit code and the output of a command line, with the scoregate of this environment."""
    paths = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    process = subprocess.run(
        ["sh", "-c", line],
        cwd=project.root,
        env={"PATH": paths, "HOME": str(project.root), "SCOREGATE_BASELINE": "none"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return process.returncode, process.stdout + process.stderr


def rerun_lines(project: Project) -> dict[str, str]:
    """The command of each case, by its name."""

    async def ask() -> dict[str, str]:
        return json.loads(
            await Questions(project.root).answer(
                lambda view: {
                    case.name: rerun_command(view, view.suites[case.suite].label, case.hash)
                    for case in view.trials.read()
                }
            )
        )

    return anyio.run(ask)


def ran_cases(project: Project) -> int:
    run: Any = json.loads((project.root / "scoregate-out/run/run.json").read_text("utf-8"))
    return sum(suite["cases"] for suite in run["suites"])


def test_limits_and_files_of_a_run_are_in_the_command(project: Project) -> None:
    project.write("special/check.py", SCORER + SUITE)
    outcome = project.scoregate("run", "special/check.py", "--baseline", "none", SCOREGATE_MIN_SCORE='{"low": 0.95}')
    assert outcome.exit_code == 1, outcome.output
    line = next_commands(project)["mean score"]
    assert line.startswith("SCOREGATE_MIN_SCORE='{\"low\": 0.95}' scoregate run special/check.py --suite")
    code, output = run_in_shell(project, line)
    assert code == 1, output
    assert next_commands(project)["mean score"] == line
    case = rerun_lines(project)["it's 3"]
    assert case == shlex.join(["scoregate", "run", "special/check.py::tone [a]::it's 3"])
    assert run_in_shell(project, case)[0] == 0
    assert ran_cases(project) == 1


def test_later_answers_and_reports_know_the_limits_of_the_run(project: Project) -> None:
    project.write("evals/check.py", SCORER + SUITE)
    outcome = project.scoregate("run", "--baseline", "none", SCOREGATE_MIN_SCORE='{"low": 0.95}')
    assert outcome.exit_code == 1, outcome.output
    verdict = json.loads(anyio.run(Questions(project.root).answer, describe_verdict))
    assert (verdict["conclusion"], verdict["failed_gates"][0]["set_by"]) == ("failed", "SCOREGATE_MIN_SCORE")
    assert verdict["failed_gates"][0]["next"].startswith("SCOREGATE_MIN_SCORE=")
    report = project.scoregate("report", "--json")
    assert (report.exit_code, '"set_by"' in report.output or "SCOREGATE_MIN_SCORE" in report.output) == (0, True)
    record = project.root / "scoregate-out/run/run.json"
    damaged = json.loads(record.read_text("utf-8"))
    damaged["policy"]["default"]["min_score"] = {"low": "much"}
    record.write_text(json.dumps(damaged), "utf-8")
    invalid = project.scoregate("report", "--json")
    assert invalid.exit_code == 2, invalid.output
    assert "the limits in the record of the run are not valid" in invalid.output


def test_a_helper_and_a_result_file_that_name_other_files_are_not_run(project: Project) -> None:
    project.write("evals/common.py", f"{SCORER}\ndef measure():\n    " + SUITE.strip().replace("\n", "\n    "))
    project.write("evals/eval_tone.py", "from common import measure\nmeasure()\n")
    report = {"results": {"tool": {"name": "t"}, "tests": [
        {"name": "one two", "status": "passed", "suite": ["web"], "filePath": "src/a.test.ts"},
        {"name": "three", "status": "passed", "suite": ["web"], "filePath": "src/a.test.ts"},
    ]}}  # fmt: skip
    project.write("make.py", f"import json\njson.dump({report!r}, open('r.json', 'w'))\n")
    project.write("scoregate.toml", """
[[commands]]
name = "make.py"
run = ["python", "make.py"]
imports = ["ctrf:r.json"]
""")  # fmt: skip
    outcome = project.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    lines = rerun_lines(project)
    assert lines["it's 3"].startswith("scoregate run 'evals/eval_tone.py::tone [a]::")
    assert lines["one two"] == "scoregate run --suite web -k '\"one two\"'"
    for name in ("it's 3", "one two"):
        code, output = run_in_shell(project, lines[name])
        assert (code, ran_cases(project)) == (0, 1), output


def test_a_table_of_tests_is_named_by_its_file(project: Project) -> None:
    project.write(
        "other/shop.csv", "prompt_content,category,topic,behavior,expected_response\nHow long?,a,b,c,30 days\n"
    )
    project.write("other/shop.toml", '[testset]\nname = "shop"\n\n[endpoint]\nurl = "http://127.0.0.1:9/x"\n')
    outcome = project.scoregate("run", "other/shop.toml", "--baseline", "none", OPENAI_API_KEY="no-key-at-all")
    assert outcome.exit_code == 3, outcome.output
    assert next_commands(project)["cases were evaluated"] == "scoregate run other/shop.toml --suite shop"
    (case,) = rerun_lines(project).values()
    assert case.startswith("scoregate run other/shop.toml::shop::")


def test_a_run_of_exec_is_repeated_by_exec(project: Project) -> None:
    project.write("web/report.py", REPORT)
    code, output = run_in_shell(project, "cd web && scoregate exec --junit r.xml -- python report.py")
    assert code == 1, output
    line = next_commands(project)["pass rate"]
    assert line.startswith("cd web && scoregate exec --junit r.xml --suite unit -- ")
    assert run_in_shell(project, line)[0] == 1
    assert next_commands(project) == {"pass rate": line}
    assert run_in_shell(project, rerun_lines(project)["c::other"])[0] == 1


def test_any_name_can_be_asked_for_by_a_keyword() -> None:
    for name in ("a and b", "it's", 'say "no"', 'it\'s "no" (not) or', '"\'"'):
        matches = parse_keywords(quote_keyword(name))
        assert matches([name]), name
        assert not matches(["other"]), name
