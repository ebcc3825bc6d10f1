"""Images, audio and other binary data in results of MCP servers."""

from __future__ import annotations

import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests import fakes
from tests.fakes.media import BEEP, GREEN, RED

from scoregate import Media, evaluate
from scoregate.evals import EvalResult
from scoregate.mcp_servers import mcp_server
from scoregate.scorers import json_equals

SERVER = [sys.executable, str(Path(fakes.__file__).with_name("result_server.py"))]
SVG = b"<svg></svg>"
pytestmark = pytest.mark.usefixtures("root")


def make_part(kind: str, data: bytes, media_type: str) -> dict[str, Any]:
    return {"type": kind, "data": b64encode(data).decode(), "mimeType": media_type}


def run(parts: dict[str, Any], expected: Any = None) -> EvalResult:
    data = [{"id": name, "input": {"content": [part]}, "expected": expected} for name, part in parts.items()]
    scorers = [lambda: True] if expected is None else [json_equals()]
    return evaluate("pictures", data=data, task=mcp_server(SERVER, tool="get"), scorers=scorers)


def errors_of(result: EvalResult) -> dict[str, str]:
    return {case.name: " ".join(each.error.message for each in case.errors) for case in result.cases}


def test_an_image_is_compared_by_its_bytes_and_kept_in_the_record() -> None:
    parts = {"red": make_part("image", RED, "image/png"), "green": make_part("image", GREEN, "image/png")}
    assert len(parts["red"]["data"]) == len(parts["green"]["data"])
    result = run(parts, [{"type": "image", "mimeType": "image/png", "data": Media.from_bytes(RED)}])
    assert {case.name: str(case.status) for case in result.cases} == {"red": "passed", "green": "failed"}
    digests = {case.name: case.output[0]["data"]["media"] for case in result.cases}
    assert digests == {name: f"sha256:{sha256(data).hexdigest()}" for name, data in (("red", RED), ("green", GREEN))}


def test_audio_is_media_and_other_data_is_a_digest() -> None:
    blob = {"uri": "file:///a.bin", "mimeType": "image/png", "blob": b64encode(RED).decode()}
    text = {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "nine"}
    result = run(
        {
            "beep": make_part("audio", BEEP, "audio/x-wav"),
            "svg": make_part("image", SVG, "image/svg+xml"),
            "blob": {"type": "resource", "resource": blob},
            "text": {"type": "resource", "resource": text},
        }
    )
    assert "".join(errors_of(result).values()) == ""
    outputs = {case.name: case.output[0] for case in result.cases}
    assert outputs["beep"]["data"]["type"] == "audio/wav"
    assert outputs["svg"]["data"] == f"sha256:{sha256(SVG).hexdigest()}, 11 bytes"
    assert outputs["blob"]["resource"] == {
        "uri": "file:///a.bin",
        "mimeType": "image/png",
        "blob": f"sha256:{sha256(RED).hexdigest()}, {len(RED)} bytes",
    }
    assert outputs["text"]["resource"] == text


def test_data_of_another_type_is_an_error() -> None:
    blob = {"uri": "file:///a.bin", "blob": "no base64!"}
    result = run(
        {
            "text": make_part("image", b"hello", "image/png"),
            "cut off": make_part("image", RED[:-20], "image/png"),
            "no base64": {"type": "image", "data": "100 characters", "mimeType": "image/png"},
            "svg": {"type": "image", "data": "<svg>", "mimeType": "image/svg+xml"},
            "blob": {"type": "resource", "resource": blob},
        }
    )
    errors = errors_of(result)
    image = "the image of type 'image/png' in a result of a tool"
    assert f"{image} is not valid: " in errors["text"]
    assert "is cut off" in errors["cut off"]
    assert f"{image} is not base64" in errors["no base64"]
    assert "the image of type 'image/svg+xml' in a result of a tool is not base64" in errors["svg"]
    assert "the blob of a resource in a result of a tool is not base64" in errors["blob"]
    assert not result.passed
