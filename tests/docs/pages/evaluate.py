"""The page about suites goes on with the bot of the quickstart."""

from __future__ import annotations

from tests.docs.page import read_blocks
from tests.docs.project import Project


def prepare(project: Project) -> None:
    for block in read_blocks(project.page.with_name("quickstart.md")):
        if block.path == "bot.py":
            project.write(block.path, block.content)
