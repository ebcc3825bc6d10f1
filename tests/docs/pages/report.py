"""The report: it goes on with the suite and the baseline of the pages before."""

from __future__ import annotations

from tests.docs.page import read_blocks
from tests.docs.pages import edit_loop
from tests.docs.project import Project


def prepare(project: Project) -> None:
    """Make the baseline of the quickstart, and the state after the edit loop: the bot fails four cases."""
    blocks = read_blocks(project.page.with_name("quickstart.md"))
    for block in blocks:
        if block.path:
            project.write(block.path, block.content)
        elif "--out before" in block.text and block.language == "sh":
            assert project.run(["bash", "-ec", block.text]).returncode == 0
            break
    edit_loop.write_files(project)
    edit_loop.repair_bot(project)
