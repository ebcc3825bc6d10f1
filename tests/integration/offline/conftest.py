"""What the tests of offline tests share: a project with a dataset and two judges, and a model that answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.host.conftest import project
from tests.integration.judging.conftest import root, server

from scoregate.client import Client

__all__ = ["project", "root", "server"]
ROWS = [{"input": f"question {number}", "expected": f"answer {number}"} for number in range(1, 5)]


@pytest.fixture
def client(root: Path, server: OpenAIServer) -> Client:  # noqa: ARG001
    """`golden-set` is judged by two prompt judges, which answer Yes by default."""
    judge_client = Client(project_name="support-bot", store=root)
    judge_client.datasets.create("golden-set", examples=ROWS)
    judge_client.judges.create("helpfulness", "Is it helpful? {{input}}")
    judge_client.judges.create("faithfulness", "Is it faithful? {{input}}")
    judge_client.offline_tests.create_config("nightly-regression", "golden-set", ["helpfulness", "faithfulness"])
    return judge_client
