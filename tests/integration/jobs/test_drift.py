"""A provider whose answers get worse between the base's run and the pull request's, and the control that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from math import inf

import pytest
from tests.fakes.fixtures import openai_server
from tests.fakes.github import events
from tests.fakes.openai import OpenAIServer, Question
from tests.integration.jobs.test_gateway import KEY, SUITE
from tests.integration.jobs.world import Job, World

from scoregate.kernel.judge.archive import read_run
from scoregate.kernel.types.runs.evidence import TrialRole

__all__ = ["openai_server"]
CASES = 120
SETTINGS = 'fail_on_regression = true\nmin_pass_rate = 0\npaths = ["evals/ask.py"]\ncache = "off"\n'


class Provider:
    """A model that fails some of its questions: more once it has drifted, or if it is asked badly."""

    def __init__(self, server: OpenAIServer) -> None:
        self.server, self.drifted, self.last = server, 0, 0
        server.answers(r"question \d+", self._answer)

    def _answer(self, question: Question) -> str:
        if len(self.server.asked()) == self.last:
            self.server.fail("POST", "*/chat/completions", status=500, times=inf)
        number = int(question.last.rpartition(" ")[2])
        failing = 1 + 2 * self.drifted + 3 * question.last.startswith("Badly")
        return "sorry" if number % 10 < failing else f"answer {number}"

    @property
    def environ(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "sk-real-0123456789", "OPENAI_BASE_URL": self.server.url}


@pytest.fixture(autouse=True)
def same_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample depends on the base's commit, and one sample of forty contains too few of the cases that drift."""
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, "2026-11-02T09:00:00Z")


@pytest.fixture
def provider(openai_server: OpenAIServer) -> Provider:
    return Provider(openai_server)


def start(world: World, provider: Provider, settings: str = "drift_control = 0.5\n") -> Job:
    """The base's run, measured before the provider drifts."""
    world.project.write("scoregate.toml", SETTINGS + settings)
    write_suite(world, "Please: ")
    return world.push(**provider.environ)


def write_suite(world: World, prompt: str) -> None:
    world.project.write("evals/ask.py", SUITE.format(prompt=repr(prompt), cases=CASES, key=KEY))
    world.commit()


def change(world: World, provider: Provider, edit: Callable[[World], object]) -> Job:
    """The job of a pull request."""
    world.branch()
    edit(world)
    world.commit()
    return world.job(events.pull_request(world.open_pull_request()), **provider.environ)


def edit_notes(world: World) -> None:
    world.project.write("notes.md", "new")


def test_drift_is_not_blamed_on_a_pull_request(world: World, provider: Provider) -> None:
    assert start(world, provider).exit_code == 0
    provider.drifted = 1
    request_count = len(provider.server.asked())
    job = change(world, provider, edit_notes)
    assert job.exit_code == 0, job.output
    # Fifteen newly failing cases run again on both sides, fail in the base as well, and stop.
    assert len(provider.server.asked()) - request_count == CASES + CASES // 2 + 2 * 15
    (row,) = job.result["rows"]
    assert (row["label"], row["state"]) == ("drift", "drift")
    drift = row["drift"]
    assert (drift["state"], drift["label"], drift["cases"]) == ("corrected", "worse", 60)
    assert drift["shift"] == pytest.approx(-0.2, abs=0.12)
    assert drift["delta"] == pytest.approx(-0.2)
    assert row["delta"] == pytest.approx(drift["delta"] - drift["shift"])
    assert drift["power"] < 0.8
    for text in (job.comment, job.output, (job.out / "report.html").read_text(encoding="utf-8")):
        assert "explained by the provider's drift" in " ".join(unescape(text).split())
    sample = find_sample(job)
    assert sample is not None
    (finding,) = [each for each in job.result["findings"] if each["rule"] == "regression"]
    assert "with the drift of the provider, which explains it" in finding["value"]
    (finding,) = [each for each in job.result["findings"] if each["rule"] == "pass rate"]
    assert re.search(r"with a provider drift of −0\.\d+ in it", finding["value"])
    # The stored run keeps its control.
    assert len(read_run(job.out / "run").companions_of(TrialRole.CONTROL)) == 1
    # Another push asks the same cases. With others it would have another chance.
    world.project.write("notes.md", "newer")
    world.commit()
    again = world.job(events.pull_request(world.open_pull_request()), **provider.environ)
    assert find_sample(again) == sample


def find_sample(job: Job) -> str | None:
    """The notice of a control of 60 cases, with the seed of the sample."""
    sample = r"Drift control: 60 cases ran again \(0.5 of the cases of main@\w{7}, seed \d+\)"
    found = re.search(sample, str(job.result["notices"]))
    return found and found[0]


