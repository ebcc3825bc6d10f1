"""Result files made to hurt: what they say is bounded, and secrets do not get through."""

from __future__ import annotations

import io
import json

import pytest
from tests.features.imports.files import imported

from scoregate.errors import ImportFailed
from scoregate.features.imports.reader import Reader
from scoregate.kernel.run.documents.files import MAX_MEMBER, zipfile
from scoregate.kernel.types.events import CaseOutput


def deepeval(**case: object) -> str:
    metric = {"name": "m", "score": 1, "success": True, "threshold": 0.5}
    return json.dumps({"testCases": [{"name": "a", "input": "?", "metricsData": [metric]} | case]})


def test_a_huge_output_is_marked_as_cut() -> None:
    (case,) = imported("deepeval", deepeval(actualOutput="x" * 9_000_000)).cases
    assert case.truncated
    assert len(case.output) < 200_000
    assert case.evaluations["m"].score == 1


def test_a_deep_output_is_dropped_and_the_score_kept() -> None:
    deep: object = "x"
    for _ in range(300):
        deep = [deep]
    (case,) = imported("deepeval", deepeval(input=deep)).cases
    assert "left out" in json.dumps(case.input)
    assert case.evaluations["m"].score == 1


def test_lone_surrogates_work() -> None:
    assert imported("deepeval", deepeval(actualOutput="\ud83d")).cases[0].output == "\\ud83d"


def test_very_long_names_are_cut_and_differ() -> None:
    one, other = (imported("deepeval", deepeval(name="n" * 10_000 + end)).cases[0].hash for end in "ab")
    assert len(one) <= 200
    assert one != other


def test_a_zip_bomb_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "t"}, "status": "success"}))
        archive.writestr("samples/1_epoch_1.json", b" " * (MAX_MEMBER + 1))
    assert len(out.getvalue()) < 1_000_000
    with pytest.raises(ImportFailed, match="too large"):
        imported("inspect", out.getvalue())


def test_messages_contain_no_secrets() -> None:
    data = deepeval(actualOutput='it is "s3cr3t"', name="s3cr3t")
    read = Reader(lambda line: line.replace(b"s3cr3t", b"***"))
    events = list(read("deepeval", io.BytesIO(data.encode()), name="x"))
    assert "s3cr3t" not in repr(events)
    assert [event.output for event in events if isinstance(event, CaseOutput)] == ['it is "***"']
