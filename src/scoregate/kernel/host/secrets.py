"""Find secrets in the environment, and remove them from everything that scoregate writes and prints."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from html.entities import codepoint2name
from itertools import chain
from typing import Any
from urllib.parse import unquote

from pydantic_core import SchemaError, SchemaValidator, core_schema, from_json, to_json

from scoregate.kernel.types.records import record

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
_ANY_SHAPE = (
    r"sk-[A-Za-z0-9_-]{20}|gh[oprsu]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|A[KS]IA[0-9A-Z]{16}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10}|eyJ[A-Za-z0-9_-]{8,}\.eyJ|-----BEGIN [A-Z0-9 ]*PRIVATE KEY"
    r"|://[^\x00-\x20/?#@:]*:[^\x00-\x20/?#@]+@"
)


def _shape_spans(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each value with such a shape; in a URL, of its password only."""
    for match in _SHAPE.finditer(text):
        yield match.span(match.lastindex or 0)


_SHORTEST = 8
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
        for start, end in _shape_spans(value):
            secrets |= {value[start:end], unquote(value[start:end])}  # programs print the password of a URL decoded
    return {value for value in secrets if len(value) >= _SHORTEST}


def short_secrets(environ: Mapping[str, str]) -> list[str]:
    """The variables with secret names whose values are too short to be redacted."""
    return sorted(
        name
        for name, value in environ.items()
        if len(value.strip()) < _SHORTEST and value.strip().lower() not in _SWITCHES and _is_named_secret(name, value)
    )


def _is_named_secret(name: str, value: str) -> bool:
    upper = name.upper()
    # The path of a key's file is no secret.
    if name in _NO_SECRETS or (value.startswith("/") and os.path.exists(value)):  # noqa: PTH110
        return False
    if any(part in upper for part in _PARTS):
        return True
    return _WORDS.search(upper) is not None and _PLACES.search(upper) is None


_PIECE = 512
_WHOLE = 4_096
_ANCHOR = 12
_SHORTEST_ANCHOR = 4
_RUN = re.compile("[A-Za-z0-9]+")
_BREAK = r"(?:\\{1,15}[rn]|%0[AaDd]|[\r\n])*"
_MIME_LINES = (76, 64)
_CONTROLS = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "[eE]"}
# Other ways to write a character: in shells, forms, CSV, and in scoregate's own reports.
_OTHER_WAYS = {
    "'": (r"'\\{1,15}''", r"'\\{0,15}\x22'\\{0,15}\x22'", "''", "&apos;"),
    '"': (r'\\{0,15}"\\{0,15}"',),
    " ": (r"\x2b", "%(?:25){0,3}2[Bb]"),
    "$": (r"<span>\x24</span>",),
}


@record
class Form:
    """One way to write a secret. Without anchors the pattern itself is searched for; Rust's engine supports it, too."""

    pattern: str
    anchors: frozenset[str] = frozenset()


def forms(secret: str) -> Iterator[Form]:
    """Every form of a secret. Of a long secret, every form of its lines and pieces."""
    for part in sorted(_split_secret(secret), key=len, reverse=True):
        yield Form("".join(map(_make_pattern, part)), _find_anchors(part))
        data = part.encode("utf-8", "surrogateescape")
        yield from _make_base64_forms(data)
        yield from _make_hex_forms(data)


