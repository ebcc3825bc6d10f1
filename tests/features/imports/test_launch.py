"""Commands whose result files are read when they have ended: what is recorded, and that nothing is green by mistake."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest
from tests.features.imports.files import DATA, FORMATS, raw
from tests.integration.host.conftest import Project, Ran, project

from scoregate.features.imports.reader import Reader
from scoregate.features.imports.result_files import ResultFiles
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.run.plan import Launch, ResultImport, SourceKind, SuiteSource

__all__ = ["project"]


def command(project: Project, run: str, *, junit: str = "", imports: str = "") -> None:
    """A command of the settings, run by a shell."""
    files = "".join(f"{key} = {json.dumps(value.split())}\n" for key, value in (("junit", junit), ("imports", imports)))
    text = f'[[tool.scoregate.commands]]\nname = "others"\nrun = {json.dumps(["sh", "-c", run])}\n{files}'
    project.write("pyproject.toml", text)


def copying(name: str, target: str) -> str:
    return f"cp {DATA / name} {target}"


def means(ran: Ran) -> dict[tuple[str, str], float]:
    return {(row["suite"], row["evaluator"]): row["mean"] for row in ran.result["rows"]}


@pytest.mark.parametrize("name", sorted(name for name in FORMATS if not name.startswith(("junit", "rows"))))
def test_files_of_a_configured_command_are_recorded(project: Project, name: str) -> None:
    command(project, copying(name, "out"), imports=f"{FORMATS[name]}:out")
    outcome = project.scoregate("run")
    assert outcome.result["totals"]["cases"] > 0, outcome.output
    assert all(suite["complete"] for suite in outcome.run["suites"])


def test_what_a_file_says_about_its_counts_is_a_notice(project: Project) -> None:
    command(project, copying("junit-pytest-subtests.xml", "out"), junit="out")
    outcome = project.scoregate("run")
    notice = "out: <testsuite> 'pytest' counts 14 tests and holds 4: pytest counts passed subtests"
    assert [each for each in outcome.result["notices"] if "subtests" in each] == [f"others: {notice}"], outcome.output


def test_rows_are_recorded_with_the_columns_of_the_settings_and_of_the_command_line(project: Project) -> None:
    columns = 'scores = ["exact_match", "*_similarity"]\ninput = "user_input"\nexpected = "reference"\n'
    command(project, copying("rows-ragas.csv", "r.csv"), imports="rows:r.csv")
    settings = (project.root / "pyproject.toml").read_text("utf-8")
    project.write("pyproject.toml", f"{settings}[tool.scoregate.commands.rows]\n{columns}")
    expected = {
        ("r", "exact_match"): pytest.approx(1 / 3),
        ("r", "non_llm_string_similarity"): pytest.approx(0.41 / 0.9),
    }
    outcome = project.scoregate("run")
    assert means(outcome) == expected, outcome.output
    options = ["--rows", "scores=exact_match", "--rows", "scores=*_similarity", "--rows", "input=user_input"]
    copy = copying("rows-ragas.csv", "r.csv").split()
    second = project.scoregate("exec", "--import", "rows:r.csv", *options, "--", *copy)
    assert means(second) == expected, second.output
    for option, message in {"score=x": "must be KEY=COLUMN", "scores=": "must be KEY=COLUMN"}.items():
        refusal = project.scoregate("exec", "--import", "rows:r.csv", "--rows", option, "--", "true")
        assert (refusal.exit_code, message in refusal.output) == (2, True), refusal.output
    unnamed = project.scoregate("exec", "--import", "rows:r.csv", "--", *copy)
    assert unnamed.exit_code == 3
    assert "columns of numbers or verdicts: reference, exact_match, non_llm_string_similarity" in " ".join(
        unnamed.output.split()
    ), unnamed.output
    assert "--rows scores=NAME" in " ".join(unnamed.output.split())


def test_the_scores_equal_those_of_the_framework(project: Project) -> None:
    command(
        project,
        " && ".join([copying("deepeval.json", "d.json"), copying("inspect.eval", "i.eval")]),
        imports="deepeval:d.json inspect:i.eval",
    )
    outcome = project.scoregate("run")
    scores = {evaluator: mean for (_, evaluator), mean in means(outcome).items()}
    for metric in raw("deepeval.json")["metricsScores"]:
        assert scores[metric["metric"]] == pytest.approx(sum(metric["scores"]) / len(metric["scores"]))
    for score in raw("inspect.json")["results"]["scores"]:
        reported = score["metrics"].get("accuracy") or score["metrics"]["mean"]
        if score["name"] in ("match", "brevity"):
            assert scores[score["name"]] == pytest.approx(reported["value"])


def test_exec_reads_the_named_files(project: Project) -> None:
    junit, deepeval = copying("junit-pytest.xml", "report.xml"), copying("deepeval-conversation.json", "d.json")
    arguments = ["--junit", "report.xml", "--junit-scores", "closeness", "--import", "deepeval:d.json"]
    outcome = project.scoregate("exec", *arguments, "--", "sh", "-c", f"{junit} && {deepeval}")
    assert outcome.exit_code == 1, outcome.output
    assert means(outcome)["pytest", "closeness"] == pytest.approx(0.575)
    assert means(outcome)["deepeval", "Turns"] == 1
    assert "another city" in outcome.comment


def test_a_green_file_is_green(project: Project) -> None:
    outcome = project.scoregate(
        "exec", "--import", "deepeval:d.json", "--", *copying("deepeval-conversation.json", "d.json").split()
    )
    assert outcome.exit_code == 0, outcome.output


def test_only_selected_suites_are_recorded(project: Project) -> None:
    command(project, copying("promptfoo.json", "p.json"), imports="promptfoo:p.json")
    outcome = project.scoregate("run", "--suite", "*provider=echo*", "--suite", "typo*")
    assert {suite["id"] for suite in outcome.run["suites"]} == {
        f"capitals [provider=echo, prompt={p}]" for p in ("json", "plain")
    }
    assert all("provider=echo" not in suite for suite in outcome.run["left_out"])
    assert outcome.run["left_out"]
    assert f"suite {outcome.run['left_out'][0]!r} is not recorded" in json.dumps(outcome.result["notices"])
    assert "the filter typo* matched none of capitals [provider=echo" in json.dumps(outcome.result["findings"])


def test_globs_and_folders_of_commands_work(project: Project) -> None:
    (project.root / "evals" / "logs").mkdir(parents=True)
    shutil.copy(DATA / "deepeval.json", project.root / "evals" / "logs" / "older.json")
    run = copying("deepeval-conversation.json", "logs/newer.json")
    table = f'name = "others"\ncwd = "evals"\nrun = "{run}"\nimports = ["deepeval:logs/*.json"]\n'
    project.write("pyproject.toml", f"[[tool.scoregate.commands]]\n{table}")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert [suite["id"] for suite in outcome.run["suites"]] == ["deepeval"]
    assert "1 older file is ignored" in json.dumps(outcome.result["notices"])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("true", "the command wrote no such file"),
        ("touch out.json", "not a JSON object"),
        ("echo '{\"testCases\": []}' > out.json", "it holds no case"),
        (f"cp {DATA / 'promptfoo.json'} out.json", "no `testCases`"),
        (f"head -c 2000 {DATA / 'deepeval.json'} > out.json", "it ends before it is complete"),
        ("mkdir out.json", "no such file"),
        ("mkfifo out.json", "no such file"),
    ],
)
def test_an_unreadable_file_is_never_green(project: Project, run: str, message: str) -> None:
    good = copying("deepeval-conversation.json", "good.json")
    command(project, f"{good} && {run}", imports="deepeval:good.json deepeval:out.json")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3, outcome.output
    assert message in json.dumps(outcome.result["errors"])
    assert "deepeval" in json.dumps(outcome.result["findings"])


def test_an_old_file_is_never_green(project: Project) -> None:
    shutil.copy(DATA / "deepeval-conversation.json", project.root / "out.json")
    command(project, "true", imports="deepeval:out.json")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "which is from before it ran" in json.dumps(outcome.result["errors"])


def test_rows_that_a_command_appends_are_a_notice(project: Project) -> None:
    options = ("--import", "rows:r.jsonl", "--rows", "scores=good", "--rows", "case=id", "--")
    append = ("sh", "-c", """echo '{"id": "'$NAME'", "good": true}' >> r.jsonl""")
    first = project.scoregate("exec", *options, *append, NAME="a")
    second = project.scoregate("exec", *options, *append, NAME="b")
    assert "begins with everything that it held before" not in first.output
    assert "'r.jsonl' begins with everything that it held before" in " ".join(second.output.split())
    write = ("sh", "-c", """echo '{"id": "a", "good": true, "run": 2}' > r.jsonl""")
    assert "begins with everything" not in project.scoregate("exec", *options, *write).output


def test_a_new_link_to_an_old_file_is_never_green(project: Project) -> None:
    (project.root / "runs/1").mkdir(parents=True)
    old = project.root / "runs/1/out.json"
    shutil.copy(DATA / "deepeval-conversation.json", old)
    while time.time_ns() - old.stat().st_ctime_ns < 200_000_000:
        time.sleep(0.05)
    command(project, "ln -s runs/1 latest", imports="deepeval:latest/out.json")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "which is from before it ran" in json.dumps(outcome.result["errors"])
    renewed = f"{copying('deepeval-conversation.json', 'runs/1/out.json')} && ln -sfn runs/1 latest"
    command(project, renewed, imports="deepeval:latest/out.json")
    assert project.scoregate("run").exit_code == 0


def test_a_file_of_two_patterns_is_read_once(project: Project) -> None:
    command(project, copying("junit-pytest.xml", "report.xml"), junit="report.xml *.xml ./report.xml")
    outcome = project.scoregate("run")
    assert [suite["label"] for suite in outcome.result["suites"]] == ["pytest"], outcome.output


def test_an_error_names_the_folder_of_a_missing_file(project: Project) -> None:
    command(project, "true", junit="report.xml")
    assert "relative to the folder in which the command runs: " in " ".join(project.scoregate("run").output.split())


def test_a_file_with_equal_content_is_new(project: Project) -> None:
    shutil.copy(DATA / "deepeval-conversation.json", project.root / "out.json")
    command(project, f"cp -p {DATA / 'deepeval-conversation.json'} out.json", imports="deepeval:out.json")
    assert project.scoregate("run").exit_code == 0


def test_skipped_tests_alone_are_never_green(project: Project) -> None:
    body = '<testsuite name="s"><testcase name="a"><skipped/></testcase></testsuite>'
    command(project, f"echo '{body}' > out.xml", junit="out.xml")
    assert project.scoregate("run").exit_code == 3


def test_a_failed_command_keeps_its_results(project: Project) -> None:
    command(project, f"{copying('junit-pytest.xml', 'out.xml')}; exit 100", junit="out.xml missing.xml")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 1
    assert {finding["rule"]: finding["conclusion"] for finding in outcome.result["findings"]}[
        "scripts end well"
    ] != "passed"
    assert "missing.xml" in json.dumps(outcome.result["notices"])


PYTEST_FILE = """
def test_good():
    pass

