"""Images and audio in the question of a judge: the text has a number for each, and the message has its bytes."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Any

from scoregate.errors import MediaError, ModelGone, RefusedRequest
from scoregate.kernel.types.media import Media, find_known, format_size
from scoregate.kernel.types.records import record

MOST_MEDIA = 20
MOST_BYTES = 50_000_000
_MARKS = ('"media":"sha256:', ";base64,", '"input_audio":{')
# A reference as `to_text` writes it, a data URL, and the data of a recording in a message.
_MEDIA = re.compile(
    r'\{"media":"sha256:(?P<digest>[0-9a-f]{64})","type":"[a-z0-9/]+","bytes":\d+\}'
    r"|data:(?:image|audio)/[a-z0-9.+-]{1,40};base64,(?P<url>[A-Za-z0-9+/]{40,}={0,2})"
    r'|(?<="data":")(?P<audio>[A-Za-z0-9+/]{40,}={0,2})(?=")'
)


@record
class Question:
    """The question of a judge.

    Attributes:
        text: the text, in which `[image 1]` and `[recording 1]` are in the place of media.
        media: the images and audio, by number.
    """

    text: str
    media: tuple[tuple[str, Media], ...] = ()

    def content(self) -> str | list[dict[str, Any]]:
        """The content of the message for the model: the text, or a list of parts."""
        if not self.media:
            return self.text
        parts: list[dict[str, Any]] = [{"type": "text", "text": self.text}]
        for name, media in self.media:
            parts += [{"type": "text", "text": f"{name}:"}, media.message_part()]
        return parts

    def explain(self, error: RefusedRequest | ModelGone) -> RefusedRequest:
        """The error of a model that refuses a question with media."""
        kinds = " and ".join(sorted({"images" if media.is_image else "audio" for _, media in self.media}))
        numbers = ", ".join(f"{name} is {media.type} with {format_size(media.size)}" for name, media in self.media[:5])
        advice = f"Does the model accept {kinds} of these types? Set another one: judge(…, model=…) or `model`."
        return RefusedRequest(f"{error.message} (the question has {kinds}: {numbers})", advice=advice)


def make_question(prompt: str) -> Question:
    """The question with the images and audio that a prompt refers to.

    Args:
        prompt: the prompt, in which values are JSON as `to_text` writes it.

    Raises:
        MediaError: there are too many or too large ones, or an image or recording is not there, as for outputs of an
            earlier run.
    """
    if not any(mark in prompt for mark in _MARKS):  # the search takes long, and most prompts have none
        return Question(prompt)
    names: dict[Media, str] = {}

    def name_media(match: re.Match[str]) -> str:
        media = _find(match)
        if media is None:
            return match[0]
        if media not in names:
            number = 1 + sum(each.is_image == media.is_image for each in names)
            names[media] = f"[{'image' if media.is_image else 'recording'} {number}]"
        return names[media]

    text = _MEDIA.sub(name_media, prompt)
    size = sum(media.size for media in names)
    if len(names) > MOST_MEDIA or size > MOST_BYTES:
        limits = f"{MOST_MEDIA} with {format_size(MOST_BYTES)} are the most"
        raise MediaError(
            f"the question to the judge has {len(names)} images and recordings with {format_size(size)}; {limits}",
            advice="Give the judge fewer or smaller ones.",
        )
    return Question(text, tuple((name, media) for media, name in names.items()))


def _find(match: re.Match[str]) -> Media | None:
    """The media of a match; None for text that is no media.

    Raises:
        MediaError: the reference names media that are not there.
    """
    if (digest := match["digest"]) is not None:
        if (media := find_known(digest)) is None:
            raise MediaError(
                f"the judge can't see {match[0][:200]}: the file is not here, as for an output of the baseline",
                advice="Judges see images and recordings of this run: of the case, and of what the task returns.",
            )
        return media
    try:
        return Media.from_bytes(b64decode(match["url"] or match["audio"], validate=True))
    except (MediaError, ValueError):
        return None
