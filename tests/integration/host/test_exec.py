"""`scoregate exec`: any command as the source of suites, and every way in which it can fail to be one."""

from __future__ import annotations

import signal
import sys
import time

import pytest
from junitparser import JUnitXml
from tests.fakes import runner
from tests.integration.host.conftest import Project, Ran, suite
from tests.integration.host.foreign import CLIENT, foreign
from tests.integration.host.test_crashes import wait_for

PYTHON = ("--", sys.executable, "run.py")


def run(project: Project, *arguments: str, **environment: str) -> Ran:
    return project.scoregate("exec", *arguments, *PYTHON, **environment)


def test_a_suite_of_another_sdk_has_the_same_pipeline(project: Project) -> None:
    foreign(project, "suite(good=3)")
    outcome = run(project, "-m", "my first run")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 3}
    assert outcome.run["message"] == outcome.result["run"]["message"] == "my first run"
    assert "my first run" in outcome.comment.splitlines()[1]
    junit = JUnitXml.fromfile(str(outcome.out / "junit.xml"))
    assert (junit.name, junit.failures, junit.errors) == ("scoregate: my first run", 0, 0)
    assert "file=" not in (outcome.out / "junit.xml").read_text()
    assert [each["file"] for each in outcome.result["suites"]] == [None]
    assert "theirs: 3 cases, 3 passed, is-good 1.000" in outcome.output
    assert "Reports: scoregate-out/" in outcome.output.splitlines()[-1]
    (script,) = outcome.run["scripts"]
    assert script["exit_code"] == 0
    assert script["name"].startswith("python")
    assert script["name"].endswith("run.py")


def test_a_case_below_its_threshold_fails(project: Project) -> None:
    foreign(project, "suite(good=3, bad=1)")
    outcome = run(project)
    assert outcome.exit_code == 1
    assert "bad 0" in outcome.output


def test_runs_are_compared(project: Project) -> None:
    foreign(project, "suite(good=12)")
    assert run(project, "--out", "before").exit_code == 0
    foreign(project, "one = Suite('theirs')\nfor i in range(12):\n    one.case(f'good {i}', 0.6)\none.end()")
    outcome = run(project, "--baseline", "before", "--fail-on-regression")
    assert outcome.exit_code == 1, outcome.output
    assert [row["label"] for row in outcome.result["rows"]] == ["worse"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('nothing to say')", "ended without a call of evaluate"),
        ("Suite('theirs').case('good 0')", "didn't finish"),
        ("Suite('theirs').end()", "0 cases"),
        ("one = Suite('theirs')\none.say('/results', testCaseHash='a', testCaseBody={})\none.end()", "0 evaluations"),
        ("post('/errors', {'testExternalId': 'theirs', 'error': {'name': 'AssertionError', 'message': 'no cases'}})",
         "no cases"),
        ("suite()\nassert post('/start', b'no json')[0] == 400", "POST /start"),
        ("suite()\nassert post('/results', {'testExternalId': 'theirs'})[0] == 400", "POST /results"),
        ("suite()\npost('/errors', {'testExternalId': 'theirs', 'error': {'name': 'E', 'message': 'late'}})", "late"),
        ("one = Suite('theirs')\none.case('a')\none.error('b')\none.end()", "Too many errors"),
        ("one = Suite('theirs')\none.case('a')\none.error('a', 'other')\none.end()", "Too many errors"),
        ("suite()\nimport sys\nsys.exit(7)", "exit code 7"),
        ("suite()\nraise RuntimeError('afterwards')", "exit code 1"),
        ("one = Suite('theirs')\none.case('a')\nimport os\nos.kill(os.getpid(), 9)", "SIGKILL"),
        ("suite()\nimport os\nos._exit(3)", "exit code 3"),
    ],
    ids=["silent", "unfinished", "no cases", "no evaluations", "invalid", "no json", "refused", "suite error",
         "case error", "evaluator error", "exit code", "raises", "killed", "leaves"],
)  # fmt: skip
def test_no_unmeasured_suite_is_green(project: Project, body: str, message: str) -> None:
    foreign(project, body)
    outcome = run(project)
    assert outcome.exit_code == 3, outcome.output
    assert message in outcome.output
    if "sys.exit(7)" in body:
        assert outcome.run["scripts"][0]["exit_code"] == 7


