"""Without ragas, or with one that cannot be used, its evaluators say what to install; nothing else needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import Errored

SUITE = """
import sys
from scoregate.testing.evaluators import BaseRagasNonLLMContextRecall
from scoregate.testing.run import run_test_suite

class Recall(BaseRagasNonLLMContextRecall):
    id = "recall"
    def retrieved_contexts_mapper(self, test_case, output): return [output]
    def reference_contexts_mapper(self, test_case): return ["a"]

assert "ragas" not in sys.modules
run_test_suite("rag", [{"n": 1}], lambda case: "a", [Recall()], test_case_hash=["n"])
"""


def run(source: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n{source}"
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("SCOREGATE_", "RAGAS_"))}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environ | more)


def write_distribution(folder: Path, version: str, source: str) -> None:
    """An installed distribution of that version, with this source."""
    described = folder / f"ragas-{version}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ragas\nVersion: {version}\n")
    (folder / "ragas.py").write_text(source)


@pytest.mark.parametrize("name", ["BaseRagasResponseRelevancy", "BaseRagasFaithfulness"])
def test_a_class_needs_no_ragas(name: str, tmp_path: Path) -> None:
    code = f"from scoregate.testing.evaluators import {name}; import os; print(os.environ['RAGAS_DO_NOT_TRACK'])"
    assert run(code, tmp_path).stdout == "true\n"


def test_ragas_is_not_imported_without_its_classes(tmp_path: Path) -> None:
    code = (
        "import os, sys, scoregate.testing.evaluators as found; "
        "print('RAGAS_DO_NOT_TRACK' in os.environ, any('ragas' in name for name in sys.modules)); "
        "print(hasattr(found, 'BaseRagas'))"
    )
    assert run(code, tmp_path).stdout == "False False\nFalse\n"


def test_a_missing_mapper_is_named_at_creation(tmp_path: Path) -> None:
    code = "from scoregate.testing.evaluators import BaseRagasFaithfulness; BaseRagasFaithfulness()"
    err = run(code, tmp_path).stderr
    assert all(name in err for name in ("user_input_mapper", "response_mapper", "retrieved_contexts_mapper"))


def evaluation_error(folder: Path) -> ErrorInfo:
    """What the only evaluation of the suite ended with."""
    events = folder / "events"
    events.mkdir()
    run(SUITE, folder, SCOREGATE_EVENTS=str(events))
    recorded = [parse_event(line) for path in events.iterdir() for line in path.read_bytes().splitlines()]
    (error,) = [event.error for event in recorded if isinstance(event, Errored)]
    return error


def test_missing(tmp_path: Path) -> None:
    error = evaluation_error(tmp_path)
    assert (error.type, error.advice) == ("MissingExtra", "pip install 'scoregate[ragas]'")
    assert error.message == "evaluators of ragas need the ragas package, which is not installed"


@pytest.mark.parametrize("version", ["0.1.22", "0.5.0", "1.0.0rc1", "odd"])
def test_of_another_version(version: str, tmp_path: Path) -> None:
    write_distribution(tmp_path, version, "")
    error = evaluation_error(tmp_path)
    assert (error.type, error.advice) == ("MissingExtra", "pip install 'scoregate[ragas]'")
    assert error.message == f"ragas {version} is installed; its versions 0.2 to 0.4 are supported"


def test_a_failed_import(tmp_path: Path) -> None:
    write_distribution(tmp_path, "0.4.3", "from langchain_community.chat_models.vertexai import ChatVertexAI")
    error = evaluation_error(tmp_path)
    assert (error.type, error.advice) == ("MissingExtra", "pip install 'scoregate[ragas]'")
    assert error.message == "ragas 0.4.3 cannot be imported: No module named 'langchain_community'"


def test_one_without_the_metric(tmp_path: Path) -> None:
    write_distribution(tmp_path, "0.4.3", "__path__ = []")
    assert evaluation_error(tmp_path).message.startswith("ragas 0.4.3 cannot be imported: No module named 'ragas.")
