"""A model that writes tests, for the page about synthesizers."""

from __future__ import annotations

from tests.docs.project import Project
from tests.fakes.writer import answer_with_tests


def prepare(project: Project) -> None:
    answer_with_tests(project.models)
