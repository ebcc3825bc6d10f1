"""`rouge_l` has the scores of the package rouge-score."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.cached_environments import cached_folder, make_python

from scoregate.scorers import rouge_l

REQUIREMENTS = ("rouge-score==0.1.2",)
MEASURE = """
import json, sys
from rouge_score.rouge_scorer import RougeScorer

scorer = RougeScorer(["rougeL"], use_stemmer=False)
pairs = json.load(sys.stdin)
print(json.dumps([scorer.score(expected, output)["rougeL"].fmeasure for output, expected in pairs]))
"""


def make_text(generator: random.Random) -> str:
    arguments = ("we", "open", "At", "9", "o'clock", "re-open", "a_b", "the", "THE", "x.", "(y)", "!", "")
    return " ".join(generator.choices(arguments, k=generator.randrange(1, 40)))


def test_three_hundred_pairs_have_equal_scores() -> None:
    def make(folder: Path) -> None:
        make_python(folder, REQUIREMENTS, what="the scores of rouge-score")

    python = cached_folder("rouge-score", (sys.version, *REQUIREMENTS), make) / "bin" / "python"
    generator = random.Random(1)
    pairs = [(make_text(generator), make_text(generator)) for _ in range(300)]
    command = [str(python), "-c", MEASURE]
    process = subprocess.run(command, input=json.dumps(pairs), capture_output=True, text=True, check=True)
    theirs = json.loads(process.stdout)
    scores = [rouge_l()(output, expected).score for output, expected in pairs]
    # Two texts without words score 1 here, and 0 there.
    assert all(
        score == pytest.approx(other) or (score, other) == (1, 0) for score, other in zip(scores, theirs, strict=True)
    )
    assert len({round(score, 3) for score in scores}) > 50
