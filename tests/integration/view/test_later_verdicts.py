"""Reviews of a run count on the page at once."""

from __future__ import annotations

import httpx
from playwright.sync_api import expect
from tests.integration.review.conftest import Maker, reviewed  # noqa: F401 (a fixture)
from tests.integration.view.conftest import Looker, Place, browser, look  # noqa: F401 (fixtures)
from tests.integration.view.test_safety import open_client


def test_new_verdicts_count_without_a_restart(reviewed: Maker) -> None:  # noqa: F811
    run = reviewed("a")
    with Place(run.project).viewing() as address, open_client(address) as client:
        key = client.get("/state").json()["runs"][0]["key"]
        assert "<dt>Waiting</dt>" in client.get(f"/report/{key}/nothing").text
        arguments = ("--case", "a", "--baseline", "old a", "--challenger", "new a", "--winner", "challenger")
        outcome = run.project.scoregate("verdicts", "add", "better", *arguments)
        assert outcome.exit_code == 0, outcome.output
        assert "<dt>Waiting</dt>" not in client.get(f"/report/{key}/nothing").text
        assert "<dt>Waiting</dt>" in client.get(f"/report/{key}/reported").text


def count_later_verdicts(client: httpx.Client) -> int:
    (answer,) = client.get("/state").json()["runs"]
    assert answer["reported"]
    return int(answer["since"])


def judge(run: Maker, winner: str, *, by: str = "Ann", challenger: str = "new a") -> None:
    arguments = ("--case", "a", "--baseline", "old a", "--challenger", challenger, "--winner", winner, "--by", by)
    outcome = run.project.scoregate("verdicts", "add", "better", *arguments)
    assert outcome.exit_code == 0, outcome.output


def test_a_page_shows_the_number_of_later_verdicts(reviewed: Maker) -> None:  # noqa: F811
    run = reviewed("a", "b")
    with Place(run.project).viewing() as address, open_client(address) as client:
        assert count_later_verdicts(client) == 0
        judge(run, "challenger", challenger="of another run")
        assert count_later_verdicts(client) == 0
        judge(run, "challenger")
        assert count_later_verdicts(client) == 1
        judge(run, "challenger", by="Bob")
        assert count_later_verdicts(client) == 1, "it is the outcome that counts"


def test_the_list_shows_it(reviewed: Maker, look: Looker) -> None:  # noqa: F811
    run = reviewed("a", "b")
    with Place(run.project).viewing() as address:
        page = look(address)
        chosen = page.get_by_role("combobox", name="compared with").locator("option:checked")
        expect(chosen).to_have_text("as reported")
        judge(run, "challenger")
        expect(chosen).to_have_text("as reported, without 1 later verdict")