def test_bad():
    assert not "bad"
"""


def test_the_exit_code_of_a_test_runner_counts_only_if_its_file_explains_it(project: Project) -> None:
    project.write("test_answers.py", PYTEST_FILE)
    pytest_run = f"{sys.executable} -m pytest -q -p no:cacheprovider --junitxml out.xml test_answers.py"
    green, red = '<testcase name="a"/>', '<testcase name="a"/><testcase name="b"><failure>no</failure></testcase>'
    with_failure, without = (f"echo '<testsuite name=\"s\">{body}</testsuite>' > out.xml" for body in (red, green))
    promptfoo = copying("promptfoo.json", "out.json")
    cases: dict[str, tuple[str, str, str, int]] = {
        "pytest itself, with a failure": (pytest_run, "out.xml", "", 0),
        "1 with a failure": (f"{with_failure}; exit 1", "out.xml", "", 0),
        "1 without a failure": (f"{without}; exit 1", "out.xml", "", 3),
        "2 with a failure": (f"{with_failure}; exit 2", "out.xml", "", 3),
        "100 with a failure in JUnit": (f"{with_failure}; exit 100", "out.xml", "", 3),
        "100 of promptfoo": (f"{promptfoo}; exit 100", "", "promptfoo:out.json", 0),
        "1 of promptfoo": (f"{promptfoo}; exit 1", "", "promptfoo:out.json", 3),
        "another file is missing": (f"{with_failure}; exit 1", "out.xml missing.xml", "", 3),
        "a signal": (f"{with_failure}; kill -9 $$", "out.xml", "", 3),
    }
    for name, (run, junit, imports, expected) in cases.items():
        command(project, run, junit=junit, imports=imports)
        outcome = project.scoregate("run", "--min-pass-rate", "0", "--max-error-rate", "1", "--baseline", "none")
        assert outcome.exit_code == expected, (name, outcome.output)
        (script,) = outcome.run["scripts"]
        assert script.get("tests_failed", False) == (expected == 0), (name, script)
    command(project, f"{with_failure}; exit 1", junit="out.xml")
    assert project.scoregate("run", "--baseline", "none").exit_code == 1


def test_a_failed_command_shows_its_error_not_the_last_line(project: Project) -> None:
    node = [
        "throw new TypeError('no model')",
        "^",
        "",
        "TypeError: no model",
        "    at run.js:3:7",
        "",
        "Node.js v20.20.2",
    ]
    project.write("output.txt", "\n".join(node))
    outcome = project.scoregate("exec", "--", "sh", "-c", "cat output.txt; exit 1")
    assert outcome.exit_code == 3
    assert "exit code 1: TypeError: no model" in json.dumps(outcome.result["findings"])


def test_base_and_head_are_paired_case_by_case(project: Project) -> None:
    command(project, copying("junit-promptfoo.xml", "out.xml"), junit="out.xml")
    base = project.root.parent / "base-run"
    shutil.copytree(project.scoregate("run").out / "run", base)
    better = (DATA / "junit-promptfoo.xml").read_text(encoding="utf-8")
    better = better.replace('<failure message="Assertion failed" type="assertion">', "<system-out>").replace(
        "</failure>", "</system-out>"
    )
    better = re.sub(r'failures="\d+"', 'failures="0"', better)
    project.write("better.xml", better)
    command(project, "cp better.xml out.xml", junit="out.xml")
    outcome = project.scoregate("run", "--baseline", str(base))
    assert {(row["evaluator"], row["worse"], row["removed"]) for row in outcome.result["rows"]} == {("passed", 0, 0)}
    assert sum(row["better"] for row in outcome.result["rows"]) == 12
    assert len(outcome.result["newly_passing"]) == 12


def junit(failing: str = "") -> str:
    """A file of pytest's, which calls every suite alike."""
    failure = f"<failure>{failing}</failure>" if failing else ""
    cases = "".join(f'<testcase name="c{number}">{failure}</testcase>' for number in range(20))
    return f'<testsuites><testsuite name="pytest">{cases}</testsuite></testsuites>'


