"""Script and style of the page, its content security policy, and compressed data blocks."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic_core import to_json

STATIC = Path(__file__).with_name("static")
STYLES = (
    "base.css",
    "page.css",
    "top.css",
    "plots.css",
    "history.css",
    "cases.css",
    "detail.css",
    "narrow.css",
    "print.css",
)
# The local pages use these as they are, too.
SHARED = ("base.css", "elements.js", "numbers.js")
SCRIPTS = (
    "elements.js",
    "numbers.js",
    "data.js",
    "address.js",
    "filters.js",
    "table.js",
    "diff.js",
    "texts.js",
    "scores.js",
    "talk.js",
    "trace.js",
    "trajectory.js",
    "media.js",
    "detail.js",
    "keys.js",
    "main.js",
)


@cache
def style() -> str:
    """All of the style."""
    return "".join(read_source(name) for name in STYLES)


@cache
def script() -> str:
    """All of the script, in a function of its own. Modules that the local pages share lose their `export`."""
    source = "".join(read_source(name) for name in SCRIPTS)
    return '"use strict";\n(() => {\n' + re.sub(r"^export ", "", source, flags=re.MULTILINE) + "})();\n"


@cache
def policy() -> str:
    """The content security policy: this style, this script and media in the page, no markup from text, no requests."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{hash_source(script())}'",
            f"style-src '{hash_source(style())}'",
            "img-src data:",
            "media-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def read_source(name: str) -> str:
    """The text of a script or a style."""
    return (STATIC / name).read_text(encoding="utf-8")


def hash_source(text: str) -> str:
    """The source of a content security policy that allows this script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


_GZIP = 31
_LEVEL = 6


def pack_blocks(blocks: Iterable[tuple[str, int, Any]], *, redact: Callable[[str], str]) -> Iterator[str]:
    """Yield the elements of blocks, each given as kind, number and data.

    A thread compresses one while the caller makes the next: zlib releases the interpreter's lock.
    """
    with ThreadPoolExecutor(max_workers=1) as packer:
        packed: Future[str] | None = None
        for kind, number, data in blocks:
            following = packer.submit(block, kind, number, data, redact=redact)
            if packed is not None:
                yield packed.result()
            packed = following
        if packed is not None:
            yield packed.result()


def block(kind: str, number: int, data: Any, *, redact: Callable[[str], str]) -> str:
    """A script element with compressed data and the id `kind-number`."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    packed = packer.compress(to_json(data, inf_nan_mode="null")) + packer.flush()
    text = split_secret(b64encode(packed).decode(), redact)
    return f'<script type="text/plain" id="{kind}-{number}">{text}</script>\n'


def split_secret(text: str, redact: Callable[[str], str]) -> str:
    """Text in base64; in short lines, which are not changed, if a part of it looks like a secret by chance."""
    return text if redact(text) == text else "\n".join(text[at : at + 3] for at in range(0, len(text), 3))
