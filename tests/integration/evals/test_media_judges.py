"""Judges see images and recordings: as parts of the message, by number, and never as text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from tests.fakes.media import BEEP, GREEN, RED
from tests.fakes.openai import OpenAIServer

from scoregate import Media, evaluate
from scoregate.errors import MediaError
from scoregate.grading.media import make_question
from scoregate.grading.prompts import Template, render_question
from scoregate.kernel.types.media import find_known
from scoregate.scorers import judge, pairwise
from scoregate.testing.evaluators import BaseCustomLLMJudge
from scoregate.testing.models import BaseTestCase
from scoregate.testing.run import run_test_suite

QUESTION = "Does the picture show what was asked for?"


def run(output: Any, *, input_value: Any = "A red field", scorer: Any = None) -> Any:
    scorers = [scorer or judge(QUESTION, name="shows", field="$" if isinstance(output, dict) else None)]
    (case,) = evaluate("painter", data=[{"id": "a", "input": input_value}], task=lambda: output, scorers=scorers).cases
    return case


def message_parts(server: OpenAIServer, at: int = -1) -> list[dict[str, Any]]:
    """The parts of the user's message."""
    content = server.asked()[at]["messages"][1]["content"]
    assert isinstance(content, list), content
    return content


def test_images_and_recordings_are_parts_of_the_message(server: OpenAIServer) -> None:
    server.answers(QUESTION, {"reason": "red", "answer": "Yes"})
    picture = Media.from_bytes(RED, name="right-answer.png")
    case = run({"image": picture, "say": Media.from_bytes(BEEP), "again": [picture]})
    assert case.scores == {"shows": 1.0}
    text, *parts = message_parts(server)
    assert '{"image":[image 1],"say":[recording 1],"again":[[image 1]]}' in text["text"]
    assert parts == [
        {"type": "text", "text": "[image 1]:"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(RED).decode()}"}},
        {"type": "text", "text": "[recording 1]:"},
        {"type": "input_audio", "input_audio": {"data": b64encode(BEEP).decode(), "format": "wav"}},
    ]
    assert "right-answer" not in str(message_parts(server))
    recorded = case.evaluations["shows"].metadata["prompt"]
    assert "[image 1]" in recorded
    assert "base64" not in recorded


def test_media_inside_of_messages_are_parts_too(server: OpenAIServer) -> None:
    server.answers(QUESTION, {"answer": "No"})
    url, sound = f"data:image/png;base64,{b64encode(GREEN).decode()}", b64encode(BEEP).decode()
    content = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "input_audio", "input_audio": {"data": sound, "format": "wav"}},
    ]
    case = run("green", input_value=[{"role": "user", "content": content}])
    assert case.scores == {"shows": 0.0}
    text, _, image, _, audio = message_parts(server)
    assert image["image_url"]["url"] == url
    assert audio["input_audio"]["data"] == sound
    assert "base64" not in text["text"]
    assert sound not in text["text"]


def test_a_question_without_media_is_unchanged(server: OpenAIServer) -> None:
    server.answers(QUESTION, {"answer": "Yes"})
    run("a text")
    assert isinstance(server.asked()[0]["messages"][1]["content"], str)


def test_the_cache_key_depends_on_the_content_and_not_the_name(server: OpenAIServer) -> None:
    server.answers(QUESTION, {"answer": "Yes"})
    for data in (RED, RED, GREEN):
        run(Media.from_bytes(data, name=f"{len(server.asked())}.png"))
    first, renamed, other = (each["messages"] for each in server.asked())
    assert first == renamed
    assert first != other


def test_a_model_that_refuses_images_is_an_error_with_advice(server: OpenAIServer) -> None:
    server.does_not_take("images")
    case = run(Media.from_bytes(RED))
    (error,) = case.errors
    assert error.evaluator == "shows"
    assert error.error.type == "RefusedRequest"
    assert "image_url is only supported by certain models" in error.error.message
    assert "(the question has images: [image 1] is image/png with" in error.error.message
    assert "Does the model accept images of these types?" in error.error.advice
    assert case.scores == {}


def test_unsupported_media_are_never_judged(server: OpenAIServer) -> None:
    server.answers(QUESTION, {"answer": "Yes"})
    unknown = {"media": f"sha256:{'0' * 64}", "type": "image/png", "bytes": 3, "name": "x.png"}
    (error,) = run(unknown).errors
    assert "the judge can't see" in error.error.message
    (error,) = run([Media.from_bytes(RED + bytes([number])) for number in range(21)]).errors
    assert "has 21 images and recordings" in error.error.message
    assert server.asked() == []


def test_a_reference_in_a_battle_is_an_error_and_equal_media_a_tie() -> None:
    media = Media.from_bytes(RED + b"of this test")
    assert find_known(media.digest) is None
    media.reference()
    assert make_question(f'{{"media":"sha256:{media.digest}","type":"image/png","bytes":1}}').media[0][1] is media
    digest = media.digest
    del media
    with pytest.raises(MediaError, match="as for an output of the baseline"):
        make_question(f'x {{"media":"sha256:{digest}","type":"image/png","bytes":1}} y')
    assert pairwise().name == "pairwise"


def test_text_that_only_looks_like_media_stays_text() -> None:
    for text in (
        "data:image/png;base64,AAAA",
        f"data:image/png;base64,{b64encode(b'<script>alert(1)</script>' * 3).decode()}",
        '{"media":"sha256:../../etc/passwd","type":"image/png","bytes":1}',
        '"input_audio":{"data":"nothing"}',
    ):
        assert make_question(text).content() == text


@dataclass
class Case(BaseTestCase):
    input: str

    def hash(self) -> str:
        return self.input


class Shows(BaseCustomLLMJudge[Case, Media]):
    id = "shows"
    criteria = QUESTION

    def output_mapper(self, output: Media) -> Any:
        return output


def test_mappers_of_evaluators_may_return_media(server: OpenAIServer) -> None:
    server.answers(QUESTION, {"answer": "Meets the criteria"})
    result = run_test_suite(
        id="painter", test_cases=[Case("red")], fn=lambda _: Media.from_bytes(RED), evaluators=[Shows()]
    )
    assert next(iter(result.cases)).evaluations["shows"].score == 1
    assert [part["type"] for part in message_parts(server)] == ["text", "text", "image_url"]


def test_a_block_of_a_question_is_the_reference() -> None:
    media = Media.from_bytes(RED)
    blocks: Mapping[str, Any] = {"output": media}
    values = {"criteria": "x", "answers": "y", "steps": None, "reasoning": None, "graded": None}
    assert make_question(render_question(Template.METRIC, blocks, values=values)).media == (("[image 1]", media),)
