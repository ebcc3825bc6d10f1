"""A page of the documentation, as the code blocks that readers copy."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^ *(?P<marks>`{3,})(?P<language>[\w-]*)(?P<rest>[^`]*)$")
_MARK = re.compile(r"^ *<!-- *(?:(?P<name>not run|run by|exit): *(?P<value>.*?))? *(?:-->)?$")
_FILE = re.compile(r"(?:#|//) (?P<path>[\w./-]+\.[a-z]\w*)(?:[,;:].*)?\n")
_TITLE = re.compile(r'title="(?P<path>[^"]+)"')
# Formats without comments: their files begin after the line that names them. Readers see a title instead.
_PLAIN = (".csv", ".json", ".jsonl", ".md", ".ndjson", ".tsv", ".txt")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        place: the page and the line, for messages.
        language: what follows the fence, such as "python".
        text: what the block holds.
        marks: what HTML comments in front of the block ask for, by name.
    """

    place: str
    language: str
    text: str
    marks: dict[str, str]

    @property
    def path(self) -> str | None:
        """The file that the first line names; None if there is none."""
        match = _FILE.match(self.text)
        return match["path"] if match else None

    @property
    def content(self) -> str:
        """What the file holds."""
        match = _FILE.match(self.text)
        return self.text[match.end() :] if match and match["path"].endswith(_PLAIN) else self.text


def read_blocks(path: Path) -> list[Block]:
    """Read all blocks of a page, also those inside HTML comments."""
    blocks: list[Block] = []
    marks: dict[str, str] = {}
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    for number, line in lines:
        if fence := _FENCE.match(line):
            inside: list[str] = []
            for _, each in lines:
                if each.strip() == fence["marks"]:
                    break
                inside.append(each)
            else:
                raise ValueError(f"{path}:{number}: this block has no end")
            text = textwrap.dedent("".join(f"{each}\n" for each in inside))
            if title := _TITLE.search(fence["rest"]):
                text = f"# {title['path']}\n{text}"
            blocks.append(Block(f"{path.name}:{number}", fence["language"], text, marks))
            marks = {}
        elif mark := _MARK.match(line):
            marks = {**marks, mark["name"]: mark["value"]} if mark["name"] else marks
        elif line.strip():
            marks = {}
    return blocks
