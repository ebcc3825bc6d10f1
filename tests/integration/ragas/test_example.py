"""The documented example, as it is printed but for its import root, and what leaves the machine while it runs."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.contract.examples import documented
from tests.integration.ragas.conftest import Place, Ran
from tests.integration.ragas.environment import ROOT

SEED = sorted((ROOT.parent / "shared" / "seeds").glob("001_*.txt"))
OURS = Path(__file__).parent / "example.txt"


@pytest.fixture
def proxy() -> Iterator[socket.socket]:
    """A proxy for all connections outside of loopback, without a server behind it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def count_connections(proxy: socket.socket) -> int:
    count = 0
    with suppress(BlockingIOError):
        while True:
            proxy.accept()[0].close()
            count += 1
    return count


def run(place: Place, proxy: socket.socket, document: Path, **environ: str) -> Ran:
    (example,) = documented(document, "BaseRagasResponseRelevancy")
    outside = {"HTTPS_PROXY": f"http://127.0.0.1:{proxy.getsockname()[1]}", "NO_PROXY": "127.0.0.1"}
    return place.run(example.changed, **outside, **environ)


def test_an_example_runs_untracked(place: Place, proxy: socket.socket) -> None:
    outcome = run(place, proxy, SEED[0] if SEED else OURS)
    assert (outcome.code, outcome.errors) == (0, {})
    assert 0 < outcome.scores["response-relevancy"][0] < 1
    assert count_connections(proxy) == 0


def test_tracking_is_opt_in(place: Place, proxy: socket.socket) -> None:
    outcome = run(place, proxy, OURS, RAGAS_DO_NOT_TRACK="false")
    assert (outcome.code, outcome.errors) == (0, {})
    assert count_connections(proxy) > 0
