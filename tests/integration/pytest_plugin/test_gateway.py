"""Calls that tests make through a gateway name their case."""

from __future__ import annotations

from urllib.parse import unquote

from tests.fakes.header_echo import serve_headers
from tests.integration.pytest_plugin.conftest import Bench

TESTS = """
import json, os, urllib.request
import pytest

@pytest.mark.scoregate(suite="hours")
@pytest.mark.parametrize("question", ["When?", "Until when?"])
def test_answer(scoregate, question):
    request = urllib.request.Request(os.environ["SCOREGATE_GATEWAY_URL"] + "/openai/v1/chat/completions", b"{}")
    with urllib.request.urlopen(request) as answer:
        scoregate.output(json.load(answer))
    scoregate.score("good", 1.0)
"""


def test_plain_clients_in_tests_name_their_case(bench: Bench) -> None:
    bench.write(TESTS)
    with serve_headers() as address:
        outcome = bench.run(SCOREGATE_GATEWAY_URL=address)
        # A worker, and a controller that writes events.
        spread = bench.run("-p", "xdist", "-n", "1", SCOREGATE_GATEWAY_URL=address)
    assert outcome.code == 0, outcome.output
    assert len(outcome.cases) == 2
    for found in (outcome, spread):
        assert {case.output["x-scoregate-suite"] for case in found.cases.values()} == {"hours"}
        named = {unquote(case.output["x-scoregate-case"]) for case in found.cases.values()}
        assert named == {name for name, _ in found.cases}
