"""An application at the address of the page that compares the APIs, and judges that are content."""

from __future__ import annotations

from tests.docs.project import Project


def prepare(project: Project) -> None:
    project.environment["SHOP_URL"] = f"{project.start_chat_service().url}/chat"
    project.models.answers("show the behavior", {"answer": "Yes"})
    project.models.answers("helpful answer", {"answer": "Yes"})
