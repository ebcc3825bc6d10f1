"""TOML as it is written: long texts over several lines, every character to be seen, people's comments kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scoregate.errors import StoreError
from scoregate.store.lines import UNSEEN

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")
_SHORT = {"\r": "\\r", '"': '\\"'}
# A quote that another one follows, or the end: several could be taken for the end of the text.
_ANY, _ENDING = re.compile('"'), re.compile(r'"(?="|\Z)')
_GITS = re.compile(r"^[<>|](?=([<>|])\1{5} )", re.MULTILINE)


def updated(text: str, full: Mapping[str, Any], short: Mapping[str, Any]) -> str:
    """The text of a document with other values.

    Args:
        text: as it was; empty for a new one.
        full: all fields; None has no form and is left out. short: those that are added where they are missing.

    Raises:
        StoreError: `tomlkit` is not installed.
    """
    document = _tomlkit().parse(text)
    _change(document, _plain(full), _plain(short))
    written: str = document.as_string()
    return written


def _change(table: Any, full: Mapping[str, Any], short: Mapping[str, Any]) -> None:
    for name in [name for name in table if name not in full or (full[name] == {} and name not in short)]:
        del table[name]
    for name, value in sorted(full.items(), key=lambda entry: _depth(entry[1])):
        brief = short.get(name, value)
        if name not in table:
            if name in short:
                table[name] = _item(brief)
        elif isinstance(value, Mapping) and isinstance(table[name], Mapping):
            _change(table[name], value, value)
        elif table[name] not in (value, brief):
            table[name] = _item(brief)


def _depth(value: object) -> int:
    """Tables stand below the values, lists of tables below the tables."""
    if isinstance(value, Mapping):
        return 1
    return 2 if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value) else 0


def _item(value: Any) -> Any:
    tomlkit = _tomlkit()
    if isinstance(value, str):
        return tomlkit.value(_quoted(value))
    if isinstance(value, Mapping):
        made = tomlkit.table()
        made.update({name: _item(each) for name, each in value.items()})
        return made
    if isinstance(value, list):
        made = tomlkit.aot() if _depth(value) else tomlkit.array()
        made.extend(map(_item if _depth(value) else _inline, value))
        return made
    return tomlkit.item(value)


def _inline(value: Any) -> Any:
    """As it stands within an array, on one line."""
    tomlkit = _tomlkit()
    if isinstance(value, Mapping):
        made = tomlkit.inline_table()
        made.update({name: _inline(each) for name, each in value.items()})
        return made
    if isinstance(value, list):
        made = tomlkit.array()
        made.extend(map(_inline, value))
        return made
    return _item(value)


def _quoted(text: str) -> str:
    """A basic string, over several lines where the text has several, none of which looks like git's."""
    text = _GITS.sub(_escape, text.replace("\\", "\\\\"))
    text = UNSEEN.sub(_escape, _CONTROL.sub(_escape, text))
    several = "\n" in text
    escaped = (_ENDING if several else _ANY).sub(_escape, text)
    return f'"""\n{escaped}"""' if several else f'"{escaped}"'


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _plain(value: Any) -> Any:
    """As TOML gives it back: lists for tuples, nothing for None."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _tomlkit() -> Any:
    try:
        import tomlkit
    except ImportError:
        raise StoreError(
            "TOML cannot be written: the package tomlkit is not installed",
            advice="Run: pip install 'scoregate[judges]'",
        ) from None
    return tomlkit