def test_errors_outside_suites_keep_the_base_usable(project: Project) -> None:
    foreign(project, "suite()\nassert post('/nope', {})[0] == 404\nassert post('/nothing', {})[0] == 404")
    before = run(project, "--out", "before")
    assert before.exit_code == 3, before.output
    assert "POST /nope: there is no such call" in before.output
    foreign(project, "suite()")
    outcome = run(project, "--baseline", "before")
    assert outcome.exit_code == 0, outcome.output
    assert [each["id"] for each in outcome.run["suites"]] == ["theirs"]


def test_a_few_errors_are_allowed_and_counted(project: Project) -> None:
    body = "one = Suite('theirs')\nfor i in range(39):\n    one.case(f'good {i}')\none.error('bad')\none.end()"
    foreign(project, body)
    outcome = run(project)
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 39, "errored": 1}


def test_a_filter_that_matches_nothing_is_never_green(project: Project) -> None:
    foreign(project, "suite()")
    outcome = run(project, "--suite", "other*")
    assert outcome.exit_code == 3
    assert "A filter matches no suite" in outcome.output
    assert "the filter other* matched none of theirs" in outcome.output


def test_one_filter_without_matches_is_never_green(project: Project) -> None:
    foreign(project, "suite('ours')\nsuite('theirs')")
    outcome = run(project, "--suite", "our*", "--suite", "typo*")
    assert outcome.exit_code == 3, outcome.output
    findings = [finding["value"] for finding in outcome.result["findings"] if finding["rule"] == "filters match"]
    assert findings == ["the filter typo* matched none of ours, theirs"]


def test_a_filter_drops_suites_that_the_sdk_runs(project: Project) -> None:
    foreign(project, "suite('ours', good=1)\nsuite('theirs', bad=1)")
    outcome = run(project, "--suite", "our*")
    assert outcome.exit_code == 0, outcome.output
    assert [each["id"] for each in outcome.run["suites"]] == ["ours"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command"),
        (["--"], "no command"),
        (["--", "npx tsx run.ts"], "sh -c"),
        (["--import", "nose:x.json", "--", "true"], "error: --import: 'nose:x.json' must be FORMAT:FILE"),
        (["--repeat", "3", "--", "true"], "--repeats"),
    ],
)
def test_invalid_usage_is_explained(project: Project, words: list[str], message: str) -> None:
    outcome = project.scoregate("exec", *words)
    assert outcome.exit_code == 2
    assert message in outcome.output
    assert not outcome.out.exists()


def test_a_missing_program_is_an_error(project: Project) -> None:
    outcome = project.scoregate("exec", "--", "no-such-program", "x")
    assert outcome.exit_code == 3
    assert "can't start 'no-such-program'" in outcome.output


def test_the_command_runs_in_the_users_folder(project: Project) -> None:
    foreign(project, "suite()")
    project.write("deep/here.txt", "")
    project.write("deep/run.sh", f"test -f here.txt && PYTHONPATH=.. {sys.executable} ../run.py\n")
    deep = Project.__new__(Project)
    deep.root = project.root / "deep"
    outcome = project.finish(deep.start("exec", "--", "sh", "run.sh"))
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 3}


def test_options_of_the_command_are_its_own(project: Project) -> None:
    foreign(project, "import sys\nassert sys.argv[1:] == ['-m', 'theirs', '--suite', 'x'], sys.argv\nsuite()")
    outcome = project.scoregate("exec", "-m", "ours", sys.executable, "run.py", "-m", "theirs", "--suite", "x")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.run["message"] == "ours"


def test_one_process_can_use_both_sdks(project: Project) -> None:
    foreign(project, f"suite('theirs')\n{suite()}")
    outcome = run(project)
    assert outcome.exit_code == 0, outcome.output
    assert sorted(each["id"] for each in outcome.run["suites"]) == ["demo", "theirs"]


def test_grid_combinations_are_separate_runs(project: Project) -> None:
    body = (
        "grid = post('/grids', {'gridSearchParams': {'model': ['a', 'b']}})['id']\n"
        "for model in 'ab':\n"
        "    one = Suite('theirs', gridSearchRunGroupId=grid, gridSearchParamsCombo={'model': model})\n"
        "    one.case('x', 1 if model == 'a' else 0)\n"
        "    one.end()\n"
    )
    foreign(project, body)
    outcome = run(project)
    assert outcome.exit_code == 1
    assert [each["label"] for each in outcome.run["suites"]] == ["theirs [model=a]", "theirs [model=b]"]


