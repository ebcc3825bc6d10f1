"""Pictures of pull requests and an issue on the fake of GitHub.

Affected suites, accepted regressions, a command's answer, drift of a provider, an alert.
"""

from __future__ import annotations

import html
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text
from tests.fakes.github import GitHub, Pull, events
from tests.fakes.openai import OpenAIServer, Question
from tests.integration.jobs.commands import Commands
from tests.integration.jobs.world import Job, World
from tools import browser

CASES = 500
COLUMNS = 112
SETTINGS = """drift_control = 0.5
alert = "issue"
fail_on_regression = true
min_pass_rate = 0
gateway = "on"
cache = "off"
paths = ["evals/support_answers.py"]
"""
SUITE = """
import json, os, urllib.request

from scoregate import evaluate
from scoregate.scorers import contains


def ask(input):
    body = {{"model": "gpt-5.5", "messages": [{{"role": "user", "content": {prompt!r} + input}}]}}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {{"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


numbers = range({cases})
data = [{{"id": f"order {{n}}", "input": f"Where is order {{n}}?", "expected": f"parcel {{n}}"}} for n in numbers]
evaluate("support-answers", data=data, task=ask, scorers=[contains()])
"""
# Each suite depends on a prompt of its own, whose last number is how many cases pass.
PROMPTED = """
from pathlib import Path

from scoregate import evaluate
from scoregate.scorers import contains

limit = int(Path("prompts/{name}.md").read_text().split()[-1])
data = [{{"id": f"{name} {{number}}", "input": str(number)}} for number in range(80)]
evaluate("{name}", data=data, task=lambda input: "yes" if int(input) < limit else "no", scorers=[contains("yes")])
"""
NAMES = ("opening-hours", "orders", "refunds", "tone")
PROMPTED_SETTINGS = "affected = true\nfail_on_regression = true\nmin_pass_rate = 0\n"
QUARANTINE = """[[quarantine]]
case = "refunds 7"
owner = "bo"
reason = "depends on the clock"
until = 2026-12-31
stable_runs = 2

[[quarantine]]
case = "tone 79"
owner = "bo"
reason = "the model answers it at random"
until = 2026-12-31
"""
ACCEPTED = """[[accepted]]
suite = "tone"
evaluator = "contains*"
until = 2026-12-31
reason = "short answers are worth it"
by = "ana"
issue = "#12"
at_most = 0.2
"""
REACTIONS = {"eyes": "👀", "rocket": "🚀", "+1": "👍", "confused": "😕"}


@dataclass
class Provider:
    """A model that fails so many of ten questions."""

    server: OpenAIServer
    failing: int = 1

    def answer(self, question: Question) -> str:
        number = int(question.last.rstrip("?").rpartition(" ")[2])
        failing = self.failing + question.last.startswith("Briefly")
        return "I can't see your order." if number % 10 < failing else f"It is in parcel {number}."

    @property
    def environ(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "sk-real-0123456789abcdef", "OPENAI_BASE_URL": self.server.url}


@contextmanager
def open_world() -> Iterator[tuple[World, Provider]]:
    """A repository whose main branch was measured while the provider was as usual."""
    with GitHub.start() as github, OpenAIServer.start() as server, tempfile.TemporaryDirectory() as folder:
        provider = Provider(server)
        server.answers(r"order \d+", provider.answer)
        world = World.new(github, Path(folder), "acme/support-bot")
        world.project.write("scoregate.toml", SETTINGS)
        write_suite(world, "Please: ")
        base = world.push(**provider.environ)
        assert base.exit_code == 0, base.output
        yield world, provider


def write_suite(world: World, prompt: str) -> None:
    world.project.write("evals/support_answers.py", SUITE.format(prompt=prompt, cases=CASES))
    world.commit()


def change(world: World, provider: Provider) -> tuple[Pull, Job]:
    """The job of a pull request that edits notes."""
    world.branch()
    world.project.write("notes.md", "new")
    world.commit()
    pull = world.open_pull_request()
    return pull, world.job(events.pull_request(pull), **provider.environ)


def find_report(pull: Pull) -> str:
    body = next(each.body for each in pull.comments if each.login == "github-actions[bot]")
    # Jobs on the fake run outside of the container, and have a notice of it.
    return re.sub(r"<sub>outside of scoregate's container.*\n", "", body)


