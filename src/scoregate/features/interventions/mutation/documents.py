"""Where the values of a document are written, which parsers don't return."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from scoregate.features.interventions.mutation.parts import Path
from scoregate.kernel.types.records import record


@record
class Place:
    """Where a value is written.

    Attributes:
        path: its keys and indexes.
        start: where its key starts, or the element of a list.
        value: where the value starts.
        end: where it ends.
        has_commas: whether commas separate it from its neighbours, and not lines.
    """

    path: Path
    start: int
    value: int
    end: int
    has_commas: bool


# Texts of several lines, texts, comments of TOML, marks, and whatever else is written without spaces.
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?!")|\'\'\'.*?\'\'\'(?!\')|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|\'[^\'\n]*\'|(?P<comment>#[^\n]*)|'
    r"[\[\]{},:=]|[^\s\[\]{},:=#\"']+",
    re.DOTALL,
)


class _Scanner:
    """Reads the tokens of a valid JSON or TOML document."""

    def __init__(self, text: str, start: int, end: int, *, is_toml: bool) -> None:
        self._text = text
        self._is_toml = is_toml
        self._tokens = [each for each in _TOKEN.finditer(text, start, end) if not each["comment"]]
        self._at = 0
        self.places: list[Place] = []

    def read_value(self, path: Path) -> int:
        """The end of the value that starts here. Its keys and elements are added to the places."""
        token = self._tokens[self._at]
        if token[0] in "[{":
            return self._read_container(path, token[0] == "{")
        end = token.end()
        self._at += 1
        while self._at < len(self._tokens):  # times and dates of TOML are several tokens
            token = self._tokens[self._at]
            if token[0] in ",]}" or "\n" in self._text[end : token.start()]:
                break
            end = token.end()
            self._at += 1
        return end

    def _read_container(self, path: Path, is_mapping: bool) -> int:
        self._at, index = self._at + 1, 0
        while (token := self._tokens[self._at])[0] not in "]}":
            if token[0] == ",":
                self._at += 1
                continue
            key = self._read_key() if is_mapping else (index,)
            index += 1
            value = self._tokens[self._at].start()
            end = self.read_value((*path, *key))
            self.places.append(Place((*path, *key), token.start(), value, end, has_commas=True))
        self._at += 1
        return token.end()

    def _read_key(self, last: str = ":=") -> Path:
        """The key up to its mark, which is skipped; one of TOML can have points."""
        start = end = self._tokens[self._at].start()
        while self._tokens[self._at][0] not in last:
            end = self._tokens[self._at].end()
            self._at += 1
        self._at += 1
        written = self._text[start:end]
        return _split_key(tomllib.loads(f"{written} = 0")) if self._is_toml else (json.loads(written),)

    def read_toml(self) -> None:
        """Add the places of all keys, and of the elements of lists of tables: each from its header to the next one."""
        table: Path = ()
        counts: dict[Path, int] = {}
        elements: dict[Path, tuple[int, int]] = {}
        while self._at < len(self._tokens):
            start = self._tokens[self._at].start()
            if self._tokens[self._at][0] == "[":
                is_element = self._text.startswith("[[", start)
                self._at += 1 + is_element
                table = _resolve(self._read_key("]"), counts, is_element=is_element)
                self._at += is_element
                end = self._tokens[self._at - 1].end()
                if is_element:
                    elements[table] = start, end
            else:
                path = (*table, *self._read_key())
                value = self._tokens[self._at].start()
                end = self.read_value(path)
                self.places.append(Place(path, start, value, end, has_commas=False))
            for length in range(1, len(table) + 1):
                if table[:length] in elements:
                    elements[table[:length]] = elements[table[:length]][0], end
        self.places += [Place(path, start, start, end, has_commas=False) for path, (start, end) in elements.items()]


def _split_key(value: Any) -> Path:
    path: list[str] = []
    while isinstance(value, dict):
        key, value = next(iter(value.items()))
        path.append(key)
    return tuple(path)


def _resolve(keys: Path, counts: dict[Path, int], *, is_element: bool) -> Path:
    """The path of a table of TOML, with the index of the last element of each list of tables in it."""
    path: Path = ()
    for at, key in enumerate(keys, 1):
        path = (*path, key)
        if is_element and at == len(keys):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def find_json_places(text: str) -> list[Place]:
    """The places of a valid JSON document."""
    scanner = _Scanner(text, 0, len(text), is_toml=False)
    scanner.read_value(())
    return scanner.places


def find_toml_places(text: str) -> list[Place]:
    """The places of a valid TOML document."""
    scanner = _Scanner(text, 0, len(text), is_toml=True)
    scanner.read_toml()
    return scanner.places


def find_lines_places(text: str) -> list[Place]:
    """The places of valid JSON Lines: of the lines, and of the values in them."""
    places = []
    for index, line in enumerate(re.finditer(r"[^\n]*\S[^\n]*", text)):
        start, end = line.start() + len(line[0]) - len(line[0].lstrip()), line.start() + len(line[0].rstrip())
        scanner = _Scanner(text, start, end, is_toml=False)
        scanner.read_value((index,))
        places += [*scanner.places, Place((index,), start, start, end, has_commas=False)]
    return places


def find_csv_places(text: str) -> list[Place]:
    """The places of the rows after the header. A row goes on in the next line while a quote is open."""
    places, start, index = list[Place](), 0, -1
    for line in re.finditer(r"[^\n]*\n|[^\n]+\Z", text):
        if text.count('"', start, line.end()) % 2:
            continue
        if row := text[start : line.end()].rstrip("\r\n"):
            index += 1
            places += [Place((index,), start, start, start + len(row), has_commas=False)] if index else []
        start = line.end()
    return places


def find_yaml_places(text: str) -> list[Place]:
    """The places of a valid YAML document."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [*_walk_yaml(yaml.compose(text, Loader=loader), text, ())]


def _walk_yaml(node: Any, text: str, path: Path) -> Iterator[Place]:
    is_mapping = node.id == "mapping"
    for index, item in enumerate(node.value if node.id in ("mapping", "sequence") else ()):
        key, value = item if is_mapping else (item, item)
        inner = (*path, key.value if is_mapping else index)
        start = value.start_mark.index
        yield from _walk_yaml(value, text, inner)
        yield Place(inner, key.start_mark.index, start, _find_yaml_end(value, text), has_commas=bool(node.flow_style))


def _find_yaml_end(node: Any, text: str) -> int:
    """The end of a node, without the space and the comments below it that PyYAML counts to a block."""
    if node.id in ("mapping", "sequence") and not node.flow_style and node.value:
        last = node.value[-1]
        return _find_yaml_end(last[1] if node.id == "mapping" else last, text)
    end: int = node.end_mark.index
    while end > node.start_mark.index and text[end - 1].isspace():
        end -= 1
    return end
