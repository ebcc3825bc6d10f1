"""The sources of generated tests: texts, and files of text, tables and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

from scoregate.errors import SourceError
from scoregate.store.tables import TableError, TableReader, open_text

_MOST_BYTES = 10 * 1024 * 1024
_CONVERSION_ADVICE = {
    ".pdf": "Turn it into text first, for instance by: pdftotext FILE FILE.txt",
    ".docx": "Turn it into text first, for instance by: pandoc FILE -t plain -o FILE.txt",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A text that tests are based on. The metadata of tests contains `name`."""

    name: str
    text: str


# A text with its name, or the path of a file.
GivenSource: TypeAlias = Source | Path | str


def read_source(given: GivenSource) -> Source:
    """The text of a source. A row of `.csv` and an item of `.json` become a paragraph.

    Raises:
        SourceError: the file is missing, too large, of an unknown format, or invalid; or the source is empty.
    """
    source = given if isinstance(given, Source) else Source(str(given), _read_file(Path(given)))
    if not source.text.strip():
        raise SourceError(f"the source {source.name!r:.200} has no text")
    return source


def _read_file(path: Path) -> str:
    suffix = path.suffix.lower()
    if (read := _READERS.get(suffix)) is None:
        raise SourceError(
            f"{path}: files that end in {suffix or 'nothing'!r} are not read; those in {', '.join(_READERS)} are",
            advice=_CONVERSION_ADVICE.get(suffix, "Text that is not a file is given as Source(name, text)."),
        )
    try:
        if (size := path.stat().st_size) > _MOST_BYTES:
            raise SourceError(f"{path} has {size:,} bytes; a source may have {_MOST_BYTES:,}", advice="Cut it up.")
        with open_text(path) as file:
            return read(file.read())
    except OSError as error:
        advice = "Text that is not a file is given as Source(name, text)."
        raise SourceError(f"{path} cannot be read: {error.strerror}", advice=advice) from None
    except TableError as error:
        raise SourceError(error.message(path), advice=error.advice) from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, SourceError):  # it is a ValueError, too
            raise
        raise SourceError(f"{path} is not {suffix[1:].upper()}: {error!s:.200}") from None


def _table_text(text: str) -> str:
    """Every row with the names of its columns, so that each chunk is complete."""
    table = TableReader(StringIO(text, newline=""))
    paragraphs = []
    for _, row in table:
        names = [f"{name}: " for name in table.header] + [""] * (len(row) - len(table.header))
        paragraphs.append("\n".join(name + cell for name, cell in zip(names, row, strict=False) if cell.strip()))
    return "\n\n".join(filter(None, paragraphs))


def _json_text(text: str) -> str:
    value = json.loads(text)
    return "\n\n".join(map(_value_text, value)) if isinstance(value, list) else _value_text(value)


def _json_lines_text(text: str) -> str:
    return "\n\n".join(_value_text(json.loads(line)) for line in text.splitlines() if line.strip())


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


_READERS: dict[str, Callable[[str], str]] = {
    ".txt": str,
    ".md": str,
    ".csv": _table_text,
    ".json": _json_text,
    ".jsonl": _json_lines_text,
}


# Where to split a text, best first: between paragraphs, lines, sentences, words.
_SEPARATORS = ("\n\n", "\n", ". ", " ")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a source; `number` counts its parts from 1."""

    source: str
    number: int
    text: str


def split_sources(sources: Iterable[Source], size: int) -> list[Chunk]:
    """The parts of all sources, each of at most `size` characters."""
    return [
        Chunk(source.name, number, text)
        for source in sources
        for number, text in enumerate(filter(None, map(str.strip, _split_text(source.text, size))), 1)
    ]


def _split_text(text: str, size: int) -> Iterator[str]:
    """Parts as long as possible that end at a separator in their second half, if there is one."""
    begin = 0
    while len(text) - begin > size:
        half, most = begin + size // 2, begin + size
        places = (position + len(cut) for cut in _SEPARATORS if (position := text.rfind(cut, half, most)) >= 0)
        end = next(places, most)
        yield text[begin:end]
        begin = end
    yield text[begin:]
