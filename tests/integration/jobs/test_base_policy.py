"""A pull request that rewrites its own gate: with `policy_from = "base"` nothing in its settings file loosens it."""

from __future__ import annotations

import math

import pytest
from tests.fakes.github import events
from tests.integration.host.conftest import suite
from tests.integration.jobs.world import Job, World

BASE = 'policy_from = "base"\nmin_pass_rate = 0.9\n'
ONE_GOOD = "lambda case: case.input if case.input == 'good 0' else 'no'"
# What a change may write into its settings file to pass with failing suites.
EVASIONS = {
    "no file": "",
    "policy_from": 'policy_from = "head"\nmin_pass_rate = 0\n',
    "key": 'key = "zzz"\nmin_pass_rate = 0\nfail_on_regression = false\n',
    "min_pass_rate": "min_pass_rate = 0\n",
    "suites": '[suites."*"]\nmin_pass_rate = 0\n',
    "severity": '[severity]\npass_rate = "off"\nsuites_remain = "off"\nregression = "off"\n',
    "suite": 'suite = ["a"]\nmin_pass_rate = 0.9\n',
    "paths": 'paths = ["evals/a.py"]\n',
    "config": 'config = ["nothing"]\nmin_pass_rate = 0\n',
    "max_cases": "max_cases = 1\n",
    "baseline none": 'baseline = "none"\nmin_pass_rate = 0\n',
    "baseline folder": 'baseline = "mine"\nmin_pass_rate = 0\n',
    "base_branch": 'base_branch = "change"\nmin_pass_rate = 0\n',
    "max_error_rate": "min_pass_rate = 0\nmax_error_rate = 1\n",
    "confirm": 'confirm = "all"\nmin_pass_rate = 0\n',
    "repeats": "repeats = 1\nmin_pass_rate = 0\nalpha = 0.000001\nmin_effect = 1\n",
    "ignored evaluators": '[evaluators."*"]\nignore = true\n',
    "scale": '[evaluators."*"]\nscale = [-1000, 1]\nthreshold = { gte = -999 }\n',
    "min_judge_agreement": "min_judge_agreement = 1\nmin_pass_rate = 0\n",
}


def prepare(world: World, base: str = BASE) -> None:
    """Two suites on main, of which a is never touched."""
    world.project.write("scoregate.toml", base)
    world.project.write("evals/a.py", suite(good=3).replace("id='demo'", "id='a'"))
    world.commit_suite(good=20)


def run_changed(world: World, settings: str | None, *, shallow: bool = False, **options: str) -> Job:
    """The job of a pull request that breaks a suite and rewrites the settings."""
    world.branch()
    path = world.project.root / "scoregate.toml"
    if settings is None:
        world.project.git("rm", "-q", "scoregate.toml")
    else:
        path.write_text(settings)
    world.commit_suite(good=20, fn=ONE_GOOD)
    pull = world.open_pull_request()
    if shallow:
        world.check_out_shallow("merged")
    return world.job(events.pull_request(pull), **options)


@pytest.mark.parametrize("name", EVASIONS)
def test_a_change_cannot_loosen_its_own_gate(world: World, name: str) -> None:
    prepare(world)
    world.push()
    job = run_changed(world, EVASIONS[name] or None)
    assert job.exit_code == 1, job.output
    assert "Pass rate of demo" in job.output
    assert "required: ≥ 90.0% (set in scoregate.toml of the base)" in job.output
    assert sorted(each["id"] for each in job.run["suites"]) == ["a", "demo"]
    (demo,) = (each for each in job.run["suites"] if each["id"] == "demo")
    assert sum(demo["statuses"].values()) == 20
    assert "exact" in job.comment
    if name != "no file":
        assert "(not applied: policy_from = base)" in " ".join(job.result["policy_changes"])


@pytest.mark.parametrize("name", ["no file", "key", "suite", "max_cases"])
def test_a_shallow_clone_has_the_base_policy(world: World, name: str) -> None:
    prepare(world)
    world.push()
    job = run_changed(world, EVASIONS[name] or None, shallow=True)
    assert job.exit_code == 1, job.output
    assert "set in scoregate.toml of the base" in job.output


@pytest.mark.parametrize("name", ["key", "suite", "max_cases", "severity"])
def test_the_workflow_can_ask_for_it(world: World, name: str) -> None:
    prepare(world, base="min_pass_rate = 0.9\n")
    world.push()
    job = run_changed(world, EVASIONS[name], **{"INPUT_POLICY-FROM": "base"})
    assert job.exit_code == 1, job.output
    assert "set in scoregate.toml of the base" in job.output


def test_without_a_base_file_the_defaults_apply(world: World) -> None:
    world.commit_suite(good=20)
    world.push()
    job = run_changed(world, 'key = "zzz"\nmin_pass_rate = 0\n', **{"INPUT_POLICY-FROM": "base"})
    assert job.exit_code == 1, job.output
    assert "required: ≥ 100.0%" in job.output


def test_a_change_that_introduces_it_uses_it(world: World) -> None:
    prepare(world, base="min_pass_rate = 0.9\n")
    world.push()
    job = run_changed(world, 'policy_from = "base"\nmin_pass_rate = 0\n')
    assert job.exit_code == 1, job.output


def test_a_base_without_runs_has_a_policy(world: World) -> None:
    prepare(world)
    job = run_changed(world, EVASIONS["key"])
    assert job.exit_code == 1, job.output
    assert "set in scoregate.toml of the base" in job.output


