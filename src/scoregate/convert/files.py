"""The files of a configuration: bounded, and inside of the project."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scoregate.errors import UsageError
from scoregate.kernel.host.file_access import find_repository, read_project_file
from scoregate.kernel.types.text import describe_width
from scoregate.kernel.types.yaml_document import YamlProblem, YamlVersion, parse_yaml

FILE_SCHEME = "file://"
_MOST_BYTES = 20_000_000
_MOST_YAML_BYTES = 2_000_000


class Unreadable(ValueError):
    """A file that can't be converted; the text says why."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a configuration.

    Attributes:
        path: the file.
        top: the folder that all files must be in.
        yaml_version: the version of YAML that the tool reads.
    """

    path: Path
    top: Path
    yaml_version: YamlVersion = "1.2"

    @classmethod
    def open(cls, path: Path, yaml_version: YamlVersion = "1.2") -> Source:
        """The configuration itself. Its files must be in its repository, or in its folder outside of one.

        Args:
            path: the configuration.
            yaml_version: the version of YAML that the tool reads.
        """
        path = path.resolve()
        return cls(path, find_repository(path.parent), yaml_version)

    @property
    def name(self) -> str:
        """The path for messages, relative to the project."""
        return str(self.path.relative_to(self.top)) if self.path.is_relative_to(self.top) else self.path.name

    def find(self, reference: str) -> Source:
        """The file that a text refers to, relative to this one.

        Args:
            reference: a path, with or without "file://".
        """
        relative = reference.removeprefix(FILE_SCHEME)
        if "\0" in relative:
            raise Unreadable("its name has a null character")
        # Without links: a link is followed where the file is read, and only inside of the project.
        return replace(self, path=self.path.parent / relative)

    def read(self, most: int = _MOST_BYTES) -> str:
        """The text of the file.

        Raises:
            Unreadable: it is missing, too large, outside of the project, or no UTF-8.
        """
        try:
            content = read_project_file(self.path, most + 1, top=self.top)
        except OSError as error:
            raise Unreadable(f"it can't be read: {error.strerror or error}") from None
        if len(content) > most:
            raise Unreadable(f"it is larger than {most:,} bytes")
        try:
            return content.decode("utf-8-sig")  # some editors write a byte order mark
        except UnicodeDecodeError as error:
            raise Unreadable(f"it is not UTF-8: byte {error.start}") from None

    def parse(self) -> Any:
        """The value of a YAML or JSON file.

        Raises:
            Unreadable: it can't be read, or is invalid.
        """
        if self.path.suffix == ".json":
            return json_of(self.read())
        return yaml_of(self.read(_MOST_YAML_BYTES), self.name, self.yaml_version)

    def read_rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The rows of a CSV or JSON lines file, with their numbers.

        Raises:
            Unreadable: it can't be read, or is invalid.
        """
        text = self.read()
        if self.path.suffix == ".jsonl":
            for number, line in enumerate(text.splitlines(), 1):
                if line.strip():
                    row = json_of(line, f"line {number}: ")
                    if not isinstance(row, dict):
                        raise Unreadable(f"line {number} is not an object")
                    yield number, row
            return
        try:
            table = csv.reader(text.splitlines(keepends=True), strict=True)
            header = next(table, None)
            for number, cells in enumerate(table, 2):
                if any(cells):
                    yield number, _name_cells(header or [], cells, number)
        except csv.Error as error:
            raise Unreadable(f"it is not CSV: {error}") from None


def _name_cells(header: list[str], cells: list[str], number: int) -> Mapping[str, str]:
    names = [name.strip() for name in header]
    if len(cells) != len(names):
        raise Unreadable(f"row {number} {describe_width(len(cells), len(names))}")
    if len(set(names)) < len(names):
        raise Unreadable("two columns have one name")
    return dict(zip(names, cells, strict=True))


def json_of(text: str, place: str = "") -> Any:
    """The value of a JSON text.

    Raises:
        Unreadable: it is invalid.
    """
    try:
        return _require_plain(json.loads(text))
    except Unreadable:
        raise
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{place}it is not JSON: {error}") from None


def yaml_of(text: str, name: str, version: YamlVersion = "1.2") -> Any:
    """The value of a YAML text without aliases.

    Raises:
        Unreadable: it is invalid, has an alias or a key twice, or PyYAML is not installed.
    """
    try:
        return _require_plain(parse_yaml(text, name, version=version).to_plain())
    except YamlProblem as error:
        raise Unreadable(str(error).replace(f"{name}:", "line ", 1)) from None


def _require_plain(value: Any, depth: int = 0) -> Any:
    """JSON types. Dates and the names of members are texts, and 1.0 is 1, as in JavaScript."""
    if depth > 100:
        raise Unreadable("it is nested too deeply")
    if isinstance(value, dict):
        return {str(key): _require_plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_require_plain(each, depth + 1) for each in value]
    # Python's JSON also reads `NaN`, and 1e999 as infinity.
    if isinstance(value, float) and not -1e300 < value < 1e300:
        raise Unreadable(f"{value} is not a number of JSON")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def require_config(source: Source) -> dict[str, Any]:
    """The members of a configuration.

    Raises:
        UsageError: it can't be read.
    """
    try:
        config = source.parse()
    except Unreadable as error:
        raise UsageError(f"{source.name}: {error}") from None
    if not isinstance(config, dict):
        raise UsageError(f"{source.name} must be a mapping, not {type(config).__name__}")
    return config
