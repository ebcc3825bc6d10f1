"""Coverage of tools and prompts in jobs: the table in the reports, and notes where they are defined."""

from __future__ import annotations

import json

from tests.fakes.github import events
from tests.integration.jobs.world import Job, World

SUITE = """
from pathlib import Path
from scoregate import evaluate
from scoregate.evals import ToolCall, Trajectory
from scoregate.scorers import contains

def task(question):
    if question in SILENT:
        return "yes"
    Path("prompts/used.md").read_text()
    return Trajectory((ToolCall("search", {"query": question, "sort": "new"}),), output="yes")

evaluate("demo", data=[{"input": str(n)} for n in range(3)], task=task, scorers=[contains("yes")])
"""
TOOLS = {
    "tools": [
        {"name": "search", "inputSchema": {"properties": {"query": {}, "sort": {"enum": ["new", "o|d`"]}, "page": {}}}},
        {"name": "book", "inputSchema": {"properties": {"room": {}}}},
    ]
}
SETTINGS = 'affected = true\ncoverage_tools = ["tools.json"]\ncoverage_prompts = ["prompts/*"]\n'


def judge(world: World, settings: str = "annotate_coverage = true\n", silent: str = "", tools: object = TOOLS) -> Job:
    world.project.write("scoregate.toml", SETTINGS + settings)
    world.project.write(".gitignore", "scoregate-out/\n__pycache__/\n.scoregate-cache/\n")
    (world.project.root / "evals" / "demo.py").unlink()
    world.project.write("evals/demo.py", SUITE.replace("SILENT", repr(silent or "-")))
    world.project.write("tools.json", json.dumps(tools, indent=1))
    for name in ("used", "unused"):
        world.project.write(f"prompts/{name}.md", name)
    world.commit()
    return world.push()


def notes(job: Job) -> list[tuple[str, str, str]]:
    notices = [each for each in job.commands if each.name == "notice"]
    return [(each.properties.get("file", ""), each.properties.get("line", ""), each.message) for each in notices]


def test_unused_tools_are_in_every_report_and_have_notes(world: World) -> None:
    job = judge(world)
    assert job.exit_code == 0, job.output
    coverage = job.result["coverage"]
    assert coverage["counts"] == {
        "tool": {"known": 2, "used": 1},
        "argument": {"known": 3, "used": 2},
        "value": {"known": 2, "used": 1},
        "prompt": {"known": 2, "used": 1},
    }
    assert coverage["doubt"] == ""
    lines = (world.project.root / "tools.json").read_text().splitlines()
    search, book = (
        next(index for index, text in enumerate(lines, 1) if name in text) for name in ('"search"', '"book"')
    )
    assert notes(job) == [
        ("tools.json", str(search), "No eval uses these arguments or values of the tool search: sort = o|d`, page"),
        ("tools.json", str(book), "No eval calls the tool book."),
        ("prompts/unused.md", "1", "No eval reads this prompt."),
    ], job.output
    assert (
        "tools and prompts that cases use: 1 of 2 tools, 2 of 3 arguments, 1 of 2 values, 1 of 2 prompts" in job.output
    )
    assert f"unused: tool book  tools.json:{book}" in job.output
    report = (job.out / "report.html").read_text()
    assert "Used by a case: 1 of 2 tools" in report
    assert "prompts/unused.md" in report
    comment = (job.out / "comment.md").read_text()
    assert "<details><summary>Tools and prompts that no case uses: 4 (used: 1 of 2 tools" in comment
    assert "| value | <code>search</code> | <code>sort = o&#124;d&#96;</code> |" in comment


def test_unclear_tools_have_no_notes(world: World) -> None:
    job = judge(world, silent="1")
    assert job.result["coverage"]["doubt"] == "the tool calls of 1 of 3 trials are not recorded"
    assert [note for note in notes(job) if note[0] == "tools.json"] == []
    assert "More may be used" in (job.out / "comment.md").read_text()


def test_an_unreadable_list_is_a_notice(world: World) -> None:
    job = judge(world, tools={"nothing": 1})
    assert job.exit_code == 0
    assert any(each.startswith("coverage_tools: tools.json: it has neither") for each in job.result["notices"])
    assert job.result["coverage"]["counts"]["tool"] == {"known": 0, "used": 0}


def test_the_table_is_in_the_comment_of_a_pull_request(world: World) -> None:
    judge(world, settings="")
    world.branch()
    world.project.write("tools.json", json.dumps(TOOLS))
    world.commit()
    job = world.job(events.pull_request(world.open_pull_request()))
    assert "Tools and prompts that no case uses" in job.comment
    assert notes(job) == []


def test_without_a_list_there_is_no_coverage(world: World) -> None:
    assert world.push().result["coverage"] is None