def test_a_file_is_compared_with_the_same_file(project: Project) -> None:
    for name in "abc":
        project.write(f"from/{name}.xml", junit("low" if name == "b" else ""))
    gates = "[tool.scoregate]\nmin_pass_rate = 0\n"
    for files, out in (("a c", "base"), ("a b c", "head")):
        if out == "head":
            project.write("from/c.xml", junit("dropped"))
        command(project, f"mkdir -p rp; for f in {files}; do cp from/$f.xml rp/; done", junit="rp/*.xml")
        settings = project.root / "pyproject.toml"
        settings.write_text(gates + settings.read_text(encoding="utf-8"), encoding="utf-8")
        base = ["--baseline", "base", "--fail-on-regression"] if out == "head" else []
        outcome = project.scoregate("run", "--out", out, *base)
        outcome.out = project.root / out
    assert [suite["label"] for suite in outcome.run["suites"]] == [f"rp/{name} / pytest" for name in "abc"]
    assert {row["suite"]: row["label"] for row in outcome.result["rows"]}["rp/c / pytest"] == "worse"
    assert outcome.exit_code == 1, outcome.output


def test_files_with_equal_suites_are_never_green(project: Project) -> None:
    run = " && ".join(copying("inspect.json", f"2026112{day}_10.json") for day in (1, 2))
    command(project, run, imports="inspect:*.json")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3, outcome.output
    assert "both hold a suite" in outcome.output


def test_a_file_named_twice_is_read_once(project: Project) -> None:
    command(project, f"echo '{junit()}' > out.xml", junit="out.xml *.xml")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 20}


@pytest.mark.anyio
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_a_link_to_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    source = SuiteSource("others", SourceKind.COMMAND, imports=(ResultImport("deepeval", "*.json"),))
    launch = Launch("others", ("true",), tmp_path, SourceKind.COMMAND, source)
    results = ResultFiles.of(launch, Identity(65534, 65534), Reader(lambda line: line))
    messages: list[object] = []
    shutil.copy(DATA / "deepeval-conversation.json", tmp_path / "theirs.json")
    os.chown(tmp_path / "theirs.json", 65534, 65534)
    (tmp_path / "kept").mkdir()
    shutil.copy(DATA / "deepeval.json", tmp_path / "kept")
    (tmp_path / "ours.json").symlink_to(tmp_path / "kept/deepeval.json")
    failures = (await results.emit(messages.append)).failures
    assert [failure.message for failure in failures] == [
        "'ours.json' was not written by the command, or is not a regular file"
    ]
    assert len(messages) == 1
