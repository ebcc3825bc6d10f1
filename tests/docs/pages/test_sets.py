"""What the page about test sets takes for granted: an application, tables of tests, and a model that names a set."""

from __future__ import annotations

from tests.docs.project import Project


def prepare(project: Project) -> None:
    project.write("bot.py", "def answer(input):\n    return 'At nine.' if 'open' in input else 'Closed.'\n")
    project.write("more.json", '[{"category": "c", "behavior": "b", "prompt_content": "q"}]')
    project.write("tests.csv", 'prompt_content,category,topic,behavior\n"two\nlines",c,t,b\nq,c,t,b\n')
    project.models.answers("Title Case", {"name": "Refund Requests"})


def finish(project: Project) -> None:
    """What blocks printed that the page describes in words."""
    output, position = "".join(project.outputs), 0
    for expected in (
        "opening-hours 1",
        'name = "Opening Hours"',
        "When do you open?",
        "Opening Hours: Single-Turn, 1 of 1 tests",
        "['Answers from the handbook', 'Is exact'] True\n['Opening Hours']\n2 ",
        "['Answers from the handbook', 'Is exact', 'Stays polite']",
        "2 4\n",
        "imported-tests: 2 tests written to exported.csv",
        "imported-tests: 2 tests written to exported.jsonl",
        "completed 2 0.5\n",
        "[('Fail', 'Closed.'), ('Pass', 'At nine.')]",
        "First try True\nPass\n",
        "Refund Requests\n",
    ):
        position = output.find(expected, position) + len(expected)
        assert position >= len(expected), f"{expected!r} is missing from\n{output}"
