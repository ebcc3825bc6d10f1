"""Bring an artifact here: as much as it says, and what it says."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from typing import IO, Any

from scoregate.ci.github.answers import number_at
from scoregate.ci.github.api import Api
from scoregate.errors import RecordError

_IN_MEMORY = 8 << 20


async def download(api: Api, artifact: Mapping[str, Any], most_bytes: int) -> IO[bytes]:
    """The zip of an artifact, in a temporary file that is deleted when it is closed.

    Args:
        artifact: as GitHub describes it. most_bytes: how large it may be.

    Raises:
        GitHubRefused: it cannot be had. RecordError: it is too large, or not what was uploaded.
    """
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
    digest, size = hashlib.sha256(), 0
    try:
        async with api.stream(f"actions/artifacts/{number_at(artifact, 'id')}/zip") as answer:
            async for chunk in answer.aiter_raw(1 << 16):
                if (size := size + len(chunk)) > most_bytes:
                    raise RecordError(f"the artifact is larger than {most_bytes >> 20} MB")
                digest.update(chunk)
                file.write(chunk)
        _check(artifact, digest.hexdigest())
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _check(artifact: Mapping[str, Any], digest: str) -> None:
    told = str(artifact.get("digest") or "")
    if told.startswith("sha256:") and told != f"sha256:{digest}":
        raise RecordError("the artifact is not what was uploaded: its digest differs")
