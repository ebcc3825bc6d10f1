"""A chat service at the address of the page about endpoints."""

from __future__ import annotations

import tomllib

from tests.docs.page import Block
from tests.docs.project import Project

from scoregate.store import StoredEndpoint


def prepare(project: Project) -> None:
    service = project.start_chat_service()
    service.guard.token = "token-of-the-bot"
    project.environment |= {"BOT_URL": service.url, "BOT_TOKEN": service.guard.token}


def read_credentials(_project: Project, block: Block) -> str:
    """A part of an endpoint's file, as the endpoint reads it."""
    endpoint = StoredEndpoint(url="https://bot.example.com", **tomllib.loads(block.text))
    assert endpoint.auth is not None
    return endpoint.auth.type


def finish(project: Project) -> None:
    """Every field is documented."""
    text, own = project.page.read_text(encoding="utf-8"), {"name", "id", "description", "project_id", "created_at"}
    assert [name for name in StoredEndpoint.model_fields if name not in own and f"`{name}`" not in text] == []
