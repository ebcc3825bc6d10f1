"""A model that writes tests, for the page about synthesizers."""

from __future__ import annotations

from tests.docs.project import Project
from tests.fakes.writer import writes_tests


def prepare(project: Project) -> None:
    writes_tests(project.models)