def test_a_regression_is_still_found(world: World, provider: Provider) -> None:
    start(world, provider)
    job = change(world, provider, lambda world: write_suite(world, "Badly: "))
    assert job.exit_code == 1, job.output
    (row,) = job.result["rows"]
    assert (row["label"], row["drift"]["state"], row["drift"]["shift"]) == ("worse", "corrected", 0)


@pytest.mark.parametrize("has_variable", [True, False])
def test_the_control_does_not_read_the_change(world: World, provider: Provider, has_variable: bool) -> None:
    """Otherwise every regression would be the provider's."""
    world.project.write("prompt.txt", "Please: ")
    place = "os.environ['GITHUB_WORKSPACE']" if has_variable else repr(str(world.project.root))
    prompt = f"open({place} + '/prompt.txt').read()"
    world.project.write("scoregate.toml", f"{SETTINGS}drift_control = 1\n")
    world.project.write("evals/ask.py", SUITE.format(prompt=prompt, cases=CASES, key=KEY))
    world.commit()
    assert world.push(**provider.environ).exit_code == 0
    job = change(world, provider, lambda world: world.project.write("prompt.txt", "Badly: "))
    assert job.exit_code == 1, job.output
    (row,) = job.result["rows"]
    assert row["label"] == "worse"
    refused = "The drift control failed, so nothing is corrected: rerun of"
    assert (refused in str(job.result["notices"])) is not has_variable
    assert (f"opened prompt.txt in {world.project.root}" in " ".join(job.output.split())) is not has_variable


def test_a_regression_is_found_next_to_drift(world: World, provider: Provider) -> None:
    start(world, provider, "drift_control = 1\n")
    provider.drifted = 1
    job = change(world, provider, lambda world: write_suite(world, "Badly: "))
    assert job.exit_code == 1, job.output
    (row,) = job.result["rows"]
    assert row["label"] == "worse"
    assert row["drift"]["shift"] == pytest.approx(-0.2)
    assert row["delta"] == pytest.approx(-0.3)
    assert "Provider drift of ask, contains" in job.comment


def test_a_small_control_corrects_nothing(world: World, provider: Provider) -> None:
    start(world, provider, "drift_control = 0.1\n")
    provider.drifted = 1
    job = change(world, provider, edit_notes)
    assert job.exit_code == 1, job.output
    (row,) = job.result["rows"]
    assert (row["label"], row["drift"]["state"], row["drift"]["cases"]) == ("worse", "control too small", 12)
    assert re.search(r"control too small: 12 of \d+ cases needed. Nothing is corrected", job.comment)


def test_a_control_that_fails_corrects_nothing(world: World, provider: Provider) -> None:
    start(world, provider)
    provider.drifted, provider.last = 1, len(provider.server.asked()) + CASES
    job = change(world, provider, edit_notes)
    assert job.exit_code == 1, job.output
    (row,) = job.result["rows"]
    assert (row["label"], row["drift"]["state"]) == ("worse", "not measured")
    assert "the drift is not measured: 60 of 60 control cases have an error. Nothing is corrected" in job.comment


def test_drift_that_overlaps_with_the_change_is_not_corrected(world: World, provider: Provider) -> None:
    start(world, provider)
    provider.drifted = 1
    world.branch("packages")
    world.project.write("requirements.txt", "openai==9\n")
    world.commit()
    job = world.job(events.pull_request(world.open_pull_request("packages")), **provider.environ)
    assert job.exit_code == 1, job.output
    assert "nothing is corrected: requirements.txt changed, and the base would run with this change" in " ".join(
        job.output.split()
    )
    world.check_out_shallow("packages")
    job = world.job(events.pull_request(world.repo.pulls[max(world.repo.pulls)]), **provider.environ)
    assert job.exit_code == 1, job.output
    assert (
        "is not in this repository (fetch the whole history, with the base's branch: `fetch-depth: 0` of "
        in " ".join(job.output.split())
    )


@pytest.mark.parametrize("path", [".github/workflows/evals.yml", "deps/pins.txt"])
def test_a_change_of_the_job_or_of_packages_is_no_drift(world: World, provider: Provider, path: str) -> None:
    world.project.write(".github/workflows/evals.yml", "run: pip install -r deps/pins.txt\n")
    world.project.write("deps/pins.txt", "openai==1\n")
    start(world, provider)
    provider.drifted = 1  # as a variable of the job, or another version of a package, would change all scores
    before = (world.project.root / path).read_text(encoding="utf-8")
    job = change(world, provider, lambda world: world.project.write(path, f"{before}# new\n"))
    assert job.exit_code == 1, job.output
    assert f"nothing is corrected: {path} changed" in " ".join(job.output.split())
