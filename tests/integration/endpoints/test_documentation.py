"""Every block of docs/endpoints.md, executed as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.fakes.chat_service import ChatService

from scoregate.store import StoredEndpoint

TEXT = (Path(__file__).parents[3] / "docs" / "endpoints.md").read_text(encoding="utf-8")
DEFINITION, CALLS, CREDENTIALS = re.findall(r"^```\w+\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def test_the_endpoint_of_the_documentation_answers(chat_service: ChatService, tmp_path: Path) -> None:
    chat_service.guard.token = "token-of-the-bot"
    path = tmp_path / ".scoregate" / "endpoints" / "support-bot.toml"
    path.parent.mkdir(parents=True)
    path.write_text(DEFINITION, encoding="utf-8")
    environment = {"BOT_URL": chat_service.url, "BOT_TOKEN": "token-of-the-bot", "SCOREGATE_ROOT": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CALLS], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "You said: When do you open?\n"), done.stderr


def test_the_credentials_of_the_documentation_can_be_read() -> None:
    assert StoredEndpoint(url="https://bot.example.com", **tomllib.loads(CREDENTIALS)).auth is not None


def test_every_field_is_documented() -> None:
    said = {"name", "id", "description", "project_id", "created_at"}
    assert [name for name in StoredEndpoint.model_fields if name not in said and f"`{name}`" not in TEXT] == []
