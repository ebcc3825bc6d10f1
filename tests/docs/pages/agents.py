"""The agent `claude` writes a file in the workspace, a copy of `fixtures/shop`."""

from __future__ import annotations

from tests.docs.pages.skills import add_claude
from tests.docs.project import Project


def prepare(project: Project) -> None:
    add_claude(project)
    project.write("fixtures/shop/README.md", "A shop.\n")