def drift(picture: Path) -> None:
    """The comment on a pull request whose provider got worse since its base was measured."""
    with open_world() as (world, provider):
        provider.failing = 2
        pull, _ = change(world, provider)
        browser.save_picture(browser.make_box("github-actions", find_report(pull)), picture)


@contextmanager
def open_prompted_world(files: Mapping[str, str]) -> Iterator[World]:
    """A repository of four suites, measured on its main branch."""
    with GitHub.start() as github, tempfile.TemporaryDirectory() as folder:
        world = World.new(github, Path(folder), "acme/support-bot")
        world.project.write("scoregate.toml", f"{PROMPTED_SETTINGS}paths = {[f'evals/{name}.py' for name in NAMES]}\n")
        for name in NAMES:
            world.project.write(f"evals/{name}.py", PROMPTED.format(name=name))
            world.project.write(f"prompts/{name}.md", f"Cases that pass: {78 - len(name)}\n")
        for name, text in files.items():
            world.project.write(name, text)
        world.commit()
        base = world.push()
        assert base.exit_code == 0, base.output
        yield world


def save_prompted(world: World, picture: Path, files: Mapping[str, str]) -> None:
    """The comment on a pull request that changes files."""
    world.branch()
    for name, text in files.items():
        world.project.write(name, text)
    world.commit()
    pull = world.open_pull_request()
    world.job(events.pull_request(pull))
    browser.save_picture(browser.make_box("github-actions", find_report(pull)), picture)


def affected(picture: Path) -> None:
    """The comment on a pull request that edits the prompt of one of four suites."""
    with open_prompted_world({}) as world:
        save_prompted(world, picture, {"prompts/tone.md": "Be brief. Cases that pass: 62\n"})


def accepted(picture: Path) -> None:
    """The comment on a pull request with an accepted regression and two cases in quarantine."""
    files = {".scoregate/quarantine.toml": QUARANTINE, ".scoregate/accepted.toml": ACCEPTED}
    with open_prompted_world(files) as world:
        save_prompted(world, picture, {"prompts/tone.md": "Be brief. Cases that pass: 62\n"})


def alert(picture: Path) -> None:
    """The issue that a nightly job opens."""
    with open_world() as (world, provider):
        provider.failing = 2
        world.project.git("checkout", "-q", "main")
        world.permissions = {**world.permissions, "issues": "write"}
        job = world.job(events.schedule(world.repo), **provider.environ)
        assert world.repo.issues, job.output
        (issue,) = world.repo.issues.values()
        title = f"<h1>{html.escape(issue.title)} <span>#{issue.number}</span></h1>"
        state = "<div class=above><span class=state>Open</span></div>"
        box = browser.make_box("github-actions", issue.body, when="opened this issue 2 minutes ago")
        browser.save_picture(title + state + box, picture)


def command(picture: Path) -> None:
    """A comment with a command, and the answer in the comment with the report."""
    with open_world() as (world, provider):
        commands = Commands(world)
        world.repo.roles["ana"] = "maintain"
        world.branch()
        write_suite(world, "Briefly: ")
        pull = world.open_pull_request()
        world.job(events.pull_request(pull), **provider.environ).upload()
        text = "/scoregate accept support-answers contains until 2026-12-31 because short answers are worth it"
        comment = pull.comment(text, "ana")
        done = commands.answer(comment)
        assert done.exit_code == 0, done.output
        found = (REACTIONS[kind] for _, kind in comment.reactions)
        reactions = " ".join(f"<span class=reaction>{each} 1</span>" for each in found)
        asked = browser.make_box("ana", text, below=reactions)
        browser.save_picture(asked + browser.make_box("github-actions", find_report(pull)), picture)


def cost(picture: Path) -> None:
    """A terminal with the estimate of a run, and a run that its budget refuses."""
    with open_world() as (world, provider):
        planned = world.project.scoregate("plan", **provider.environ)
        refused = world.project.scoregate("run", "--max-cost", "0.05", **provider.environ)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere)
        console.print(Text.assemble(("$ ", "bold green"), ("scoregate plan", "bold")))
        console.print(planned.output.rstrip(), markup=False, highlight=False)
        console.print(Text.assemble(("\n$ ", "bold green"), ("scoregate run --max-cost 0.05", "bold")))
        console.print(refused.output.rstrip(), markup=False, highlight=False)
    picture.write_text(console.export_svg(title="scoregate", theme=MONOKAI, unique_id="cost"), encoding="utf-8")
