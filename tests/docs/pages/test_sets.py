"""What the page about test sets takes for granted: a chat service, and models that judge answers and write tests."""

from __future__ import annotations

import tomllib

from tests.docs.page import Block
from tests.docs.project import Project
from tests.fakes.writer import answer_with_tests

from scoregate.store import StoredEndpoint


def prepare(project: Project) -> None:
    service = project.start_chat_service()
    service.guard.token = "token-of-the-bot"
    project.environment |= {"BOT_URL": service.url, "BOT_TOKEN": service.guard.token}
    project.models.answers("5: friendly", {"reason": "It is friendly.", "answer": 5})
    answer_with_tests(project.models)


def read_credentials(_project: Project, block: Block) -> str:
    """A part of an endpoint's file, as the endpoint reads it."""
    endpoint = StoredEndpoint(url="https://bot.example.com", **tomllib.loads(block.text))
    assert endpoint.auth is not None
    return endpoint.auth.type


def finish(project: Project) -> None:
    """Every field of an endpoint is documented, and its answers are judged."""
    text, own = project.page.read_text(encoding="utf-8"), {"name", "id", "description", "project_id", "created_at"}
    assert [name for name in StoredEndpoint.model_fields if name not in own and f"`{name}`" not in text] == []
    output = "".join(project.outputs)
    assert "opening-hours: Single-Turn, 2 tests" in output
    assert "['Opening Hours']" in output
    assert output.count("3 of 3 pass") == 2
