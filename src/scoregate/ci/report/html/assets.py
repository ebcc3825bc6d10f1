"""The page's own script and style, and the policy that lets the browser run them and nothing else."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

STATIC = Path(__file__).with_name("static")
STYLES = ("base.css", "top.css", "plots.css", "history.css", "cases.css", "detail.css", "narrow.css", "print.css")
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
    "detail.js",
    "keys.js",
    "main.js",
)


@cache
def style() -> str:
    """All of the style."""
    return "".join(_read(name) for name in STYLES)


@cache
def script() -> str:
    """All of the script, in a function of its own."""
    return '"use strict";\n(() => {\n' + "".join(_read(name) for name in SCRIPTS) + "})();\n"


@cache
def policy() -> str:
    """What the page may do: apply this style, run this script, turn no text into markup, ask nobody for anything."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script())}'",
            f"style-src '{_hash(style())}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
