"""Which values of an environment are secret."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

# At the start of a word; JSON writes the end of a line as two characters, of which the last is a letter.
_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[bfnrt]))"
_KEY = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
# Lengths are bounded, so that a text of any length is searched in time proportional to it.
_SHAPES = (
    rf"{_START}sk-(?=[A-Za-z_-]{{0,99}}[0-9])[A-Za-z0-9_-]{{20,512}}",
    rf"{_START}gh[oprsu]_[A-Za-z0-9]{{20,512}}",
    rf"{_START}github_pat_[A-Za-z0-9_]{{20,512}}",
    rf"{_START}A[KS]IA[0-9A-Z]{{16}}(?![0-9A-Za-z])",
    rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,512}}",
    rf"{_START}eyJ[A-Za-z0-9_-]{{8,2048}}\.eyJ[A-Za-z0-9_-]{{8,8192}}\.[A-Za-z0-9_-]{{8,2048}}",
    rf"-----BEGIN {_KEY}.{{0,16384}}?-----END {_KEY}",
)
_PASSWORD = r"""(?<=://)[^\s/?#@:"'<>\\]{0,256}:(?!\*\*\*@)([^\s/?#@"'<>\\]{1,256})@"""
_SHAPE = re.compile(f"({'|'.join(_SHAPES)})|{_PASSWORD}", re.DOTALL)

# For Rust's engine, which has no lookaround: it finds everything that the shapes find, and sometimes more.
ANY_SHAPE = (
    r"sk-[A-Za-z0-9_-]{20}|gh[oprsu]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|A[KS]IA[0-9A-Z]{16}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10}|eyJ[A-Za-z0-9_-]{8,}\.eyJ|-----BEGIN [A-Z0-9 ]*PRIVATE KEY"
    r"|://[^\x00-\x20/?#@:]*:[^\x00-\x20/?#@]+@"
)


def shape_spans(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each value with such a shape; in a URL, of its password only."""
    for match in _SHAPE.finditer(text):
        yield match.span(match.lastindex or 0)


SHORTEST = 8
# Anywhere in a name.
_PARTS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
# Whole words of a name, between underscores: PATH holds no PAT, GIT_AUTHOR_NAME no AUTH.
_WORDS = re.compile(
    r"(?:^|_)(?:PASSWD|PWD|PASS|PASSPHRASE|PAT|CREDENTIAL|AUTH|AUTHORIZATION|COOKIE|WEBHOOK|DSN|DATABASE_URL|CERT"
    r"|CERTIFICATE|PRIVATE|LICENSE)S?(?:_|$)"
)
# Variables that name a place, such as SSH_AUTH_SOCK and SSL_CERT_FILE.
_PLACES = re.compile(r"(?:^|_)(?:PATH|FILE|DIR|SOCK|HOME)$")
# The first two are scoregate's own; a shell keeps its folder in the others.
_NO_SECRETS = ("INPUT_KEY", "SCOREGATE_KEY", "PWD", "OLDPWD")
_SWITCHES = {"", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null"}


def secret_values(environ: Mapping[str, str]) -> set[str]:
    """The values of variables with secret names, and parts of all values with the shape of a token or URL password.

    Values with fewer than eight characters are left out, because so short a word may be part of ordinary text.
    """
    secrets = {value.strip() for name, value in environ.items() if _is_named_secret(name, value)}
    for value in environ.values():
        for start, end in shape_spans(value):
            secrets |= {value[start:end], unquote(value[start:end])}  # programs print the password of a URL decoded
    return {value for value in secrets if len(value) >= SHORTEST}


def short_secrets(environ: Mapping[str, str]) -> list[str]:
    """The variables with secret names whose values are too short to be redacted."""
    return sorted(
        name
        for name, value in environ.items()
        if len(value.strip()) < SHORTEST and value.strip().lower() not in _SWITCHES and _is_named_secret(name, value)
    )


def _is_named_secret(name: str, value: str) -> bool:
    upper = name.upper()
    # The path of a key's file is no secret.
    if name in _NO_SECRETS or (value.startswith("/") and os.path.exists(value)):  # noqa: PTH110
        return False
    if any(part in upper for part in _PARTS):
        return True
    return _WORDS.search(upper) is not None and _PLACES.search(upper) is None
