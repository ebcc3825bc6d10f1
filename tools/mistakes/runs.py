"""Mistakes with baselines, output folders and pages."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.mistakes.mistake import FILE, SUITE, Mistake

_SUITE = {FILE: SUITE}


@contextmanager
def _use_port(_: Path) -> Iterator[tuple[str, ...]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "--port", str(server.getsockname()[1])


MISTAKES = (
    Mistake("The baseline doesn't exist.", _SUITE, ("run", "--baseline", "before"), 2),
    Mistake("The baseline is misspelled.", _SUITE, ("run", "--baseline", "prevous"), 2),
    Mistake("The baseline is not a run.", {**_SUITE, "before/notes.txt": "\n"}, ("run", "--baseline", "before"), 2),
    Mistake("The baseline is damaged.", {**_SUITE, "before/run/run.json": "{"}, ("run", "--baseline", "before"), 2),
    Mistake("`--out` is the folder of the suites.", _SUITE, ("run", "--out", "evals"), 2),
    Mistake("`--out` can't be created.", {**_SUITE, "reports": "\n"}, ("run", "--out", "reports/now"), 2),
    Mistake("There is no run to report.", _SUITE, ("report",), 2),
    Mistake("There is no run to gate.", _SUITE, ("gate", "nightly"), 2),
    Mistake("The port of `view` is in use.", _SUITE, ("view", "--no-open"), 2, prepare=_use_port),
    Mistake("`--baseline rerun` has no git repository.", _SUITE, ("run", "--baseline", "rerun"), 2, in_git=False),
    Mistake("`--baseline rerun` names no commit.", _SUITE, ("run", "--baseline", "rerun:mian"), 2),
)
