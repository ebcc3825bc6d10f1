"""Images and audio inside of values, as messages of models have them: data URLs, and the parts `input_audio`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scoregate.errors import MediaError
from scoregate.kernel.types.media import MOST_BYTES, Media

_MARKS = (b"data:image/", b"data:audio/", b'"input_audio":{')
_URL = re.compile(r"data:(?:image|audio)/[a-z0-9.+-]{1,40}(?:;[a-z]+=[\w-]{1,20})?;base64,", re.IGNORECASE)
_AUDIO = "input_audio"
_DEEPEST = 200


def has_inline_media(line: bytes) -> bool:
    """Whether compact JSON may contain images or audio."""
    return any(mark in line for mark in _MARKS)


def replace_inline_media(value: Any, media: list[Media], depth: int = 0) -> Any:
    """A value of JSON in which references replace images and audio. What can't be decoded stays text.

    Args:
        value: the value.
        media: receives the images and audio.
        depth: the level of the value in the outermost value.
    """
    if isinstance(value, str):
        match = _URL.match(value)
        return value if match is None else _decode(value, value[match.end() :], media)
    if depth > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {
            name: _replace_audio(item, media)
            if name == _AUDIO and isinstance(item, Mapping) and isinstance(item.get("data"), str)
            else replace_inline_media(item, media, depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [replace_inline_media(item, media, depth + 1) for item in value]
    return value


def _replace_audio(part: Mapping[str, Any], media: list[Media]) -> dict[str, Any]:
    return {**part, "data": _decode(part["data"], part["data"], media)}


def _decode(text: str, encoded: str, collected: list[Media]) -> Any:
    """The reference to the media in base64; the text itself if it is none."""
    from base64 import b64decode

    if len(encoded) > MOST_BYTES * 4 // 3 + 4:  # base64 needs four characters for three bytes, and padding
        return text
    try:
        media = Media.from_bytes(b64decode(encoded, validate=True))
    except (MediaError, ValueError):
        return text
    collected.append(media)
    return media.reference()
