"""`scoregate exec --gateway`: a suite in shell, with curl, is recorded and then replayed without a key."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.fakes.fixtures import openai_server
from tests.fakes.openai import OpenAIServer
from tests.integration.host.conftest import Project

__all__ = ["openai_server"]
KEY = "sk-real-0123456789abcdef"
SUITE = r"""
say() { printf '{"suite":"shell","type":"%s"%s}\n' "$1" "$2" >> "$SCOREGATE_EVENTS/shell.jsonl"; }
ask() {
  curl --silent --no-buffer "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
    -H 'Content-Type: application/json' -H "x-scoregate-case: case%20$1" $3 \
    -d '{"model": "gpt-4o", "messages": [{"role": "user", "content": "question '$1'"}]'"$2}"
}
say suite_started ',"cases":2'
for number in 1 2; do
  say case_started ",\"case\":\"case $number\",\"input\":$number"
  ask $number '' > "plain-$number"
  ask $number ', "stream": true' > "stream-$number"
  say case_output ",\"case\":\"case $number\",\"output\":\"$(sha256sum < stream-$number)\""
  ask $number ', "temperature": 0' '-H x-scoregate-evaluator:judge' > "judge-$number"
  say scored ",\"case\":\"case $number\",\"evaluator\":\"judge\",\"score\":1,\"threshold\":{\"gte\":1}"
  say case_finished ",\"case\":\"case $number\""
done
say suite_finished
env | grep -c sk-real > keys || true
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    new_project = Project(tmp_path)
    new_project.write("suite.sh", SUITE)
    return new_project


def outputs(project: Project) -> dict[str, bytes]:
    names = [f"{kind}-{number}" for kind in ("plain", "stream", "judge") for number in (1, 2)]
    return {name: (project.root / name).read_bytes() for name in names}


def test_a_suite_in_shell_is_recorded_and_replayed(project: Project, openai_server: OpenAIServer) -> None:
    arguments = ("exec", "--baseline", "none", "--cache", "off", "--gateway")
    keys = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": openai_server.url}
    recorded = project.scoregate(*arguments, "record", "--", "sh", "suite.sh", **keys)
    assert recorded.exit_code == 0, recorded.output
    assert (project.root / "keys").read_text().strip() == "0"
    first, request_count = outputs(project), len(openai_server.asked())
    assert request_count == 6
    assert all(b"data: [DONE]" in first[f"stream-{number}"] for number in (1, 2))
    lines = gzip.decompress((recorded.out / "run" / "cases.jsonl.gz").read_bytes()).splitlines()
    assert [
        (case["usage"]["input_tokens"], case["evaluations"]["judge"]["usage"]["input_tokens"])
        for case in map(json.loads, lines)
    ] == [(10, 5), (10, 5)]

    replayed = project.scoregate(*arguments, "replay", "--", "sh", "suite.sh")
    assert replayed.exit_code == 0, replayed.output
    assert outputs(project) == first
    assert len(openai_server.asked()) == request_count
    rows = replayed.run["model_calls"]
    assert sum(row["replayed"] for row in rows) == sum(row["calls"] for row in rows) == 6

    project.write("suite.sh", SUITE.replace("question ", "changed question "))
    changed = project.scoregate(*arguments, "replay", "--", "sh", "suite.sh")
    assert changed.exit_code == 3, changed.output
    assert "no recorded answer to a call of openai/gpt-4o in case 'case 1'" in changed.output
    tapes = [path for path in (project.root / ".scoregate" / "cassettes").iterdir() if path.suffix == ".gz"]
    assert len(tapes) == 1
