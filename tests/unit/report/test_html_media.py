"""The page has images and audio up to a limit, and names what it omits."""

from __future__ import annotations

import re
from base64 import b64decode

import pytest
from tests.fakes.media import BEEP, GREEN, RED

from scoregate import Media
from scoregate.kernel.report.html import trial as media_module
from scoregate.kernel.report.html.text_budget import TextBudget
from scoregate.kernel.report.html.trial import PageMedia, media_rows
from scoregate.kernel.types.media import MediaFile

FILES = {Media.from_bytes(data).digest: MediaFile(Media.from_bytes(data).type, data) for data in (RED, GREEN, BEEP)}
ELEMENT = re.compile(r'<script type="text/plain" id="media-(\w+)"(?: data-media="([\w/]+)")?>([^<]*)</script>\n')


def note(page: PageMedia, *data: bytes, rank: int = 0) -> None:
    references = [Media.from_bytes(each).reference() for each in data]
    page.note(media_rows(references, TextBudget(1000, str)), rank)


def write(page: PageMedia, redact: object = str) -> dict[str, bytes | None]:
    found = (ELEMENT.fullmatch(text) for text in page.write(FILES.get, redact))  # type: ignore[arg-type]
    return {match[1]: b64decode(match[3]) if match[2] else None for match in found if match is not None}


def test_each_file_is_in_the_page_once() -> None:
    page = PageMedia()
    note(page, RED, BEEP, RED)
    note(page, RED)
    assert sorted(write(page).values(), key=str) == sorted([RED, BEEP], key=str)
    assert page.describe() == ""


def test_the_worst_cases_are_first_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_module, "MOST_BYTES", len(GREEN) + 10)
    page = PageMedia()
    note(page, RED, rank=2)
    note(page, GREEN, rank=5)
    note(page, BEEP, rank=3)
    note(page, GREEN, rank=1)
    assert list(write(page).values()) == [GREEN]
    assert "of the worst cases first. 2 more are in the folder run/media." in page.describe()


def test_a_missing_file_is_an_empty_element() -> None:
    page = PageMedia()
    note(page, RED + b"unknown")
    assert list(write(page).values()) == [None]
    assert page.describe() == "1 image or recording is not kept with the run or its baseline."


def test_ten_thousand_files_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_module, "_MOST_MEDIA_FILES", 3)
    page = PageMedia()
    for number in range(10):
        note(page, RED + bytes([number]), rank=number)
    assert len(write(page)) == 3
    assert "7 more are in the folder" in page.describe()
    rows = media_rows([Media.from_bytes(RED).reference()] * 10_000, TextBudget(1000, str))
    assert len(rows) == 24


def test_bytes_that_look_like_a_secret_are_not_changed() -> None:
    page = PageMedia()
    note(page, RED)

    def redact(text: str) -> str:
        return re.sub("iVBORw0KGgo", "***", text)

    (text,) = page.write(FILES.get, redact)
    assert redact(text) == text
    assert write(page, redact) == {Media.from_bytes(RED).digest: RED}
