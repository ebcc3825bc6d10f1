"""Each cell of the table of what trials count for changes a golden output: nothing else decides.

Each cell that is listed has a golden world that notices if it is flipped. To find one for a new cell, flip it and run
the worlds of its origin, role or mark.
"""

from __future__ import annotations

import pytest
from tests.golden.archive import ARCHIVES, list_worlds, read_expected, read_worlds
from tests.golden.harness import describe_differences, judge_world

from scoregate.kernel.types.runs import evidence

NOTICED_BY = {
    ("AMOUNTS", "ATTEMPT"): "run-attempts",
    ("AMOUNTS", "EXCUSED"): "quarantine+limits",
    ("CONTROL", "CONTROL"): "slices+control",
    ("CONTROL", "KEPT"): "kept+control",
    ("CONTROL", "RESUMED"): "resumed+control",
    ("DATABASE", "CARRIED"): "carried",
    ("DATABASE", "KEPT"): "kept",
    ("ERRORS", "ATTEMPT"): "run-attempts",
    ("ERRORS", "CARRIED"): "carried+arms",
    ("ERRORS", "KEPT"): "kept+errors",
    ("ERRORS", "MEASURED"): "errors",
    ("ERRORS", "RESUMED"): "resumed+errors",
    ("ERRORS", "WITHOUT"): "arms+limits",
    ("FAILURES", "MAIN"): "past",
    ("FAILURES", "RETRY"): "confirm+critical",
    ("FRESH", "MEASURED"): "run-gateway",
    ("FRESH", "RESUMED"): "resumed",
    ("HISTORY", "CARRIED"): "carried",
    ("HISTORY", "KEPT"): "kept",
    ("LIMITS", "ATTEMPT"): "run-attempts",
    ("LIMITS", "CARRIED"): "carried+limits",
    ("LIMITS", "KEPT"): "kept",
    ("LIMITS", "MAIN"): "past",
    ("LIMITS", "MEASURED"): "limits",
    ("LIMITS", "RESUMED"): "resumed",
    ("LIMITS", "WITHOUT"): "arms+limits",
    ("MEANS", "KEPT"): "kept+quarantine",
    ("MEANS", "MEASURED"): "kept+slices",
    ("OLDER", "CARRIED"): "carried+decline",
    ("OLDER", "KEPT"): "kept+decline",
    ("PASS_RATE", "ATTEMPT"): "run-attempts",
    ("PASS_RATE", "CARRIED"): "carried+slices",
    ("PASS_RATE", "KEPT"): "kept+slices",
    ("PASS_RATE", "MAIN"): "past",
    ("PASS_RATE", "MEASURED"): "past",
    ("PASS_RATE", "RESUMED"): "resumed+slices",
    ("ROWS", "ATTEMPT"): "run-attempts",
    ("ROWS", "CARRIED"): "carried+quarantine",
    ("ROWS", "KEPT"): "kept",
    ("ROWS", "MAIN"): "past",
    ("ROWS", "MEASURED"): "past",
    ("ROWS", "RESUMED"): "resumed",
    ("ROWS", "WITHOUT"): "arms+limits",
    ("SLICES", "ATTEMPT"): "run-attempts",
    ("SLICES", "CARRIED"): "carried+slices",
    ("SLICES", "EXTRA"): "slices+extras",
    ("SLICES", "KEPT"): "kept+slices",
    ("SLICES", "MAIN"): "slices",
    ("SPENT", "ATTEMPT"): "run-attempts",
    ("SPENT", "CARRIED"): "carried",
    ("SPENT", "EXCUSED"): "quarantine",
    ("SPENT", "KEPT"): "kept",
    ("SPENT", "RESUMED"): "resumed",
    ("STABLE", "EXCUSED"): "quarantine",
    ("STABLE", "KEPT"): "kept+quarantine",
    ("STABLE", "MEASURED"): "quarantine",
    ("STABLE", "RESUMED"): "resumed+quarantine",
    ("TEST", "ATTEMPT"): "run-attempts",
    ("TEST", "CARRIED"): "carried+quarantine",
    ("TEST", "EXTRA"): "slices+extras",
    ("TEST", "KEPT"): "kept+quarantine",
    ("TEST", "MAIN"): "past",
    ("TEST", "MEASURED"): "past",
    ("TEST", "RESUMED"): "resumed+quarantine",
}


@pytest.mark.parametrize(("use", "kind"), NOTICED_BY, ids=map("-".join, NOTICED_BY))
def test_a_flipped_cell_changes_a_golden_output(monkeypatch: pytest.MonkeyPatch, use: str, kind: str) -> None:
    world = NOTICED_BY[use, kind]
    (expected,) = [read_expected(archive, world) for archive in ARCHIVES if world in list_worlds(archive)]
    kinds = {each.name: each for of in (evidence.TrialOrigin, evidence.TrialRole, evidence.TrialMark) for each in of}
    known, flipped = evidence.COUNTS, evidence.Use[use]
    monkeypatch.setattr(evidence, "COUNTS", {**known, flipped: known[flipped] ^ {kinds[kind]}})
    differences = describe_differences(expected, judge_world(read_worlds()[world]))
    assert differences, f"{kind} in the row {use} of the table decides nothing"
