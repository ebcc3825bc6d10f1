"""The images and audio of the listed trials: those of the worst cases first, up to a limit of the page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

from scoregate.kernel.report.html.assets import split_secret
from scoregate.kernel.report.html.text_budget import TextBudget
from scoregate.kernel.types.media import MediaFile, ReadMedia, Reference, describe_number, find_references, format_size

MOST_BYTES = 20_000_000
_MOST_FILES = 5_000
_MOST_IN_VALUE = 24
MediaRow: TypeAlias = tuple[str, str, str, str]


def media_rows(value: Any, budget: TextBudget) -> list[MediaRow]:
    """The images and audio in a value, each with its digest, its type, its size and its name."""
    return [_make_row(each, budget) for each in islice(find_references(value), _MOST_IN_VALUE)]


def _make_row(reference: Reference, budget: TextBudget) -> MediaRow:
    name = budget.line(reference.name) if reference.name else ""
    return reference.digest, reference.type, format_size(reference.size), name


@dataclass(slots=True)
class PageMedia:
    """Collects what trials refer to, and writes the files into the page.

    Attributes:
        left_out: the number of files over the limit; `missing`: of those that neither run has.
    """

    left_out: int = 0
    missing: int = 0
    _ranks: dict[str, int] = field(default_factory=dict)

    def note(self, rows: Iterable[MediaRow], rank: int) -> None:
        """Note the images and audio of a trial; those of cases with the lowest ranks are written first."""
        for digest, *_ in rows:
            self._note(digest, rank)

    def _note(self, digest: str, rank: int) -> None:
        if digest in self._ranks:
            self._ranks[digest] = min(rank, self._ranks[digest])
        elif len(self._ranks) < _MOST_FILES:
            self._ranks[digest] = rank
        else:
            self.left_out += 1

    def add(self, other: PageMedia) -> None:
        """Add what other trials refer to."""
        self.left_out += other.left_out
        for digest, rank in other._ranks.items():
            self._note(digest, rank)

    def write(self, read: ReadMedia, redact: Callable[[str], str]) -> Iterator[str]:
        """Yield an element for each file that is in the page, and for each that is missing."""
        left = MOST_BYTES
        for digest in sorted(self._ranks, key=lambda each: (self._ranks[each], each)):
            file = read(digest)
            if file is None:
                self.missing += 1
                yield f'<script type="text/plain" id="media-{digest}"></script>\n'
            elif len(file.data) > left:
                self.left_out += 1
            else:
                left -= len(file.data)
                yield _make_element(digest, file, redact)

    def describe(self) -> str:
        """What the page leaves out; empty if it has everything."""
        parts = []
        if self.left_out:
            limit = f"This page holds {format_size(MOST_BYTES)} of images and recordings, of the worst cases first."
            parts.append(f"{limit} {self.left_out:,} more are in the folder run/media.")
        if self.missing:
            parts.append(f"{describe_number(self.missing)} not kept with the run or its baseline.")
        return " ".join(parts)


def _make_element(digest: str, file: MediaFile, redact: Callable[[str], str]) -> str:
    text = split_secret(b64encode(file.data).decode(), redact)
    return f'<script type="text/plain" id="media-{digest}" data-media="{file.type}">{text}</script>\n'
