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

# As Rust's engine has it, without what looks around: it finds whatever the shapes find, and sometimes more.
ANY_SHAPE = (
    r"sk-[A-Za-z0-9_-]{20}|gh[oprsu]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|A[KS]IA[0-9A-Z]{16}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10}|eyJ[A-Za-z0-9_-]{8,}\.eyJ|-----BEGIN [A-Z0-9 ]*PRIVATE KEY"
    r"|://[^\x00-\x20/?#@:]*:[^\x00-\x20/?#@]+@"
)


def shape_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where values of these shapes are; of a URL, its password alone."""
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
# The first two are our own; a shell keeps its folder in the others.
_NO_SECRETS = ("INPUT_KEY", "SCOREGATE_KEY", "PWD", "OLDPWD")
_SWITCHES = {"", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null"}


def secret_values(environ: Mapping[str, str]) -> set[str]:
    """The values of variables with secret names, and what is secret in any value by its shape, passwords of URLs too.

    What has fewer than eight characters is left out: a word that short would be found everywhere.
    """
    found = {value.strip() for name, value in environ.items() if _is_named_secret(name, value)}
    for value in environ.values():
        found.update(_shaped(value))
    return {value for value in found if len(value) >= SHORTEST}


def short_secrets(environ: Mapping[str, str]) -> list[str]:
    """The names of variables that sound secret and whose values are too short to be redacted."""
    return sorted(
        name
        for name, value in environ.items()
        if len(value.strip()) < SHORTEST and value.strip().lower() not in _SWITCHES and _is_named_secret(name, value)
    )


def _is_named_secret(name: str, value: str) -> bool:
    upper = name.upper()
    if name in _NO_SECRETS or (value.startswith("/") and os.path.exists(value)):  # noqa: PTH110
        return False
    if any(part in upper for part in _PARTS):
        return True
    return _WORDS.search(upper) is not None and _PLACES.search(upper) is None


def _shaped(value: str) -> Iterator[str]:
    for start, end in shape_spans(value):
        yield value[start:end]
        yield unquote(value[start:end])
