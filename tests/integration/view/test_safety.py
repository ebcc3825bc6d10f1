"""Access to the page, hostile runs on the page, and addresses of files outside of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect
from tests.integration.browser_command import Opener
from tests.integration.review.conftest import HOSTILE
from tests.integration.view.conftest import Looker, Place

from scoregate.kernel.judge.archive import RUN_FILE
from scoregate.web.server import AccessKeys


@contextmanager
def open_client(address: str) -> Iterator[httpx.Client]:
    parts = urlsplit(address)
    with httpx.Client(base_url=f"{parts.scheme}://{parts.netloc}", timeout=60) as client:
        assert client.get(f"/?{parts.query}").status_code == 200
        yield client


def test_without_the_token_nothing_is_shown(place: Place) -> None:
    place.run("-m", "secret")
    with place.viewing() as address:
        origin = address.partition("/?")[0]
        for path in ("/", "/?token=guess", "/state", "/static/main.js", "/report/0/nothing"):
            answer = httpx.get(origin + path, timeout=60)
            assert answer.status_code == 403
            assert "`scoregate view`" in answer.text
        with open_client(address) as client:
            assert client.get("/state").json()["runs"][0]["message"] == "secret"
            assert client.get("/state", headers={"Host": "evil.example"}).status_code == 403
            assert client.post("/state").status_code == 403


def test_a_ticket_works_once_and_the_token_always() -> None:
    keys = AccessKeys(1, "view")
    ticket = keys.ticket().partition("token=")[2]
    assert [keys.opens(ticket), keys.opens(ticket)] == [True, False]
    assert [keys.opens(keys.token), keys.opens(keys.token), keys.opens("")] == [True, True, False]


def test_a_browser_is_opened_with_a_single_use_ticket(place: Place) -> None:
    """Others can read the words that a browser was started with."""
    opener = Opener(place.project)
    with place.viewing("--open", BROWSER=str(opener.path)) as address:
        ticket = opener.address(looks=1_000)
        assert ticket != address
        assert [httpx.get(each, timeout=60).status_code for each in (ticket, ticket, address, address)] == [
            200,
            403,
            200,
            200,
        ]


def test_no_browser_is_opened_without_terminal(place: Place) -> None:
    marker_file = place.root / "shown"
    place.project.write("browser", f"#!/bin/sh\ntouch {marker_file}\n").chmod(0o755)
    with place.viewing(BROWSER=str(place.root / "browser"), DISPLAY=":0") as address, open_client(address) as client:
        assert client.get("/state").json() == {"runs": [], "live": None, "baseline": None}
    assert not marker_file.exists()


REACHING = (
    "/report/..%2f..%2fetc/nothing",
    "/report/run/nothing",
    "/report/{key}/..%2f..%2frun",
    "/report/{key}/scoregate-out",
    "/static/..%2fapp.py",
    "/static/page.html",
    "/report/{key}",
)


def test_no_address_reaches_another_file(place_with_run: Place) -> None:
    with place_with_run.viewing() as address, open_client(address) as client:
        key = client.get("/state").json()["runs"][0]["key"]
        answer = {path: client.get(path.format(key=key)).status_code for path in REACHING}
        assert answer == dict.fromkeys(REACHING, 404)
        assert client.get(f"/report/{key}/nothing").status_code == 200


def rename(place: Place, text: str) -> None:
    """The run is called so, and so are its branch, its id and its suites."""
    path = place.out / "run" / RUN_FILE
    head = json.loads(path.read_text(encoding="utf-8"))
    head |= {"message": text, "branch": text, "id": text, "commit": text}
    head["suites"][0]["label"] = text
    path.write_text(json.dumps(head), encoding="utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_escaped_and_load_nothing(place_with_run: Place, look: Looker, text: str) -> None:
    rename(place_with_run, text)
    with place_with_run.viewing() as address:
        page = look(address)
        messages: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: messages.append(message.text))
        page.on("request", lambda request: requests.append(request.url))
        page.reload()
        expect(page.frame_locator("iframe").locator("html")).to_have_attribute("data-ready", "all")
        option = page.get_by_role("combobox", name="Run", exact=True).locator("option").first
        shown = option.inner_text()
        assert not re.search("[\u202e\u2066\x1b]", shown)
        assert ("onerror=" in shown) == ("onerror=" in text)
        assert page.evaluate("window.pwned") is None
        assert page.frames[1].evaluate("window.pwned") is None
        assert page.locator("img, header script").count() == 0
        assert {url.split("/")[2] for url in requests} == {address.split("/")[2]}
        assert messages == []


def test_hostile_texts_of_a_running_suite_are_text(place: Place, look: Looker) -> None:
    source = (place.root / "evals" / "demo.py").read_text(encoding="utf-8")
    place.project.write("evals/demo.py", source.replace("<i>good</i>", HOSTILE[0].replace('"', "'")))
    with place.viewing() as address, place.running("-m", HOSTILE[1]):
        page = look(address)
        place.let_go("bad")
        expect(page.locator(".cases li")).to_contain_text("onerror=")
        expect(page.locator("h1")).to_contain_text("</script>")
        assert page.locator("main img, main script").count() == 0
        assert page.evaluate("window.pwned") is None


def inject_script(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    report.unlink()
    report.write_text(text.replace("<body>", "<body><script>window.pwned = 1</script>", 1), encoding="utf-8")


def test_a_foreign_page_runs_only_known_scripts(place_with_run: Place, look: Looker) -> None:
    inject_script(place_with_run.out / "report.html")
    with place_with_run.viewing() as address:
        page = look(address)
        expect(page.frame_locator("iframe").locator("html")).to_have_attribute("data-ready", "all")
        assert "window.pwned = 1" in page.frames[1].content()
        assert page.frames[1].evaluate("window.pwned") is None


@pytest.mark.parametrize(
    "change", [("script-src ", "script-src 'unsafe-inline' "), ('name="scoregate-run" content="', "\\g<0>x")]
)
def test_a_page_of_another_run_or_script_is_refused(place_with_run: Place, change: tuple[str, str]) -> None:
    report = place_with_run.out / "report.html"
    report.write_text(re.sub(*change, report.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    with place_with_run.viewing() as address, open_client(address) as client:
        run = client.get("/state").json()["runs"][0]
        assert run["reported"] is False
        assert "unsafe-inline" not in client.get(f"/report/{run['key']}/reported").text


def test_an_unreadable_run_shows_the_reason(place_with_run: Place, look: Looker) -> None:
    (place_with_run.out / "report.html").unlink()
    (place_with_run.out / "run" / "cases.jsonl.gz").unlink()
    with place_with_run.viewing() as address:
        page = look(address)
        expect(page.frame_locator("iframe").locator("h1")).to_have_text("This report can't be shown")
        expect(page.frame_locator("iframe").locator("pre")).to_contain_text("cases.jsonl.gz can't be read")
