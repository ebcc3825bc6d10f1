"""Suites that print, return and are called what a runner, Markdown or XML would obey: nothing of it acts."""

from __future__ import annotations

import json

from lxml import etree
from tests.fakes.github import events
from tests.integration.host.conftest import SUITE
from tests.integration.jobs.world import Job, World
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.test_escape import tags, to_html

LOG = (
    "::set-output name=conclusion::passed",
    "   ::add-mask::word",
    "\t::stop-commands::stopped-by-a-suite",
    "\u00a0::error file=a.py::forged",
    "text\r::error::after a carriage return",
    "text\x0b\x0c::error::after a form feed",
    "text\u2028::error::after a line separator",
    "in a line ##[error]forged",
    "##[add-mask]another",
    "#\x1b[0m#[error]joined",
    "::\x1b[31merror::coloured",
    "\x1b[2K\x1b[1G::warning::redrawn",
    ":\u200b:error::half",
    "conclusion<<scoregate_0\npassed\nscoregate_0",
    "::save-state name=a::b",
    "::group::open",
)
BODY = """
import json, pathlib, sys

TEXTS = json.loads(pathlib.Path(__file__).with_name("texts.json").read_text())
for text in TEXTS["log"]:
    print(text)
    print(text, file=sys.stderr)
sys.stdout.write("::error::without an end of line")


@dataclass
class Hostile(BaseTestCase):
    text: str

    def hash(self):
        return self.text[:5000]


class Judge(BaseIsEquals[Hostile, str]):
    id = TEXTS["texts"][0]

    def test_case_mapper(self, test_case):
        return "something else"

    def output_mapper(self, output):
        return output


def answer(case):
    if case.text.startswith("::"):
        raise RuntimeError(case.text)
    return case.text


for at, text in enumerate(TEXTS["texts"]):
    run_test_suite(id=f"{at} {text[:3000]}", test_cases=[Hostile(text)], fn=answer, evaluators=[Judge()])
run_test_suite(id="all", test_cases=[Hostile(text) for text in TEXTS["texts"]], fn=answer, evaluators=[Judge()])
"""


def hostile_job(world: World, *arguments: str, **environment: str) -> Job:
    texts = [text for text in HOSTILE if text.strip()] + [text for text in LOG if "\n" not in text]
    sure = [text.encode("utf-8", "replace").decode() for text in texts]
    world.project.write("evals/texts.json", json.dumps({"texts": sure, "log": [*LOG, *(t[:9_000] for t in sure)]}))
    world.project.write("evals/demo.py", SUITE + BODY)
    world.commit()
    pull = world.open_pull_request()
    return world.job(events.pull_request(pull), *arguments, **environment)


def test_hostile_suite_texts_are_escaped(world: World) -> None:
    world.push()
    world.branch()
    job = hostile_job(world, "run", "--check-run")
    assert job.exit_code in (1, 3), job.output[-3_000:]

    allowed = {"error", "warning"}
    assert {command.name for command in job.commands} <= allowed
    assert all(command.properties["title"].startswith("scoregate") for command in job.commands)
    assert len([each for each in job.commands if each.name == "error"]) <= 10
    assert len([each for each in job.commands if each.name == "warning"]) <= 10
    assert all(len(each.message) <= 4_096 for each in job.commands)
    assert "\x1b" not in job.output
    assert not any(char in job.output for char in "\u202e\u2066\u2028\x00\x07")

    assert job.outputs["conclusion"] in ("failed", "unmeasurable")
    assert set(job.outputs) >= {"conclusion", "pass-rate", "run-path", "comment-url"}
    assert "scoregate_0" not in job.outputs

    (pull,) = world.repo.pulls.values()
    (comment,) = pull.comments
    (check,) = world.repo.check_runs.values()
    for text in (comment.body, job.summary, check.output["summary"], job.comment):
        assert text.count("<!-- scoregate:v1") == 1
        html = to_html(text)
        assert not [tag for tag in tags(html) if tag.startswith(("<img", "<script", "<h1", "<svg", "<iframe"))]
        assert "evil.example" not in "".join(tags(html))
        assert html.count("<details") == html.count("</details")
    assert len(comment.body) <= 65_536
    assert len(job.summary.encode()) <= 1_048_576

    etree.fromstring(job.written["junit.xml"], etree.XMLParser(huge_tree=True))
    assert job.result["conclusion"] == job.outputs["conclusion"]


def test_an_error_in_a_job_prints_no_commands(world: World) -> None:
    """An error of scoregate quotes hostile text; the runner must not obey the quotation."""
    world.project.write("scoregate.toml", 'paths = ["##[error]x\\n::error::forged"]\n')
    job = world.job(events.push(world.repo))
    assert job.exit_code == 2, job.output
    assert all(command.properties.get("title") == "scoregate" for command in job.commands)


def test_reports_fit_2000_failing_cases(world: World) -> None:
    body = "LONG = 'x' * 20_000\n"
    world.branch()
    world.commit_suite(body, fn="lambda case: LONG + case.input", good=0, bad=2_000)
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull), "run", "--check-run")
    assert job.exit_code == 1, job.output[-2_000:]
    assert job.warnings == []
    (comment,) = pull.comments
    assert 1_000 < len(comment.body) <= 65_536
    assert len(comment.body) < len(job.summary.encode()) <= 1_048_576
    (check,) = world.repo.check_runs.values()
    assert check.conclusion == "failure"
    assert len(job.output) < 200_000