@pytest.mark.parametrize("requested", ["by the workflow", "by the head"])
@pytest.mark.parametrize("fault", [503, 403, "odd", "no token"])
def test_without_the_base_policy_nothing_is_measured(world: World, requested: str, fault: int | str) -> None:
    prepare(world)
    world.push()
    environment = {"INPUT_POLICY-FROM": "base"} if requested == "by the workflow" else {}
    if fault == "no token":
        environment["INPUT_GITHUB-TOKEN"] = ""
    elif fault == "odd":
        world.github.fail("GET", "*/git/trees/*", status=200, body=[], times=math.inf)
    else:
        world.github.fail("GET", "*/git/trees/*", status=int(fault), times=math.inf)
    head = "min_pass_rate = 0\n" + ('policy_from = "base"\n' if requested == "by the head" else "")
    job = run_changed(world, head, shallow=True, **environment)
    assert job.exit_code == 3, job.output
    assert "The base's settings aren't available" in job.output
    assert job.outputs["conclusion"] == "unmeasurable"
    assert "policy" in job.summary


def test_an_unknown_base_policy_is_a_notice(world: World) -> None:
    prepare(world, base="min_pass_rate = 0\n")
    world.push()
    world.github.fail("GET", "*/git/trees/*", status=403, times=math.inf)
    job = run_changed(world, "min_pass_rate = 0\n", shallow=True)
    assert job.exit_code == 0, job.output
    assert "judge this change (policy_from)" in " ".join(job.output.split())


def test_suites_of_the_head_use_its_installation(world: World) -> None:
    prepare(world, base=f'{BASE}paths = ["evals"]\nsuite = ["a", "demo"]\n')
    world.push()
    world.branch()
    world.project.write("more/new.py", suite(good=2).replace("id='demo'", "id='new'"))
    world.project.write("evals/fresh.py", suite(good=2).replace("id='demo'", "id='fresh'"))
    commands = '[[commands]]\nname = "extra"\nrun = ["python", "evals/extra.py"]\n'
    world.project.write("evals/extra.py", suite(good=2).replace("id='demo'", "id='extra'"))
    settings = f'message = "by the head"\npaths = ["evals", "more"]\nsuite = ["*"]\n{commands}'
    world.project.write("scoregate.toml", settings)
    world.commit()
    job = world.job(events.pull_request(world.open_pull_request()))
    assert {"a", "demo", "new", "fresh", "extra"} == {each["id"] for each in job.run["suites"]}, job.output
    assert job.run["message"] == "by the head"


def test_a_missing_base_path_is_unmeasurable(world: World) -> None:
    prepare(world, base=f'{BASE}paths = ["evals"]\n')
    world.branch()
    world.project.git("mv", "evals", "hidden")
    world.project.write("ok/fine.py", suite(good=2))
    world.project.write("scoregate.toml", 'paths = ["ok"]\n')
    world.commit()
    job = world.job(events.pull_request(world.open_pull_request()))
    assert job.exit_code == 3, job.output
    assert "evals does not exist (named by scoregate.toml of the base)" in " ".join(job.output.split())


@pytest.mark.parametrize("of_base", [True, False])
def test_a_filter_in_a_file_excuses_no_missing_suite(world: World, of_base: bool) -> None:
    prepare(world, base="min_pass_rate = 0\n")
    world.push()
    world.branch()
    world.project.write("scoregate.toml", 'min_pass_rate = 0\nsuite = ["a"]\n')
    world.project.git("rm", "-q", "evals/demo.py")
    world.commit()
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull), **({"INPUT_POLICY-FROM": "base"} if of_base else {}))
    assert job.exit_code == 3, job.output
    assert "A suite of the baseline is missing: demo is gone" in job.output
    chosen = world.job(events.pull_request(pull), INPUT_SUITE="a")
    assert chosen.exit_code == 0, chosen.output


def test_a_data_suite_cannot_loosen_its_gates(world: World) -> None:
    world.project.write("scoregate.toml", 'policy_from = "base"\nmin_pass_rate = 0\n')
    world.project.write("evals/desk.toml", '[testset]\nname = "demo"\nendpoint = "a:b"\n[gates]\nmin_pass_rate = 0.9\n')
    world.project.write("evals/desk.csv", "prompt_content,category,topic,behavior\nWhen?,Support,Hours,Answers\n")
    world.commit()
    world.branch()
    world.project.git("rm", "-q", "evals/desk.toml")
    world.project.write("evals/other.toml", '[testset]\nname = "demo"\nendpoint = "a:b"\n[gates]\nmin_pass_rate = 0\n')
    world.project.git("mv", "evals/desk.csv", "evals/other.csv")
    world.commit_suite(good=20, fn=ONE_GOOD)
    job = world.job(events.pull_request(world.open_pull_request()))
    assert job.exit_code == 1, job.output
    assert "evals/desk.toml of the base" in " ".join(job.output.split())


def test_a_merge_uses_the_base_policy(world: World) -> None:
    prepare(world)
    world.push()
    job = run_changed(world, EVASIONS["min_pass_rate"])
    leg = world.project.root / "legs" / "one"
    leg.mkdir(parents=True)
    (job.out / "run").rename(leg / "run")
    (pull,) = world.repo.pulls.values()
    merged = world.job(events.pull_request(pull), "merge", "legs/one")
    assert merged.exit_code == 1, merged.output
    assert "set in scoregate.toml of the base" in merged.output


def test_the_publishing_stage_uses_the_settings_of_its_checkout(world: World) -> None:
    prepare(world)
    world.push()
    world.branch()
    world.project.write("scoregate.toml", "min_pass_rate = 0\n")
    world.commit_suite(good=20, fn=ONE_GOOD)
    pull = world.open_pull_request(fork=world.fork())
    first = world.job(events.pull_request(pull))
    assert first.exit_code == 1, first.output
    first.upload()
    world.second_stage(first.ran)
    (comment,) = pull.comments
    assert "required: ≥ 90.0%" in comment.body or "90.0%" in comment.body
