"""Results of tools, as outputs, as texts for a model, and as steps of a trajectory."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from hashlib import sha256
from time import perf_counter
from typing import Any

from scoregate.errors import McpServerError, MediaError
from scoregate.kernel.types.json_io import dump, to_plain
from scoregate.kernel.types.media import TYPES, Media
from scoregate.kernel.types.trajectory_steps import ToolCall
from scoregate.mcp_servers.session import McpSession

_LONGEST_ERROR = 4_000
# Servers wrap a result that is not an object in this field.
_WRAPPED = "result"
_MEDIA = ("image", "audio")


async def call_tool(session: McpSession, name: str, arguments: Mapping[str, Any]) -> ToolCall:
    """Call a tool, and record the call with its duration. An error of the tool is in `error`.

    Raises:
        McpServerError: the server doesn't answer, breaks its own schema, or sends an image or audio that can't be read.
    """
    started = perf_counter()
    result = await session.call_tool(name, arguments)
    duration_s = round(perf_counter() - started, 4)
    output = read_output(result)
    if result.get("isError"):
        text = output if isinstance(output, str) else dump(to_plain(output)).decode()
        return ToolCall(name, arguments, error=text[:_LONGEST_ERROR] or "the tool failed", duration_s=duration_s)
    return ToolCall(name, arguments, output, duration_s=duration_s)


def read_output(result: Mapping[str, Any]) -> Any:
    """The output of a tool: its structured content; otherwise its texts, joined; otherwise its content.

    Args:
        result: the result of `tools/call`. The data of images and audio becomes `Media`, other data its digest.

    Raises:
        McpServerError: an image or audio can't be read.
    """
    structured = result.get("structuredContent")
    if structured is not None:
        is_wrapped = isinstance(structured, dict) and structured.keys() == {_WRAPPED}
        return structured[_WRAPPED] if is_wrapped else structured
    content = [each for each in result.get("content", ()) if isinstance(each, Mapping)]
    if all(each.get("type") == "text" for each in content):
        return "\n".join(str(each.get("text", "")) for each in content)
    return [_read_content(each) for each in content]


def _read_content(content: Mapping[str, Any]) -> dict[str, Any]:
    """A part of a result, with `Media` or a digest in the place of its data."""
    part, resource = dict(content), content.get("resource")
    if isinstance(data := content.get("data"), str):
        part["data"] = _read_media(data, str(content.get("type", "")), content.get("mimeType"))
    if isinstance(resource, Mapping) and isinstance(blob := resource.get("blob"), str):
        part["resource"] = {**resource, "blob": _describe_data(_decode(blob, "the blob of a resource"))}
    return part


def _read_media(text: str, kind: str, media_type: Any) -> Any:
    """The image or audio of a part; a description of data of a type that `Media` doesn't know, such as SVG.

    Raises:
        McpServerError: it isn't base64, or not what its type says.
    """
    subject = f"the {kind:.60} of type {media_type!r:.100}"
    data = _decode(text, subject)
    if kind not in _MEDIA:
        return _describe_data(data)
    try:
        return Media.from_bytes(data)
    except MediaError as error:
        if isinstance(media_type, str) and media_type not in TYPES:
            return _describe_data(data)
        raise McpServerError(f"{subject} in a result of a tool is not valid: {error.message}") from None


def _decode(text: str, what: str) -> bytes:
    try:
        return b64decode("".join(text.split()), validate=True)
    except ValueError as error:
        raise McpServerError(f"{what} in a result of a tool is not base64: {error}: {text[:60]!r}") from None


def _describe_data(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}, {len(data):,} bytes"
