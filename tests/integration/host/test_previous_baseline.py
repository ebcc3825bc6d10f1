"""The previous complete run is the baseline on a developer's machine."""

from __future__ import annotations

import re
import time

from tests.integration.host.conftest import Project, suite

LINE = "Compared with the previous run of "


def base_id(project: Project) -> str | None:
    result = project.scoregate("run").result
    return result["base"] and result["base"]["id"]


def test_a_run_is_compared_with_the_previous_complete_run(project: Project) -> None:
    project.write("evals/demo.py", suite(good=4))
    first = project.scoregate("run")
    assert LINE not in first.output
    run_id = first.run["id"]
    for number in range(7):  # more than `keep_runs`
        outcome = project.scoregate("run", "-k", f"'good {number % 4}'")
        assert outcome.exit_code == 0, outcome.output
        assert outcome.output.count(LINE) == 1
        assert re.search(LINE + r"[\d-]{10} [\d:]{8} [A-Z+-]\w+\.", outcome.output)  # with the time zone
        assert outcome.result["base"]["id"] == run_id
    assert base_id(project) == run_id
    newer = project.scoregate("run").run["id"]
    gone = project.scoregate("run", "--baseline", "none")
    latest = gone.run["id"]
    assert gone.result["base"] is None
    assert LINE not in gone.output
    assert base_id(project) == latest != newer


def test_a_regression_fails_a_relative_gate(project: Project) -> None:
    project.write("evals/demo.py", suite(good=30))
    project.write("scoregate.toml", "fail_on_regression = true\nmin_pass_rate = 0\n")
    assert project.scoregate("run").exit_code == 0
    project.write("evals/demo.py", suite(good=30, fn="lambda case: ''"))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 1, outcome.output
    assert "30 newly failing" in outcome.output
    gated = project.scoregate("gate", "scoregate-out")  # the baseline is still on disk
    assert (gated.exit_code, "30 newly failing" in gated.output) == (1, True), gated.output


def test_a_run_that_fell_is_no_baseline_until_it_is_accepted(project: Project) -> None:
    good, broken = suite(good=30), suite(good=30, fn="lambda case: ''")
    outage = suite("def fn(case):\n    raise ConnectionError('down')\n", good=30, fn="fn")
    project.write("scoregate.toml", "fail_on_regression = true\nmin_pass_rate = 0\nkeep_runs = 2\n")

    def run(source: str, *arguments: str) -> tuple[int, str | None, str]:
        project.write("evals/demo.py", source)
        ran = project.scoregate("run", *arguments)
        return ran.exit_code, ran.result["base"] and ran.result["base"]["id"], ran.run["id"]

    exit_code, base, first = run(good)
    assert (exit_code, base) == (0, None)
    assert [run(broken)[:2] for _ in range(4)] == [(1, first)] * 4  # more than `keep_runs`
    assert project.scoregate("run", "-k", "'good 1'").result["base"]["id"] == first
    exit_code, base, repaired = run(good)
    assert (exit_code, base) == (0, first)
    assert run(outage)[:2] == (3, repaired)
    exit_code, base, mended = run(good)
    assert (exit_code, base) == (0, repaired)
    assert run(broken)[:2] == (1, mended)
    ran = project.scoregate("run")
    assert "(1 later run did not pass the gates on changes)" in " ".join(ran.output.split())
    exit_code, base, accepted = run(broken, "--baseline", "none")
    assert (exit_code, base) == (0, None)
    assert run(broken)[:2] == (0, accepted)


def test_a_repaired_run_replaces_a_baseline_with_errors(project: Project) -> None:
    project.write("scoregate.toml", "fail_on_regression = true\nmin_pass_rate = 0\n")
    project.write("evals/demo.py", suite("def fn(case):\n    raise ConnectionError('down')\n", good=30, fn="fn"))
    project.scoregate("run")
    project.write("evals/demo.py", suite(good=30))
    ran = project.scoregate("run")  # the outage is all that there is to compare with
    text = "30 of 30 pairs have an error in the baseline; run again: if nothing else fails, the next run is"
    assert (ran.exit_code, text in " ".join(ran.output.split())) == (3, True), ran.output
    assert project.scoregate("run").exit_code == 0


def test_runs_of_a_part_that_fell_are_no_baselines_either(project: Project) -> None:
    project.write("scoregate.toml", "fail_on_regression = true\nmin_pass_rate = 0\nkeep_runs = 1\n")
    project.write("bots/demo.py", suite(good=30))
    first = project.scoregate("run", "bots/demo.py").run["id"]
    project.write("bots/demo.py", suite(good=30, fn="lambda case: ''"))
    for _ in range(3):
        ran = project.scoregate("run", "bots/demo.py")
        assert (ran.exit_code, ran.result["base"]["id"]) == (1, first)


def test_a_run_below_an_absolute_limit_is_a_baseline(project: Project) -> None:
    project.write("scoregate.toml", "fail_on_regression = true\nmin_pass_rate = 0.9\n")
    project.write("evals/demo.py", suite(good=1, bad=1))
    assert project.scoregate("run").exit_code == 1
    second = project.scoregate("run")
    newest = second.run["id"]
    assert second.exit_code == 1
    assert base_id(project) == newest


