"""Images and audio of real suites: in the run's folder, as text in comments, and never as base64."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.media import BEEP, GREEN, RED
from tests.integration.host.conftest import PYTEST_ENVIRONMENT, Project

SUITE = """
from pathlib import Path
from scoregate import Media, evaluate

HERE = Path(__file__).parent
evaluate(
    "pictures",
    data=[{"id": name, "input": Media.from_path(HERE / f"{name}.png")} for name in ("red", "green")],
    task=lambda input: {"same": input, "say": Media.from_path(HERE / "beep.wav")},
    scorers=[lambda output: output["same"].name == "red.png"],
)
"""
MEDIA = {"red.png": RED, "green.png": GREEN, "beep.wav": BEEP}


@pytest.fixture
def pictures(project: Project) -> Project:
    project.write("eval_pictures.py", SUITE)
    for name, data in MEDIA.items():
        (project.root / name).write_bytes(data)
    return project


def read_cases(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.open(out / "run" / "cases.jsonl.gz")]


def test_media_are_stored_by_digest_and_shown_as_text(pictures: Project) -> None:
    outcome = pictures.scoregate("run")
    assert sorted(path.read_bytes() for path in (outcome.out / "run" / "media").iterdir()) == sorted(MEDIA.values())
    cases = {case["hash"]: case for case in read_cases(outcome.out)}
    assert cases["red"]["output"]["same"]["type"] == "image/png"
    texts = [
        outcome.comment,
        (outcome.out / "junit.xml").read_text(),
        (outcome.out / "result.json").read_text(),
        outcome.output,
    ]
    for text in texts:
        assert "base64" not in text
        assert "sha256:" not in text
    assert "[image/png" in texts[1]
    assert "secrets are not looked for inside them" in outcome.output
    assert len(list((outcome.out / "run" / "media").iterdir())) == 3


def test_hidden_outputs_leave_no_media(pictures: Project) -> None:
    outcome = pictures.scoregate("run", SCOREGATE_SHOW_OUTPUTS="none")
    assert not (outcome.out / "run" / "media").exists()
    assert "images and recordings are not kept, because show_outputs is not full" in outcome.output


def test_a_wrong_media_type_fails_its_case_only(pictures: Project) -> None:
    (pictures.root / "page.png").write_text("<script>alert(1)</script>")
    pictures.write(
        "eval_pictures.py",
        SUITE.replace("lambda input: {", "lambda input: input if input.name == 'red.png' else {").replace(
            '"beep.wav"', '"page.png"'
        ),
    )
    outcome = pictures.scoregate("run")
    assert outcome.exit_code != 0
    statuses = {case["hash"]: case.get("errors", []) for case in read_cases(outcome.out)}
    assert statuses["red"] == [] or "is not an image" not in str(statuses["red"])
    assert "'page.png' is not an image or audio of a known type" in str(statuses["green"])


def test_a_renamed_picture_is_the_same_case(pictures: Project) -> None:
    pictures.write("eval_pictures.py", SUITE.replace('"id": name, ', "").replace(' == "red.png"', ""))
    before = {case["hash"]: case["digest"] for case in read_cases(pictures.scoregate("run").out)}
    (pictures.root / "red.png").rename(pictures.root / "ruby.png")
    source = (pictures.root / "eval_pictures.py").read_text().replace('("red"', '("ruby"')
    pictures.write("eval_pictures.py", source)
    assert {case["hash"]: case["digest"] for case in read_cases(pictures.scoregate("run").out)} == before


def list_media(out: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in (out / "run" / "media").iterdir())


def test_merged_shards_keep_media(pictures: Project) -> None:
    pictures.write(".gitignore", "shards/\n")
    pictures.commit()
    for number in (1, 2):
        out = f"shards/{number}"
        pictures.scoregate("run", "--shard", f"{number}/2", "--out", out, "--baseline", "none")
    merged = pictures.scoregate("merge", "shards/1", "shards/2")
    assert list_media(merged.out) == sorted(MEDIA.values())
    assert merged.output.count("secrets are not looked for") == 1
    assert "not kept" not in merged.output


def test_pytest_workers_record_media(project: Project) -> None:
    project.write(
        "evals/test_pictures.py",
        f"from scoregate import Media\n\n"
        f"def test_red(scoregate):\n"
        f"    scoregate.case(input=Media.from_bytes({GREEN!r}))\n"
        f"    scoregate.output([Media.from_bytes({RED!r}), 'data:audio/wav;base64,{b64encode(BEEP).decode()}'])\n"
        f"    scoregate.score('good', 1.0)\n",
    )
    for options in ("", "-p xdist.plugin -n 1"):
        environment = {**PYTEST_ENVIRONMENT, "PYTEST_ADDOPTS": f"-p no:cacheprovider {options}"}
        outcome = project.scoregate("run", "--baseline", "none", **environment)
        assert outcome.exit_code == 0, outcome.output
        assert list_media(outcome.out) == sorted(MEDIA.values())
        (case,) = read_cases(outcome.out)
        assert [each["type"] for each in case["output"]] == ["image/png", "audio/wav"]


def test_a_rejected_picture_of_a_data_file_names_its_line(pictures: Project) -> None:
    pictures.write("colors.jsonl", '{"input": {"media": "red.png"}}\n{"input": {"media": "../secret.png"}}\n')
    pictures.write(
        "eval_pictures.py",
        "from scoregate import evaluate\n"
        "evaluate('colors', data='colors.jsonl', task=lambda input: input.type, scorers=[lambda output: True])\n",
    )
    outcome = pictures.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 3
    assert "colors.jsonl:2: the media '../secret.png' are outside of the repository" in outcome.output
    assert list_media(outcome.out) == [RED]
