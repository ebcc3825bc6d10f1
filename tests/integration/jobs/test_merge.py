"""The legs of a matrix, brought together in one job that compares, judges and comments once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.fakes.github import events
from tests.features.affected.test_jobs import write_suites
from tests.integration.jobs.test_lifecycle import WORSE
from tests.integration.jobs.world import WRITE, World

LEGS = ("py311", "py312")


def legs(world: World, event: events.Event, names: tuple[str, ...] = LEGS) -> Path:
    """Each leg's job, its run brought back as download-artifact does it."""
    folder = world.folder / "legs"
    shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        job = world.job(event, "run", "--comment", "off")
        shutil.copytree(job.out / "run", folder / name)
    return folder


def base_of_legs(world: World) -> None:
    event = events.push(world.repo)
    folder = legs(world, event)
    merged = world.job(event, "merge", *(str(folder / name) for name in LEGS))
    assert merged.exit_code == 0, merged.output
    merged.upload()


def test_shards_have_one_comment_and_base(world: World) -> None:
    base_of_legs(world)
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    event = events.pull_request(pull)
    folder = legs(world, event)
    job = world.job(event, "merge", "--expect", "2", *(str(folder / name) for name in LEGS))
    assert job.exit_code == 1, job.output
    assert [suite["label"] for suite in job.run["suites"]] == ["demo (py311)", "demo (py312)"]
    (comment,) = pull.comments
    assert "22 newly failing" in comment.body
    assert "exact" in comment.body
    assert job.run["commit"] == world.project.git("rev-parse", "HEAD").strip()


def test_a_missing_run_is_not_green(world: World) -> None:
    base_of_legs(world)
    world.branch()
    world.commit_suite(good=20)
    pull = world.open_pull_request()
    event = events.pull_request(pull)
    folder = legs(world, event, LEGS[:1])
    job = world.job(event, "merge", "--expect", "2", str(folder / LEGS[0]))
    assert job.exit_code == 3, job.output
    (comment,) = pull.comments
    assert "missing run 1" in comment.body
    assert "0 newly failing" in comment.body
    unexpected = world.job(event, "merge", str(folder / LEGS[0]))
    assert unexpected.exit_code == 3, unexpected.output
    assert "is gone" in unexpected.comment


def test_runs_of_several_commits_are_refused(world: World) -> None:
    event = events.push(world.repo)
    one = world.job(event)
    world.commit_suite(good=3)
    two = world.job(events.push(world.repo))
    for name, job in (("one", one), ("two", two)):
        shutil.copytree(job.out / "run", world.folder / name)
    job = world.job(event, "merge", str(world.folder / "one"), str(world.folder / "two"))
    assert job.exit_code == 2
    assert "of several commits" in job.output


@pytest.mark.parametrize("what", ["nothing there", "damaged", "twice"])
def test_other_folders_are_errors(world: World, what: str) -> None:
    folder = legs(world, events.push(world.repo), LEGS[:1])
    paths = [folder / LEGS[0], folder / LEGS[0] if what == "twice" else folder / "other"]
    if what == "damaged":
        shutil.copytree(paths[0], paths[1])
        (paths[1] / "run.json").write_text("{")
    job = world.job(events.push(world.repo), "merge", *map(str, paths))
    assert job.exit_code == 2, job.output


def test_a_suite_skipped_without_its_key_stays_listed(world: World) -> None:
    world.project.write("scoregate.toml", '[suites.demo]\nneeds = ["MODEL_API_KEY"]\n')
    world.project.write("evals/other.py", (world.project.root / "evals/demo.py").read_text().replace("'demo'", "'x'"))
    world.commit()
    world.push(MODEL_API_KEY="key-of-a-model")
    world.branch()
    world.commit_suite(good=20)
    event = events.pull_request(world.open_pull_request(fork=world.fork()))
    folder = legs(world, event, LEGS[:1])
    job = world.job(event, "merge", str(folder / LEGS[0]))
    assert job.exit_code == 0, job.output
    assert job.outputs["comment-pending"] == "true"
    assert job.run["skipped"] == ["demo"]
    assert "MODEL_API_KEY is not set" in job.summary
    assert world.permissions != WRITE