def test_incomplete_and_filtered_runs_are_no_baselines(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    project.write("evals/more.py", suite(good=2).replace("id='demo'", "id='more'"))
    for arguments in (("--suite", "demo"), ("-k", "good"), ("evals/demo.py",), ("--max-cases", "1")):
        assert project.scoregate("run", *arguments).exit_code == 0
    assert base_id(project) is None
    complete = project.scoregate("run").run["id"]
    for arguments in (("--suite", "demo"), ("evals/demo.py",), ("--max-cases", "1")):
        outcome = project.scoregate("run", *arguments)
        assert outcome.exit_code == 0, outcome.output
        assert outcome.result["base"]["id"] == complete


def test_runs_of_the_same_files_are_compared_if_there_is_no_complete_run(project: Project) -> None:
    project.write("bots/demo.py", suite(good=2))
    first = project.scoregate("run", "bots/demo.py").run["id"]
    outcome = project.scoregate("run", "bots/demo.py")
    assert (outcome.exit_code, outcome.result["base"]["id"]) == (0, first)


def test_a_shard_of_the_same_files_is_no_baseline(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    shard = project.scoregate("run", "evals/demo.py", "--shard", "1/2", "--baseline", "none")
    assert shard.exit_code == 0, shard.output
    assert project.scoregate("run", "evals/demo.py").result["base"] is None


def test_ci_compares_with_no_previous_run(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    project.scoregate("run")
    assert project.scoregate("run", CI="true").result["base"] is None
    project.write("scoregate.toml", 'baseline = "previous"\nfail_on_regression = true\n')
    outcome = project.scoregate("run", CI="true")
    assert outcome.exit_code == 3, outcome.output
    assert "on a developer's machine only" in " ".join(outcome.output.split())
    project.write("scoregate.toml", 'keep_runs = 0\nbaseline = "previous"\n')
    assert "there is no previous run" in " ".join(project.scoregate("run").output.split())


def test_a_suite_only_in_the_previous_run_is_listed(project: Project) -> None:
    project.write("scoregate.toml", "fail_on_regression = true\nmax_drop = 0.1\n")
    project.write("evals/demo.py", suite(good=2))
    more = project.write("evals/more.py", suite(good=2).replace("id='demo'", "id='more'"))
    assert project.scoregate("run").exit_code == 0
    more.unlink()
    named = project.scoregate("run", "--baseline", "previous")
    assert (named.exit_code, "more is gone" in named.output) == (3, True), named.output
    project.write("evals/more.py", suite(good=2).replace("id='demo'", "id='more'"))
    assert project.scoregate("run").exit_code == 0
    more.unlink()
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert "Not in this run: more." in outcome.output
    assert "is gone" not in outcome.output
    assert outcome.run["compared_with"]["implicit"] is True
    second = project.scoregate("gate")
    assert (second.exit_code, "Not in this run: more." in second.output) == (0, True), second.output
    base = project.root / outcome.run["compared_with"]["folder"]
    judged = project.scoregate("gate", "--baseline", str(base))
    assert judged.exit_code == 0, judged.output  # the same run under another name


def test_a_run_with_a_broken_file_is_no_baseline_if_there_is_another(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    complete = project.scoregate("run").run["id"]
    project.write("evals/demo.py", suite(good=2) + "(")
    assert project.scoregate("run").exit_code == 3
    project.write("evals/demo.py", suite(good=2, fn="lambda case: ''"))
    outcome = project.scoregate("run")
    assert outcome.result["base"]["id"] == complete
    assert "2 newly failing" in outcome.output


def test_a_stopped_run_is_no_baseline(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    complete = project.scoregate("run").run["id"]
    project.write("evals/demo.py", suite(good=2, bad=2))
    stopped = project.scoregate("run", "-x")
    assert (stopped.exit_code, stopped.run["complete"]) == (1, False)
    assert base_id(project) == complete


def test_the_policy_of_the_previous_run_never_applies(project: Project) -> None:
    project.write("evals/demo.py", suite(good=1, bad=1))
    project.write("scoregate.toml", "min_pass_rate = 0.4\n")
    project.commit()
    assert project.scoregate("run").exit_code == 0
    project.write("scoregate.toml", "min_pass_rate = 0.9\n")
    outcome = project.scoregate("run")
    assert (outcome.exit_code, "the gates differ" in outcome.output) == (1, False), outcome.output
    project.write("scoregate.toml", 'min_pass_rate = 0.4\npolicy_from = "base"\n')
    first = project.scoregate("run", "--baseline", "none")
    second = project.scoregate("run")
    assert first.exit_code == second.exit_code, second.output


def test_concurrent_runs_leave_a_usable_folder(project: Project) -> None:
    wait = "import os, time\ndef fn(case):\n    while not os.path.exists('go'):\n        time.sleep(0.02)\n"
    project.write("evals/demo.py", suite(f"{wait}    return case.input\n", fn="fn", good=2))
    project.write("go", "")
    complete = project.scoregate("run").run["id"]
    (project.root / "go").unlink()
    both = [project.start("run"), project.start("run")]
    while all(each.poll() is None for each in both):  # until one is refused
        time.sleep(0.02)
    project.write("go", "")
    ends = sorted((project.finish(each) for each in both), key=lambda ran: ran.exit_code)
    assert [ran.exit_code for ran in ends] == [0, 2], [ran.output for ran in ends]
    assert "another scoregate run" in ends[1].output
    between = project.scoregate("run", "--out", "elsewhere")
    assert "Compared with the previous run" not in between.output  # each folder has its own
    newest = ends[0].run["id"]
    assert ends[0].result["base"]["id"] == complete
    assert base_id(project) == newest


def test_git_ignores_the_output_folder(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    project.commit()
    for _ in range(2):
        project.scoregate("run")
    assert project.git("status", "--porcelain") == ""
