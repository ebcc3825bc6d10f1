"""What the model answers about the second suite of the page about retrieval."""

from __future__ import annotations

from tests.docs.project import Project


def prepare(project: Project) -> None:
    project.models.answers("which claims", {"claims": [{"claim": "It opens.", "reason": "said", "answer": "Yes"}]})
    answers = [{"number": 1, "reason": "said", "answer": "Yes"}]
    project.models.answers("for each numbered", {"answers": answers})
