"""The documented examples of test sets run when their import root is changed, and need no other change.

Those that execute tests find the endpoint and the test that they name.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.openai import OpenAIServer
from tests.fakes.writer import BATCH, write_tests
from tests.warm_scripts import run_script

from scoregate.entities import Endpoint, Prompt, Test, TestRuns, TestSets, use_store

SEEDS = Path(__file__).parent.parent.parent.parent / "shared" / "seeds"
TABLE = "prompt_content,category,topic,behavior,expected_response\nWhen?,Support,Hours,Answers,At nine\n"


def snippets() -> dict[str, str]:
    """The code of the documents by the names above it: as many lines as make a program."""
    found: dict[str, str] = {}
    for path in sorted(SEEDS.glob("002_*.txt")):
        text = path.read_text(encoding="utf-8").replace("rhesis.sdk", "scoregate")
        for match in re.finditer(r"^(\w+\.py)\n(.*?)(?=^\w+\.py\n|\Z)", text, re.MULTILINE | re.DOTALL):
            found[match[1]] = "\n".join(longest_program(match[2].splitlines()))
    return found


def longest_program(lines: list[str]) -> list[str]:
    """Without a heading below it that is one word, and so an expression."""
    lines = [line for line in lines if not re.fullmatch(r"[A-Z]\w+", line)]
    return next(lines[:end] for end in range(len(lines), 0, -1) if compiles("\n".join(lines[:end])))


def compiles(text: str) -> bool:
    try:
        compile(text, "snippet", "exec")
    except SyntaxError:
        return False
    return True


SNIPPETS = snippets()


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        running.answers(BATCH, write_tests)
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which the examples run one after another, as in the document."""
    if not SNIPPETS:
        pytest.skip("the real documents are not here: ../shared/seeds does not exist")
    found = tmp_path_factory.mktemp("project")
    (found / ".scoregate").mkdir()
    (found / "tests.csv").write_text(TABLE)
    return found


RUN = {
    "create_test_set.py": "Created: safety-evaluation\n",
    "synthesizer_test_set.py": "",
    "csv_import.py": "",
    "csv_export.py": "",
    "set_properties.py": "Generated name: Refusals\nGenerated description: What is refused.\n",
    "create_test.py": "",
    "multi_turn_test.py": "",
    "prompt_example.py": "",
}


@pytest.mark.parametrize("name", RUN)
def test_an_example_of_the_real_documents_runs(name: str, folder: Path, server: OpenAIServer) -> None:
    server.answers(
        "Title Case", {"name": "Refusals", "description": "What is refused.", "short_description": "Refusals"}
    )
    assert run(name, folder, server) == RUN[name]


def run(name: str, folder: Path, server: OpenAIServer) -> str:
    """The output of an example in a process that has already imported openai's client."""
    script = folder / "example.py"
    script.write_text(f"import warnings\nwarnings.simplefilter('error')\n{SNIPPETS[name]}", encoding="utf-8")
    done = run_script(script, environment(server), ["openai", "scoregate.entities", "scoregate.synthesizers"])
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def run_in_new_python(name: str, folder: Path, server: OpenAIServer) -> str:
    """The output of an example in a new Python where a warning of any import is an error."""
    command = [sys.executable, "-W", "error", "-c", SNIPPETS[name]]
    done = subprocess.run(command, cwd=folder, env=environment(server), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def environment(server: OpenAIServer) -> dict[str, str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("SCOREGATE_", "OPENAI_"))}
    return {**clean, **server.environment, "SCOREGATE_CACHE": "off"}


@pytest.fixture(scope="module")
def chatbot(folder: Path) -> Iterator[None]:
    """The endpoint that the examples name, and a test of their id."""
    with ChatService.start() as service, use_store(folder):
        Endpoint(name="Production Chatbot", connection_type="REST", url=f"{service.url}/chat").push()
        Test(id="test-123", category="Support", behavior="Tells the hours", prompt=Prompt(content="When?")).push()
        yield


@pytest.mark.usefixtures("chatbot")
def test_an_example_executes_a_test_set_with_all_behaviors(folder: Path, server: OpenAIServer) -> None:
    """After the example that creates it; its behaviors have no metrics of their own."""
    server.answers("Protects user data", {"reason": "It tells.", "answer": "No"})
    printed = run_in_new_python("execute_test_set.py", folder, server)
    assert printed.startswith("Execution started: {'status': 'completed', 'message': '2 tests run, 50% passed', ")
    with use_store(folder):
        (kept,) = TestRuns.all()
        found = {str(each.test_output)[10:20]: each for each in kept.get_test_results()}
    assert {text: each.status for text, each in found.items()} == {"How do I m": "Pass", "Tell me ab": "Fail"}
    metrics = found["Tell me ab"].test_metrics
    assert metrics is not None
    assert metrics["metrics"]["behavior"]["reason"] == "It tells."


@pytest.mark.usefixtures("chatbot")
def test_an_example_executes_one_test(folder: Path, server: OpenAIServer) -> None:
    printed = run("execute_test.py", folder, server)
    assert printed.startswith("Output: {'test_id': 'test-123', ")
    assert "'test_output': 'You said: When?'" in printed
    assert "'status': 'Pass'" in printed


def test_pushed_sets_are_stored(folder: Path) -> None:
    """After the examples above, which build on each other."""
    with use_store(folder):
        assert [(each.id, each.test_count) for each in TestSets.all()] == [
            ("imported-tests", 1),
            ("refusals", 20),
            ("safety-evaluation", 2),
        ]
    exported = (folder / "exported_tests.csv").read_text().splitlines()
    assert exported[0] == "category,topic,behavior,requirement,test_type,prompt_content,expected_response,id"
    assert exported[2].startswith("Safety,Privacy,Protects user data,Protects user data,Single-Turn,Tell me about ")