def test_a_pattern_without_a_run_and_a_damaged_run_are_missing(world: World) -> None:
    folder = legs(world, event := events.push(world.repo))
    (folder / LEGS[1] / "run.json").write_text("{")
    damaged = world.job(event, "merge", "--expect", "2", *(str(folder / name) for name in LEGS))
    assert damaged.exit_code == 3, damaged.output
    assert "missing run" in damaged.output
    nothing = world.job(event, "merge", "--expect", "2", "--", "nowhere/*")
    assert nothing.exit_code == 3, nothing.output
    assert nothing.result["conclusion"] == "unmeasurable"


def test_a_merge_reruns_no_base(world: World) -> None:
    folder = legs(world, event := events.push(world.repo))
    arguments = ("merge", "--baseline", "rerun:no-such-tag", str(folder / LEGS[0]))
    merged = world.job(event, *arguments)
    assert merged.exit_code == 0, merged.output
    gated = world.job(event, *arguments, "--fail-on-regression")
    assert gated.exit_code == 3, gated.output
    assert "fail_on_regression can't be applied without it" in gated.output


def test_a_merged_run_keeps_the_records_of_its_runs(world: World) -> None:
    write_suites(world, "affected = true\nmin_pass_rate = 0\n")
    for index in range(3):
        world.project.write("README.md", f"text {index}")
        world.commit()
        if index == 2:  # a leg without a record has none in the merged run
            event = events.push(world.repo)
            folder = legs(world, event)
            head = json.loads((folder / LEGS[1] / "run.json").read_text(encoding="utf-8"))
            (folder / LEGS[1] / "run.json").write_text(json.dumps(head | {"dependencies": None}), encoding="utf-8")
            part = world.job(event, "merge", *(str(folder / name) for name in LEGS))
            assert {each["script"] for each in part.run["dependencies"]["scripts"]} == {
                f"py311: evals/{name}.py" for name in ("one", "two")
            }
        base_of_legs(world)
    world.branch()
    world.project.write("app/one.py", "def answer(input): return input + ''\n")
    world.commit()
    event = events.pull_request(world.open_pull_request())
    folder = legs(world, event)
    job = world.job(event, "merge", "--expect", "2", *(str(folder / name) for name in LEGS))
    assert job.exit_code == 0, job.output
    names = [f"{leg}: evals/{name}.py" for leg in LEGS for name in ("one", "two")]
    assert [each["script"] for each in job.run["dependencies"]["scripts"]] == names
    assert {row["suite"]: row["base_runs"] for row in job.result["rows"]} == {
        f"{name} ({leg})": 3 for leg in LEGS for name in ("one", "two")
    }


def test_a_merged_run_keeps_carried_results(world: World) -> None:
    write_suites(world, "affected = true\n")
    base_of_legs(world)
    world.branch()
    world.project.write("app/one.py", "def answer(input): return input + ''\n")
    world.commit()
    event = events.pull_request(world.open_pull_request())
    base = world.folder / "base"
    for name in LEGS:
        # Each leg has a base of its own in a real matrix, by its key; here it is named.
        world.project.git("checkout", "-q", "main")
        job = world.job(events.push(world.repo), "run", "--comment", "off")
        shutil.copytree(job.out / "run", base / name)
        world.project.git("checkout", "-q", "change")
    folder = world.folder / "carried"
    for name in LEGS:
        job = world.job(event, "run", "--comment", "off", "--baseline", str(base / name))
        assert [each["label"] for each in job.result["suites"] if each["carried"]] == ["two"], job.output
        shutil.copytree(job.out / "run", folder / name)
    merged = world.job(event, "merge", *(str(folder / name) for name in LEGS))
    assert merged.exit_code == 0, merged.output
    rows = {row["suite"]: row["label"] for row in merged.result["rows"]}
    assert rows == {
        **{f"one ({leg})": "unchanged" for leg in LEGS},
        **{f"two ({leg})": "not affected" for leg in LEGS},
    }
    assert "2 suites did not run" not in merged.comment
