"""The overview of all migrations, and whether every page has a test."""

from __future__ import annotations

from pathlib import Path

from tests.integration.migrate.conftest import PAGES, Reader
from tests.integration.migrate.runs import check_same


def test_the_page_works(reader: Reader) -> None:
    reader.follow()
    check_same(reader.folder / "before", reader.folder / "scoregate-out", ["is-polite"])


def test_every_page_has_a_test_and_a_line_in_the_overview() -> None:
    pages = {page.stem for page in PAGES.glob("*.md")}
    tested = {test.stem.removeprefix("test_") for test in Path(__file__).parent.glob("test_*.py")}
    assert pages == tested - {"init"}
    overview = (PAGES / "index.md").read_text(encoding="utf-8")
    assert [page for page in pages - {"index"} if f"]({page}.md)" not in overview] == []