def test_command_output_contains_no_ci_commands(project: Project) -> None:
    hostile = "::error::boo\\r::set-output name=a::b\\nx ##[group]y\\x1b[31m"
    foreign(project, f"print('{hostile}')\nsuite('::warning::boo\\r\\n::error::x')")
    outcome = run(project, "-m", "::notice::z", GITHUB_ACTIONS="true")
    commands = runner.parse_commands(outcome.output)
    assert [each for each in commands if "boo" in each.message or each.name != "notice"] == []
    assert "\x1b" not in outcome.output
    assert "boo" in outcome.output


def test_command_output_is_shown_unchanged(project: Project) -> None:
    foreign(project, f"print('  indented')\nprint({'x ' * 100!r})\nsuite()")
    outcome = run(project)
    assert f"  |   indented\n  | {'x ' * 100}\n" in outcome.output


def test_an_interrupted_command_keeps_its_events(project: Project) -> None:
    body = "one = Suite('theirs')\none.case('a')\nopen('ready', 'w').write('x')\nimport time\ntime.sleep(300)"
    foreign(project, body)
    for number in (signal.SIGINT, signal.SIGTERM):
        (project.root / "ready").unlink(missing_ok=True)
        process = project.start("exec", *PYTHON)
        wait_for(project.root / "ready")
        time.sleep(0.2)
        process.send_signal(number)
        outcome = project.finish(process)
        assert outcome.exit_code == 130, outcome.output
        assert outcome.run["complete"] is False
        assert outcome.statuses == {"passed": 1}
        assert "run.py: it was stopped before its end" in outcome.output
        assert "did not start" not in outcome.output


def test_a_setting_that_another_sdk_ignores_is_noticed(project: Project) -> None:
    foreign(project, "suite()")
    outcome = run(project, "--repeats", "3")
    assert outcome.exit_code == 0, outcome.output
    assert [notice for notice in outcome.run["notices"] if "`repeats`" in notice]


def test_commands_in_the_settings_run_too(project: Project) -> None:
    foreign(project, "suite()")
    project.write("scoregate.toml", f'[[commands]]\nname = "theirs"\nrun = ["{sys.executable}", "run.py"]\n')
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 3}


def test_without_another_sdk_there_is_no_server(project: Project) -> None:
    project.write("evals/demo.py", suite())
    outcome = project.run_process("run", PYTHONPROFILEIMPORTTIME="1")
    assert outcome.exit_code == 0
    assert "scoregate.kernel.run.launch" in outcome.output
    assert "starlette" not in outcome.output


STAND_IN = """
import client


def run_test_suite(id, **_):
    client.suite(id)
"""


def test_a_python_file_that_imports_the_other_sdk_is_found_and_run(project: Project) -> None:
    project.write("client.py", CLIENT)
    project.write("autoblocks/testing/run.py", STAND_IN)
    theirs = "from autoblocks.testing.run import run_test_suite\n\nrun_test_suite(id='theirs')\n"
    project.write("evals/theirs.py", theirs)
    project.write("evals/both.py", f"{suite()}\n{theirs.replace('theirs', 'more')}")
    project.write("evals/later.py", theirs.replace("testing.run", "testing.v2.run"))
    outcome = project.scoregate("list")
    assert outcome.exit_code == 0, outcome.output
    assert "evals/theirs.py:3 [python] theirs (in evals/, starts a suite of Autoblocks at line 3)" in outcome.output
    assert "note: evals/later.py was skipped" in outcome.output
    run_outcome = project.scoregate("run")
    assert run_outcome.exit_code == 0, run_outcome.output
    assert sorted(each["id"] for each in run_outcome.run["suites"]) == ["demo", "more", "theirs"]
    assert [notice for notice in run_outcome.run["notices"] if "version 2" in notice]
    origins = {each["id"]: each["origin"] and each["origin"]["file"] for each in run_outcome.run["suites"]}
    assert origins == {"demo": "evals/both.py", "more": "evals/both.py", "theirs": "evals/theirs.py"}


def test_a_missing_pytest_is_named(project: Project) -> None:
    code = "import sys; sys.exit(sys.executable + ': No module named pytest')"
    outcome = project.scoregate("exec", "--", sys.executable, "-c", code)
    assert outcome.exit_code == 3
    assert "Install pytest" in outcome.output


def test_a_missing_sdk_is_named_with_its_file(project: Project) -> None:
    project.write("evals/theirs.py", "from autoblocks.testing.run import run_test_suite\nrun_test_suite(id='theirs')\n")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "Install autoblocksai" in outcome.output
