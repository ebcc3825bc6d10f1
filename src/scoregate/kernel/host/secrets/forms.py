"""The forms in which a secret may be written: plain, escaped by JSON, shells, URLs or HTML, in base64, in hex.

A form has a pattern for Python's `re`, and anchors: literal texts. Every match of the pattern contains an anchor.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from html.entities import codepoint2name

from scoregate.kernel.host.secrets.values import SHORTEST
from scoregate.kernel.types.records import record

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
    return {part for part in parts if len(part) >= SHORTEST} or {secret}


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
        if len(core) >= SHORTEST:
            yield _make_base64_form(core)
    if len(data) * 4 // 3 > min(_MIME_LINES):
        text = b64encode(data).decode().rstrip("=")
        for width in _MIME_LINES:
            lines = (text[index : index + width] for index in range(0, len(text), width))
            yield from (_make_base64_form(line) for line in lines if len(line) >= 2 * SHORTEST)


def _make_base64_form(core: str) -> Form:
    spelled = {"+": r"(?:[+\-]|%2[Bb])", "/": r"(?:\\{0,15}[/_]|%2[Ff])"}
    half = len(core) // 2
    return Form(
        _BREAK.join(spelled.get(char, char) for char in core),
        _find_anchors(core[:half]) | _find_anchors(core[half:]) or _find_anchors(core),
    )


def _make_hex_forms(data: bytes) -> Iterator[Form]:
    if len(data) < SHORTEST:
        return
    pairs = [f"{byte:02x}" for byte in data]
    for sign in ("", "%"):
        ends = (sign.join(pairs[:6]), sign.join(pairs[-6:]))
        anchors = frozenset(each for end in ends for each in (end, end.upper()))
        yield Form(_BREAK.join(f"(?i:{sign}{pair})" for pair in pairs), anchors)
