"""A base that may be there but can't be read is not "no base yet": relative gates are unmeasurable, never green."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.github import Artifact, events
from tests.fakes.github.actions import zipped
from tests.integration.host.conftest import suite
from tests.integration.jobs.world import Job, World

RELATIVE, ABSOLUTE = "fail_on_regression = true\nmin_pass_rate = 0\n", "min_pass_rate = 0\n"
WORSE = "lambda case: 'no'"
ARTIFACTS = "*/actions/artifacts"
DEEP = b"[" * 5_000 + b"]" * 5_000


def refuse_artifacts(status: int, **body: Any) -> Callable[[World, Artifact], object]:
    return lambda world, _: world.github.fail("GET", ARTIFACTS, status=status, body=body or None, times=math.inf)


def answer_artifacts(body: Any, **headers: str) -> Callable[[World, Artifact], object]:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda world, _: world.github.fail("GET", ARTIFACTS, status=200, body=body, headers=headers, times=math.inf)


def replace_artifact(content: bytes) -> Callable[[World, Artifact], object]:
    """An artifact of other bytes, with their digest."""

    def tamper(_: World, artifact: Artifact) -> None:
        artifact.content, artifact.digest = content, None

    return tamper


def newer(_: World, artifact: Artifact) -> None:
    replace_artifact(zipped({"run/run.json": json.dumps({"schema_version": 99}), "run/cases.jsonl.gz": b""}))(
        _, artifact
    )


FAULTS: dict[str, Callable[[World, Artifact], object]] = {
    "503": refuse_artifacts(503),
    "403": refuse_artifacts(403, message="Resource not accessible by integration"),
    "404": refuse_artifacts(404, message="Not Found"),
    "rate limit": lambda world, _: world.github.rate_limit("GET", ARTIFACTS, reset_in=3_000, times=math.inf),
    "network down": lambda world, _: world.github.drop("GET", ARTIFACTS, times=math.inf),
    "truncated": lambda _, artifact: artifact.truncate(100),
    "wrong digest": lambda _, artifact: artifact.serve(b"something else"),
    "emptied": replace_artifact(zipped({})),
    "damaged": replace_artifact(zipped({"run/run.json": b"{", "run/cases.jsonl.gz": b""})),
    "newer": newer,
    "download refused": lambda world, _: world.github.storage.fail("GET", "*", status=404, times=math.inf),
    "list": answer_artifacts([]),
    "object": answer_artifacts({}),
    "null list": answer_artifacts({"total_count": 1, "artifacts": None}),
    "odd items": answer_artifacts({"total_count": 3, "artifacts": [None, 1, "x"]}),
    "empty items": answer_artifacts({"total_count": 1, "artifacts": [{}]}),
    "deep": answer_artifacts(DEEP),
    "bad gzip": answer_artifacts(b"no gzip at all", content_encoding="gzip"),
    "another type": answer_artifacts(b"<html>", content_type="text/html"),
    "next page elsewhere": answer_artifacts({"artifacts": []}, link='<http://127.0.0.1:1/x>; rel="next"'),
}

# The run of each fault stores the same: that its base can't be read. These are one fault of each step.
GATED_AGAIN = ("403", "network down", "truncated", "object")


def run_judged(world: World, fault: Callable[[World, Artifact], object], settings: str) -> Job:
    world.project.write("scoregate.toml", settings)
    world.commit()
    (artifact,) = world.push().ran.artifacts
    world.branch()
    world.commit_suite(good=20, fn=WORSE)
    pull = world.open_pull_request()
    fault(world, artifact)
    return world.job(events.pull_request(pull))


@pytest.mark.parametrize("name", FAULTS)
def test_relative_gates_with_an_unreadable_base_are_unmeasurable(world: World, name: str) -> None:
    job = run_judged(world, FAULTS[name], RELATIVE)
    assert job.exit_code == 3, job.output
    assert job.outputs["conclusion"] == "unmeasurable"
    assert "The baseline can't be read" in job.output
    assert "fail_on_regression can't be applied without it" in job.summary.replace("&#95;", "_").replace("\\_", "_")
    if name in GATED_AGAIN:
        second = world.project.scoregate("gate", str(job.out / "run"))
        assert second.exit_code == 3, second.output


@pytest.mark.parametrize("name", ["403", "truncated", "object"])
def test_absolute_limits_still_apply(world: World, name: str) -> None:
    job = run_judged(world, FAULTS[name], ABSOLUTE)
    assert job.exit_code == 0, job.output
    assert "The baseline could not be read" in job.output
    assert "There is no baseline yet" not in job.comment


@pytest.mark.parametrize("what", ["none", "expired", "gone", "interrupted"])
def test_a_confirmed_absence_is_no_base_yet(world: World, what: str) -> None:
    def absent(world: World, artifact: Artifact) -> None:
        if what == "none":
            world.repo.artifacts.clear()
        elif what == "expired":
            artifact.expired = True
        elif what == "gone":
            world.github.fail("GET", f"{ARTIFACTS}/*/zip", status=410, body={"message": "Gone"}, times=math.inf)
        else:
            artifact.content, artifact.digest = interrupted(artifact.content), None

    job = run_judged(world, absent, RELATIVE)
    assert job.exit_code == 0, job.output
    assert "fail_on_regression not applied: there is no baseline" in job.output


def interrupted(content: bytes) -> bytes:
    """The same run, interrupted."""
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in files if name.endswith("run.json"))
    return zipped({**files, name: json.dumps(json.loads(files[name]) | {"complete": False})})


def test_without_a_token_the_base_is_unreadable(world: World) -> None:
    world.project.write("scoregate.toml", RELATIVE)
    world.commit()
    world.branch()
    world.commit_suite(good=20)
    job = world.job(events.pull_request(world.open_pull_request()), **{"INPUT_GITHUB-TOKEN": ""})
    assert job.exit_code == 3, job.output
    assert "set github-token" in job.output


@pytest.mark.parametrize("fault", ["403", "404", "odd tree", "damaged blob"])
def test_an_unreadable_data_branch(world: World, fault: str) -> None:
    world.permissions = {**world.permissions, "contents": "write"}
    world.project.write("scoregate.toml", RELATIVE)
    world.commit()
    world.job(events.push(world.repo), "run", "--baseline", "branch")
    world.branch()
    world.commit_suite(good=20, fn=WORSE)
    pull = world.open_pull_request()
    if fault in ("403", "404"):
        path = "*/git/ref/heads/scoregate-data" if fault == "403" else "*acme/bot*"
        world.github.fail("GET", path, status=int(fault), body={"message": "Not Found"}, times=math.inf)
    elif fault == "odd tree":
        world.github.fail("GET", "*/git/trees/*", status=200, body={"tree": [{"path": 1}]}, times=math.inf)
    else:
        world.github.fail("GET", "*/git/blobs/*", status=200, body=b"PK", times=math.inf)
    job = world.job(events.pull_request(pull), "run", "--baseline", "branch")
    assert job.exit_code == 3, job.output
    assert "The baseline can't be read" in job.output


@pytest.mark.parametrize("what", ["not fetched", "a script of it fails"])
def test_a_base_that_fails_to_run(world: World, what: str) -> None:
    world.project.write("scoregate.toml", RELATIVE)
    if what != "not fetched":
        world.project.write("evals/demo.py", suite("raise SystemExit(7)"))
    world.commit()
    world.branch()
    world.commit_suite(good=20)
    pull = world.open_pull_request()
    if what == "not fetched":
        world.check_out_shallow("merged")
    job = world.job(events.pull_request(pull), "run", "--baseline", "rerun")
    assert job.exit_code == 3, job.output
    assert "The baseline can't be read" in job.output
    message = "fetch-depth: 0" if what == "not fetched" else "in the baseline, evals/demo.py"
    assert message in " ".join(job.output.split())
