"""What the judges of the page about metrics answer."""

from __future__ import annotations

from tests.docs.project import Project


def prepare(project: Project) -> None:
    criteria = [
        {"criterion": "The hours are named", "evidence": "At nine", "relevant_turns": [1], "met": True},
        {"criterion": "Those of Sundays are", "evidence": "I could not say", "relevant_turns": [2], "met": False},
    ]
    answers = project.models.answers
    answers("5: friendly", {"reason": "It is friendly, and gives the hour.", "answer": 5})
    answers("did the conversation reach its goal", {"criteria_evaluations": criteria, "score": 0.5})
    answers("Which tone", {"answer": "plain"})
