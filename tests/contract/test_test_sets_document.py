"""Every block of docs/test_sets.md, executed as it stands, in the order of the document."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "test_sets.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
FILES = {
    "bot.py": "def answer(input):\n    return 'At nine.' if 'open' in input else 'Closed.'\n",
    "more.json": '[{"category": "c", "behavior": "b", "prompt_content": "q"}]',
    "tests.csv": 'prompt_content,category,topic,behavior\n"two\nlines",c,t,b\nq,c,t,b\n',
}
# What each block prints, or some of it.
SAID = [
    ["opening-hours 1"],
    [],
    ['name = "Opening Hours"', "When do you open?", "Opening Hours: Single-Turn, 1 of 1 tests", "refunds"],
    [
        "['Answers from the handbook', 'Says so'] True\n['Opening Hours']\n2 ",
        "['Answers from the handbook', 'Says so', 'Stays polite']",
    ],
    ["2 4\n"],
    ["imported-tests: 2 tests written to exported.csv", "imported-tests: 2 tests written to exported.jsonl"],
    [
        "completed 2 0.5\n",
        "('Pass', 'At nine.')",
        "('Fail', 'Closed.')",
        "First try True\nPass\n",
    ],
    ["Refund Requests\n"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of the reader's own, in which the blocks run one after another."""
    found = tmp_path_factory.mktemp("project")
    (found / ".scoregate").mkdir()
    for name, text in FILES.items():
        (found / name).write_text(text)
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        running.answers("Title Case", {"name": "Refund Requests"})
        yield running


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs(number: int, folder: Path, server: OpenAIServer) -> None:
    language, text = BLOCKS[number]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SCOREGATE_", "OPENAI_"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept["PATH"]])
    command = [sys.executable, "-W", "error", "-c", text] if language == "python" else ["bash", "-ec", text]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**kept, "PATH": path, **server.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert all(said in done.stdout for said in SAID[number]), done.stdout


def test_every_block_is_known() -> None:
    assert len(SAID) == len(BLOCKS)
