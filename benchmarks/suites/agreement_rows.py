"""What the suites of `retrieval_agreement.py` share: the rows that they read, and the scores that they write."""

import asyncio
import json
import math
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

MODEL = "gpt-4o"
Row = Mapping[str, Any]


class Scored(NamedTuple):
    """A score, None if there is none, and the verdicts that it rests on, or why there is none."""

    score: float | None
    verdicts: Sequence[str] | str


Scorer = Callable[[Row], Awaitable[Scored]]


def score_rows(package: str, scorers: Mapping[str, Scorer]) -> None:
    """Score the rows of the first argument's file in order, and write the scores to the second argument's."""
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    found = asyncio.run(_score_rows(scorers, rows))
    Path(sys.argv[2]).write_text(json.dumps({"version": version(package), "scores": found}), encoding="utf-8")


async def _score_rows(scorers: Mapping[str, Scorer], rows: Sequence[Row]) -> dict[str, list[Scored]]:
    return {name: [await _score(scorer, row) for row in rows] for name, scorer in scorers.items()}


async def _score(scorer: Scorer, row: Row) -> Scored:
    try:
        scored = await scorer(row)
    except ValueError as error:  # such as a row without passages
        return Scored(None, f"{type(error).__name__}: {error}")
    return scored._replace(score=None) if scored.score is None or math.isnan(scored.score) else scored


def read_texts(row: Row) -> list[str]:
    """Return the texts of a row's passages."""
    return [passage["text"] for passage in row["contexts"]]
