"""Where tests are drawn from: texts, and files of text, tables and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

from scoregate.errors import SourceError

_MOST_BYTES = 10 * 1024 * 1024
_CONVERT = {
    ".pdf": "Turn it into text first, for instance by: pdftotext FILE FILE.txt",
    ".docx": "Turn it into text first, for instance by: pandoc FILE -t plain -o FILE.txt",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A text that tests are drawn from; `name` is what tests say that they come from."""

    name: str
    text: str


# A text with its name, or the path of a file.
GivenSource: TypeAlias = Source | Path | str


def source_of(given: GivenSource) -> Source:
    """What was given, read: `.txt` and `.md` as they are, a row of `.csv` and an item of `.json` a paragraph each.

    Raises:
        SourceError: it is a file that is missing, too large, of a kind that is not read, no UTF-8, or broken; or there
            is no text in it.
    """
    source = given if isinstance(given, Source) else Source(str(given), _text(Path(given)))
    if not source.text.strip():
        raise SourceError(f"the source {source.name!r:.200} has no text")
    return source


def _text(path: Path) -> str:
    suffix = path.suffix.lower()
    if (read := _READERS.get(suffix)) is None:
        raise SourceError(
            f"{path}: files that end in {suffix or 'nothing'!r} are not read; those in {', '.join(_READERS)} are",
            advice=_CONVERT.get(suffix, "Text that is no file is given as Source(name, text)."),
        )
    try:
        if (size := path.stat().st_size) > _MOST_BYTES:
            raise SourceError(f"{path} has {size:,} bytes; a source may have {_MOST_BYTES:,}", advice="Cut it up.")
        return read(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        advice = "Text that is no file is given as Source(name, text)."
        raise SourceError(f"{path} cannot be read: {error.strerror}", advice=advice) from None
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None
    except (csv.Error, ValueError, RecursionError) as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"{path} is no {suffix[1:].upper()}: {error!s:.200}") from None


def _table(text: str) -> str:
    """Every row with the names of its columns: a part of it is understood without the header."""
    rows = csv.reader(StringIO(text, newline=""), strict=True)
    header = next(rows, [])
    return "\n\n".join(filter(None, ("\n".join(_cells(header, row)) for row in rows)))


def _cells(header: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    for place, cell in enumerate(row):
        if cell.strip():
            yield f"{header[place]}: {cell}" if place < len(header) else cell


def _json(text: str) -> str:
    value = json.loads(text)
    return "\n\n".join(map(_shown, value)) if isinstance(value, list) else _shown(value)


def _json_lines(text: str) -> str:
    return "\n\n".join(_shown(json.loads(line)) for line in text.splitlines() if line.strip())


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


_READERS: dict[str, Callable[[str], str]] = {
    ".txt": str,
    ".md": str,
    ".csv": _table,
    ".json": _json,
    ".jsonl": _json_lines,
}