def _split_secret(secret: str) -> set[str]:
    """The secret unless it is too long, and its lines with and without margins. Long lines are split into pieces."""
    parts = {secret} if len(secret) <= _WHOLE else set()
    for line in re.split(r"[\r\n]+|(?:\\[rn])+", secret):
        for text in (line, line.strip()):
            # Pieces of about equal length: a short last one would be left out.
            size = -(-len(text) // max(1, -(-len(text) // _PIECE)))
            parts.update(text[index : index + size] for index in range(0, len(text), size or 1))
    return {part for part in parts if len(part) >= _SHORTEST} or {secret}


def _find_anchors(text: str) -> frozenset[str]:
    """The longest text of letters and digits, which are never escaped."""
    longest = max(_RUN.findall(text), key=len, default="")[:_ANCHOR]
    return frozenset({longest}) if len(longest) >= _SHORTEST_ANCHOR else frozenset()


def _make_pattern(char: str) -> str:
    """A pattern for all ways to write a character, escaped once or several times."""
    if char.isascii() and char.isalnum():
        return char
    data, code = char.encode("utf-8", "surrogateescape"), ord(char)
    literal = rf"\x{code:02x}" if char.isascii() else char
    if "\ud800" <= char <= "\udfff":
        literal = rf"\u{code:04x}"
    ways = [*_OTHER_WAYS.get(char, ()), rf"\\{{0,15}}{literal}", _join_bytes(r"%(?:25){{0,3}}(?i:{:02x})", data)]
    units = char.encode("utf-16-be", "surrogatepass")
    ways.append("".join(rf"\\{{1,15}}u(?i:{units[index : index + 2].hex()})" for index in range(0, len(units), 2)))
    ways.append(rf"\\{{1,15}}[uUx]\{{?0{{0,7}}(?i:{code:x})\}}?")
    ways.append(_join_bytes(r"\\{{1,15}}x(?i:{:02x})", data))
    ways.append(_join_bytes(r"\\{{1,15}}0?{:03o}", data))
    ways.append(rf"&(?:amp;)?#(?:[xX]0{{0,4}}(?i:{code:x})|0{{0,4}}{code});")
    if code in codepoint2name:
        ways.append(f"&(?:amp;)?{codepoint2name[code]};")
    if char in _CONTROLS:
        ways.append(rf"\\{{1,15}}{_CONTROLS[char]}")
    # A shell closes its quotes around `$'\n'`. Reports add a zero-width space to texts that GitHub would link.
    return rf"(?:'?\x24')?(?:{'|'.join(ways)})(?:''?)?\u200b?"


def _join_bytes(form: str, data: bytes) -> str:
    return "".join(form.format(byte) for byte in data)


def _make_base64_forms(data: bytes) -> Iterator[Form]:
    """The characters that depend on the secret alone, at each of the three offsets that preceding bytes may cause."""
    for offset in range(3):
        text = b64encode(bytes(offset) + data).decode()
        # Without the characters whose bits are shared with what is before or after the secret.
        core = text[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
        if len(core) >= _SHORTEST:
            yield _make_base64_form(core)
    if len(data) * 4 // 3 > min(_MIME_LINES):
        text = b64encode(data).decode().rstrip("=")
        for width in _MIME_LINES:
            lines = (text[index : index + width] for index in range(0, len(text), width))
            yield from (_make_base64_form(line) for line in lines if len(line) >= 2 * _SHORTEST)


def _make_base64_form(core: str) -> Form:
    spelled = {"+": r"(?:[+\-]|%2[Bb])", "/": r"(?:\\{0,15}[/_]|%2[Ff])"}
    half = len(core) // 2
    return Form(
        _BREAK.join(spelled.get(char, char) for char in core),
        _find_anchors(core[:half]) | _find_anchors(core[half:]) or _find_anchors(core),
    )


def _make_hex_forms(data: bytes) -> Iterator[Form]:
    if len(data) < _SHORTEST:
        return
    pairs = [f"{byte:02x}" for byte in data]
    for sign in ("", "%"):
        ends = (sign.join(pairs[:6]), sign.join(pairs[-6:]))
        anchors = frozenset(each for end in ends for each in (end, end.upper()))
        yield Form(_BREAK.join(f"(?i:{sign}{pair})" for pair in pairs), anchors)


MASK = "***"
# The most characters that one secret can take in a text, in any form.
LONGEST = 1 << 16
_SHORTEST_MASKED = 4
_MOST_LEARNT = 200
_ADD_MASK = re.compile(r"\s*::add-mask::(.+)|.*##\[add-mask\](.+)", re.IGNORECASE)
_CODES = {"%0D": "\r", "%0A": "\n", "%25": "%"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")


class Redactor:
    """Replaces secrets with three stars, in every form in which they are likely to be written.

    Values with the shape of a token are replaced, too, also if they are unknown. Scripts can declare more secrets.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._anchored: list[tuple[str, _Pattern]] = []
        self._learnt = 0
        self._may_match: Callable[[str], bool] | None = None
        for secret in set(secrets):
            self._add(secret)

    def __getstate__(self) -> dict[str, Any]:
        """The state that another process needs, which compiles its own patterns."""
        return {**self.__dict__, "_may_match": None}

    def __call__(self, data: bytes) -> bytes:
        """A document without secrets; the same object if it has none. JSON is parsed first, so escapes don't matter."""
        # JSON may escape an ASCII secret character by character.
        if not self._is_suspect(data.decode("utf-8", "replace")) and b"\\u00" not in data:
            return data
        try:
            value = from_json(data)
        # No JSON, such as a line that is cut off.
        except ValueError:
            return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        clean = self._value(value)
        # The same object where nothing changed: callers compare by identity, and JSON would be formatted anew.
        return data if clean == value else to_json(clean, inf_nan_mode="constants")

    def text(self, text: str) -> str:
        """A text without secrets."""
        while self._is_suspect(text) and (spans := list(self._spans(text))):
            parts, position = list[str](), 0
            for start, end in spans:
                parts += (text[position:start], MASK)
                position = end
            text = "".join((*parts, text[position:]))
        return text

    def stream(self, chunks: Iterable[str]) -> Iterator[str]:
        """The text of chunks without secrets, also if a secret is split between chunks.

        It yields once for each chunk, maybe an empty text, so that the caller decides when the next one is made.
        """
        rest = ""
        for chunk in chunks:
            rest += chunk
            clean = ""
            if len(rest) > 4 * LONGEST:
                clean, rest = self.redact_settled(rest)
            yield clean
        yield self.text(rest)

    def redact_settled(self, text: str) -> tuple[str, str]:
        """Redact the part of a text that later text can't change; returns it and the rest, which is unchanged."""
        cut = max(0, len(text) - LONGEST)
        if self._is_suspect(text):
            # Never cut within a secret: each half alone is not recognised.
            cut = next((end for start, end in self._spans(text) if start < cut < end), cut)
        return self.text(text[:cut]), text[cut:]

    def learn_from(self, line: str) -> None:
        """Add the secret that a script declares by printing `::add-mask::VALUE`."""
        match = _ADD_MASK.fullmatch(line) if "add-mask" in line.lower() else None
        # A suite that prints masks without end would make each search slower.
        if match is None or self._learnt >= _MOST_LEARNT:
            return
        secret = _unescaped(match[1] or match[2]).strip()
        if len(secret) >= _SHORTEST_MASKED:
            self._learnt += 1
            self._add(secret)

    def _add(self, secret: str) -> None:
        for form in forms(secret):
            pattern = _Pattern(form)
            self._anchored += ((anchor, pattern) for anchor in form.anchors or ("",))
        self._may_match = None  # the common search is compiled anew when it is needed

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self._value(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, bool) or value is None:
            return value
        # A number may be a secret, too, such as a PIN.
        return value if self.text(str(value)) == str(value) else MASK

    def _is_suspect(self, text: str) -> bool:
        """Whether a text may contain a secret; a fast search."""
        if self._may_match is None:
            self._may_match = _search({_ANY_SHAPE, *(anchor or pattern.searched for anchor, pattern in self._anchored)})
        return self._may_match(text if text.isascii() else _encodable(text))

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The start and end of each secret, in order. Overlapping ones are merged."""
        likely = {pattern for anchor, pattern in self._anchored if anchor in text}
        shapes = _shape_spans(text) if _may_have_shape(_encodable(text)) else ()
        first = last = 0
        for start, end in sorted(chain(shapes, *(pattern.spans(text) for pattern in likely))):
            if start < last:
                last = max(last, end)
                continue
            if last:
                yield first, last
            first, last = start, end
        if last:
            yield first, last


class _Pattern:
    """A form. Its pattern is compiled when one of its anchors is in a text for the first time."""

    def __init__(self, form: Form) -> None:
        self._form = form

    @property
    def searched(self) -> str:
        """The pattern for Rust's engine, whose texts have no surrogates."""
        return _SURROGATE_ESCAPE.sub("\ufffd", self._form.pattern)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._form.pattern)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The start and end of each match."""
        for match in self._compiled.finditer(text):
            yield match.span()


def _search(patterns: Iterable[str]) -> Callable[[str], bool]:
    """One search for all anchors and shapes at once, by pydantic's regular expression engine.

    It takes the same time for one secret and for hundreds. `in` for each of hundreds takes ten times as long.
    """
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern="|".join(patterns), regex_engine="rust-regex"))
    except SchemaError:  # the pattern is over the engine's limit
        return lambda _: True
    return validator.isinstance_python


_may_have_shape = _search([_ANY_SHAPE])


def _encodable(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _unescaped(text: str) -> str:
    for code, character in _CODES.items():
        text = text.replace(code, character)
    return text


__all__ = ["LONGEST", "MASK", "Redactor", "secret_values", "short_secrets"]
