"""Update the table of retired models from the pages of providers: `python -m tools.retired_models [PROVIDER=FILE ...]`.

Without arguments it fetches the pages that the table names as sources. A saved page, as Markdown or HTML, can be given
instead. Every table on a page with a date of retirement and names of models is read. Entries are added and changed,
never removed: pages drop old entries, but old models stay retired. Check the difference before you commit it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from html.parser import HTMLParser
from pathlib import Path
from urllib.request import Request, urlopen

TABLE = Path(__file__).parents[1] / "src/scoregate/features/costs/retired_models.toml"
_DATE_HEADING = re.compile(r"shut ?down|retire|sunset|end of life", re.I)
_MODEL_HEADING = re.compile(r"model|snapshot|system", re.I)
_SUCCESSOR_HEADING = re.compile(r"replacement|substitute|alternative|successor", re.I)
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-.][a-z0-9]+)+", re.ASCII)
_FORMS = ("%Y-%m-%d", "%b %d, %Y", "%B %d, %Y", "%m/%d/%Y", "%d %B %Y")
Entry = tuple[date, str, str]  # the date, the successor, the source if it is not the provider's page


class _TableReader(HTMLParser):
    """Collects the cells of HTML tables."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None and self.rows:
            self.rows[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


def read_page(text: str) -> dict[str, tuple[date, str]]:
    """The date and the successor of each model in the tables of a page, by its name."""
    found: dict[str, tuple[date, str]] = {}
    columns: tuple[int, int, int | None] | None = None
    for row in _list_rows(text):
        if (headings := _find_columns(row)) is not None:
            columns = headings
        elif columns is not None and len(row) > max(columns[:2]):
            day = _parse_date(row[columns[0]])
            successor = _NAME.search(row[columns[2]]) if columns[2] is not None and len(row) > columns[2] else None
            for name in _NAME.findall(row[columns[1]]) if day is not None else ():
                found[name] = day, successor[0] if successor else ""  # type: ignore[assignment]
    return found


def _list_rows(text: str) -> Iterator[list[str]]:
    if "<table" in text.lower():
        reader = _TableReader()
        reader.feed(text)
        yield from reader.rows
        return
    for line in text.splitlines():
        if line.lstrip().startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            yield [cell.replace("\\|", ",").replace("`", "").strip() for cell in cells]


def _find_columns(row: Sequence[str]) -> tuple[int, int, int | None] | None:
    """The columns of the date, the models and the successor, if the row is a heading."""
    dates = [at for at, cell in enumerate(row) if _DATE_HEADING.search(cell) and not any(map(str.isdigit, cell))]
    successors = [at for at, cell in enumerate(row) if _SUCCESSOR_HEADING.search(cell)]
    models = [at for at, cell in enumerate(row) if _MODEL_HEADING.search(cell) and at not in (*dates, *successors)]
    if not dates or not models or _parse_date(row[dates[0]]) is not None:
        return None
    return dates[0], models[0], successors[0] if successors else None


def _parse_date(text: str) -> date | None:
    """An exact date; None for `Earliest June 2026` and the like, which are no announcements."""
    for form in _FORMS:
        try:
            return datetime.strptime(text.strip(), form).date()  # noqa: DTZ007 - a day has no time zone
        except ValueError:
            continue
    return None


def read_table(text: str) -> tuple[Mapping[str, str], dict[tuple[str, str], Entry]]:
    """The sources, and the entries by provider and model."""
    data = tomllib.loads(text)
    entries = {
        (each["provider"], name): (each["date"], each.get("successor", ""), each.get("source", ""))
        for each in data["models"]
        for name in each["names"]
    }
    return data["sources"], entries


def write_table(head: str, entries: Mapping[tuple[str, str], Entry]) -> str:
    """The text of the table: models with the same end are one entry, by provider and date."""
    groups: dict[tuple[str, Entry], list[str]] = {}
    for (provider, name), entry in sorted(entries.items()):
        groups.setdefault((provider, entry), []).append(name)
    parts = [head.rstrip()]
    for (provider, (day, successor, source)), names in sorted(groups.items(), key=lambda each: (each[0], each[1])):
        lines = [
            "[[models]]",
            f'provider = "{provider}"',
            f"names = [{', '.join(map(_quote, names))}]",
            f"date = {day}",
        ]
        lines += [f"successor = {_quote(successor)}"] if successor else []
        lines += [f"source = {_quote(source)}"] if source else []
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _quote(text: str) -> str:
    return f'"{text}"'


def main(arguments: Sequence[str]) -> int:
    """Update the table and print what changed."""
    text = TABLE.read_text("utf-8")
    sources, entries = read_table(text)
    pages = dict(argument.partition("=")[::2] for argument in arguments) or dict(sources)
    for provider, place in pages.items():
        if provider not in sources:
            raise SystemExit(f"{provider} is not a provider of the table: {', '.join(sources)}")
        found = read_page(_fetch(place) if place.startswith("https://") else Path(place).read_text("utf-8"))
        print(f"{provider}: {len(found)} models")
        for name, (day, successor) in found.items():
            old = entries.get((provider, name))
            new = (day, successor or (old[1] if old else ""), "")
            if old != new:
                print(f"  {name}: {day} {new[1]}" + (f" (was {old[0]} {old[1]})" if old else ""))
                entries[provider, name] = new
    TABLE.write_text(write_table(text[: text.index("[[models]]")], entries), "utf-8")
    return 0


def _fetch(address: str) -> str:
    request = Request(address, headers={"User-Agent": "scoregate", "Accept": "text/markdown, text/html"})
    with urlopen(request, timeout=30) as response:
        data: bytes = response.read(10_000_000)
    return data.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
