"""The previous complete run is the baseline on a developer's machine."""

from __future__ import annotations

from tests.integration.host.conftest import Project, suite

LINE = "Compared with the previous run of "


def base_of(project: Project) -> str | None:
    result = project.scoregate("run").result
    return result["base"] and result["base"]["id"]


def test_a_run_is_compared_with_the_previous_complete_run(project: Project) -> None:
    project.write("evals/demo.py", suite(good=4))
    first = project.scoregate("run")
    assert LINE not in first.output
    whole = first.run["id"]
    for number in range(7):  # more than `keep_runs`
        ran = project.scoregate("run", "-k", f"'good {number % 4}'")
        assert ran.exit_code == 0, ran.output
        assert ran.output.count(LINE) == 1
        assert ran.result["base"]["id"] == whole
    assert base_of(project) == whole
    newer = project.scoregate("run").run["id"]
    gone = project.scoregate("run", "--baseline", "none")
    latest = gone.run["id"]
    assert gone.result["base"] is None
    assert LINE not in gone.output
    assert base_of(project) == latest != newer


def test_a_regression_fails_a_relative_gate(project: Project) -> None:
    project.write("evals/demo.py", suite(good=30))
    project.write("scoregate.toml", "fail_on_regression = true\nmin_pass_rate = 0\n")
    assert project.scoregate("run").exit_code == 0
    project.write("evals/demo.py", suite(good=30, fn="lambda case: ''"))
    ran = project.scoregate("run")
    assert ran.exit_code == 1, ran.output
    assert "30 newly failing" in ran.output
    gated = project.scoregate("gate", "scoregate-out")  # the baseline is still on disk
    assert (gated.exit_code, "30 newly failing" in gated.output) == (1, True), gated.output


def test_incomplete_and_filtered_runs_are_no_baselines(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    project.write("evals/more.py", suite(good=2).replace("id='demo'", "id='more'"))
    for arguments in (("--suite", "demo"), ("-k", "good"), ("evals/demo.py",), ("--max-cases", "1")):
        assert project.scoregate("run", *arguments).exit_code == 0
    assert base_of(project) is None
    whole = project.scoregate("run").run["id"]
    for arguments in (("--suite", "demo"), ("evals/demo.py",), ("--max-cases", "1")):
        ran = project.scoregate("run", *arguments)
        assert ran.exit_code == 0, ran.output
        assert ran.result["base"]["id"] == whole


def test_runs_of_the_same_files_are_compared_if_there_is_no_complete_run(project: Project) -> None:
    project.write("bots/demo.py", suite(good=2))
    first = project.scoregate("run", "bots/demo.py").run["id"]
    ran = project.scoregate("run", "bots/demo.py")
    assert (ran.exit_code, ran.result["base"]["id"]) == (0, first)


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
    ran = project.scoregate("run", CI="true")
    assert ran.exit_code == 3, ran.output
    assert "on a developer's machine only" in " ".join(ran.output.split())
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
    ran = project.scoregate("run")
    assert ran.exit_code == 0, ran.output
    assert "Not in this run: more." in ran.output
    assert "is gone" not in ran.output
    assert ran.run["compared_with"]["implicit"] is True
    again = project.scoregate("gate")
    assert (again.exit_code, "Not in this run: more." in again.output) == (0, True), again.output
    base = project.root / ran.run["compared_with"]["folder"]
    judged = project.scoregate("gate", "--baseline", str(base))
    assert judged.exit_code == 0, judged.output  # the same run, whoever names it


def test_a_run_with_a_broken_file_is_no_baseline_if_there_is_another(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    whole = project.scoregate("run").run["id"]
    project.write("evals/demo.py", suite(good=2) + "(")
    assert project.scoregate("run").exit_code == 3
    project.write("evals/demo.py", suite(good=2, fn="lambda case: ''"))
    ran = project.scoregate("run")
    assert ran.result["base"]["id"] == whole
    assert "2 newly failing" in ran.output


def test_a_stopped_run_is_no_baseline(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    whole = project.scoregate("run").run["id"]
    project.write("evals/demo.py", suite(good=2, bad=2))
    stopped = project.scoregate("run", "-x")
    assert (stopped.exit_code, stopped.run["complete"]) == (1, False)
    assert base_of(project) == whole


def test_the_policy_of_the_previous_run_never_applies(project: Project) -> None:
    project.write("evals/demo.py", suite(good=1, bad=1))
    project.write("scoregate.toml", "min_pass_rate = 0.4\n")
    project.commit()
    assert project.scoregate("run").exit_code == 0
    project.write("scoregate.toml", "min_pass_rate = 0.9\n")
    ran = project.scoregate("run")
    assert (ran.exit_code, "the gates differ" in ran.output) == (1, False), ran.output
    project.write("scoregate.toml", 'min_pass_rate = 0.4\npolicy_from = "base"\n')
    first = project.scoregate("run", "--baseline", "none")
    again = project.scoregate("run")
    assert first.exit_code == again.exit_code, again.output


def test_concurrent_runs_leave_a_usable_folder(project: Project) -> None:
    slow = "import time\ndef fn(case):\n    time.sleep(0.3)\n    return case.input\n"
    project.write("evals/demo.py", suite(slow, fn="fn", good=2))
    whole = project.scoregate("run").run["id"]
    both = [project.start("run"), project.start("run")]
    ends = sorted((project.finish(each) for each in both), key=lambda ran: ran.exit_code)
    assert [ran.exit_code for ran in ends] == [0, 2], [ran.output for ran in ends]
    assert "another scoregate run" in ends[1].output
    between = project.scoregate("run", "--out", "elsewhere")
    assert "Compared with the previous run" not in between.output  # each folder has its own
    newest = ends[0].run["id"]
    assert ends[0].result["base"]["id"] == whole
    assert base_of(project) == newest


def test_git_ignores_the_output_folder(project: Project) -> None:
    project.write("evals/demo.py", suite(good=2))
    project.commit()
    for _ in range(2):
        project.scoregate("run")
    assert project.git("status", "--porcelain") == ""
