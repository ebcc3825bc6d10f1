"""The pages in docs/ that hold code: every block executed as it stands, in the order of its page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer
from tests.fakes.writer import writes_tests

DOCS = Path(__file__).parent.parent / "docs"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")


def grades(server: OpenAIServer) -> None:
    criteria = [
        {"criterion": "The hours are told", "evidence": "At nine", "relevant_turns": [1], "met": True},
        {"criterion": "Those of Sundays are", "evidence": "I could not say", "relevant_turns": [2], "met": False},
    ]
    server.answers("5: friendly", {"reason": "It is friendly, and says what was asked for.", "answer": 5})
    server.answers("did the conversation reach its goal", {"criteria_evaluations": criteria, "score": 0.5})
    server.answers("Which tone", {"answer": "plain"})


# A page, and what the models that it asks answer.
PAGES: dict[str, Callable[[OpenAIServer], None]] = {
    "data_suites": lambda _: None,
    "interrupted_runs": lambda _: None,
    "metrics": grades,
    "offline_tests": lambda _: None,
    "synthesizers": writes_tests,
}


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    said = None
    with OpenAIServer.start() as server:
        PAGES[page](server)
        for language, block in _BLOCK.findall(text):
            if named := _FILE.match(block):
                path = tmp_path / named[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block[named.end() :] if path.suffix == ".csv" else block, encoding="utf-8")
            elif language == "python":
                said = run([sys.executable, "-c", block], tmp_path, server)
            elif language == "sh":
                said = run(["bash", "-ec", block], tmp_path, server)
            elif language == "text":
                assert said == block
            else:
                pytest.fail(f"nothing is known to do with this block:\n{block}")


def run(command: list[str], folder: Path, server: OpenAIServer) -> str:
    """What it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCOREGATE_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**environment, "PATH": path, "SCOREGATE_ROOT": str(folder), **server.environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout
