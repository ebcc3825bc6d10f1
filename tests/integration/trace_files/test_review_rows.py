"""Rows from traces count after people kept them: in a file, on the page, and in a run."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterable
from threading import Event, Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.integration.page.test_access import needs_axe, violations
from tests.integration.review.conftest import HOSTILE, _address, open_client
from tests.integration.review.test_page import opened
from tests.integration.trace_files.conftest import TraceProject, make_run

from scoregate.datasets.candidates import add_kept_rows
from scoregate.datasets.client import Datasets
from scoregate.errors import UsageError
from scoregate.store import open_store
from scoregate.store.candidates import Candidate, change_decisions
from scoregate.web.row_export import parse_rows

SUITE = """
from scoregate import evaluate

def answer(input):
    return "At nine."

def same(output, expected):
    return output == expected

evaluate("shop", data="shop", task=answer, scorers=[same])
"""


def test_only_kept_rows_are_run(shop: TraceProject) -> None:
    (shop.root / "suite.py").write_text(SUITE)
    shop.write("runs.jsonl", make_run("When do you open?"), make_run("Where is my parcel?", "In Rome."))
    shop.add("--from", "runs.jsonl", "--output-as", "expected")
    assert "shop: 2 rows wait for review: scoregate review --dataset shop" in shop.run("dataset", "ls")
    output = " ".join(shop.run("run", "suite.py", "-q", code=3).split())
    assert "there is no dataset 'shop'; rows that wait for `scoregate review --dataset`: 2" in output
    path = shop.root / "review.jsonl"
    assert "review.jsonl: 2 rows" in shop.run("review", "--dataset", "shop", "--export", path.name)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["decision"] = "keep" if "open" in line["row"]["input"] else "drop"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    output = shop.run("review", "--dataset", "shop", "--import", path.name, "--by", "ann")
    assert "1 kept, 1 dropped, 0 unchanged, 0 not reviewed" in output
    assert "shop: version 1, 1 row (1 new), in .scoregate/datasets/shop/rows.jsonl" in output
    shop.run("run", "suite.py", "-q")
    comment = (shop.root / "scoregate-out" / "comment.md").read_text()
    assert "1 case" in comment
    # The same export again: a dropped row stays dropped, a kept one is a row already.
    assert "0 new rows, 2 known already" in shop.add("--from", "runs.jsonl", "--output-as", "expected")
    (candidate,) = [each for each in shop.candidates() if each["decision"] == "keep"]
    assert (candidate["by"], candidate["in_dataset"], set(candidate["row"])) == ("ann", True, {"input"})
    shop.write("more.jsonl", make_run("Do you ship to Peru?"))
    shop.add("--from", "more.jsonl", "--output-as", "expected")
    assert "version 2, 2 rows (1 new)" in shop.review()


def test_a_row_is_corrected_before_it_counts(shop: TraceProject) -> None:
    shop.write("runs.jsonl", make_run("When do you open?"))
    shop.add("--from", "runs.jsonl")
    path = shop.root / "review.jsonl"
    shop.run("review", "--dataset", "shop", "--export", path.name)
    line = json.loads(path.read_text())
    row = line["row"]
    invalid = (
        ({"decision": "keep", "by": ""}, "by: the reviewer is missing"),
        ({"decision": "yes"}, "decision: String should match pattern"),
        ({"decision": "keep", "key": "x"}, "key: no row 'x' was added"),
        ({"decision": "keep", "dataset": "other"}, "dataset: the row is of 'other'"),
        ({"decision": "keep", "row": {**row, "source": {}}}, "row: its source differs"),
        ({"decision": "keep", "row": {**row, "input": ""}}, "row: column 'input': must be a text"),
        ({"decision": "keep", "more": 1}, "more: Extra inputs"),
    )
    for changes, message in invalid:
        path.write_text(json.dumps({"by": "ann", **{k: v for k, v in line.items() if k != "by"}, **changes}) + "\n")
        output = shop.run("review", "--dataset", "shop", "--import", path.name, code=2)
        assert f"review.jsonl:1: {message}" in " ".join(output.split()), output
        assert "Nothing was imported" in output
    assert shop.candidates()[0]["row"] == row
    shop.review(row={**row, "input": "Closing time?", "recorded_output": "At ten."})
    output = shop.run("dataset", "show", "shop", "--json")
    assert "At ten." in output
    assert '"input": "Closing time?"' in output
    assert "0 new rows, 1 known already" in shop.add("--from", "runs.jsonl")


def test_a_later_correction_or_another_decision_is_an_error_by_line(shop: TraceProject) -> None:
    shop.write("runs.jsonl", make_run("When do you open?"), make_run("Where is my parcel?"))
    shop.add("--from", "runs.jsonl")
    path = shop.root / "review.jsonl"
    shop.run("review", "--dataset", "shop", "--export", path.name)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept_lines = next({**line, "decision": "keep"} for line in lines if "open" in line["row"]["input"])
    dropped = next({**line, "decision": "drop"} for line in lines if "parcel" in line["row"]["input"])

    def review(*changed: dict[str, Any], by: str = "ann", code: int = 0) -> str:
        path.write_text("".join(json.dumps(line) + "\n" for line in changed))
        return " ".join(shop.run("review", "--dataset", "shop", "--import", path.name, "--by", by, code=code).split())

    review(kept_lines, dropped)
    reordered = {**kept_lines, "row": dict(reversed(kept_lines["row"].items()))}
    assert "0 kept, 0 dropped, 2 unchanged" in review(reordered, dropped, by="bob")
    corrected = {**kept_lines, "row": {**kept_lines["row"], "recorded_output": "At ten."}}
    before = shop.candidates()
    for line, message in (
        (corrected, "row: it was decided already, and its content differs from that; edit the dataset instead"),
        ({**kept_lines, "decision": "drop"}, "decision: the row is in the dataset already; delete it in its file"),
        ({**kept_lines, "comment": "why"}, "comment: the row was decided already with another comment"),
        (
            {**dropped, "decision": "keep"},
            "decision: 'ann' decided drop already; to change it, remove the decision on the",
        ),
        ({**dropped, "row": corrected["row"]}, "row: it was decided already, and its content differs"),
    ):
        output = review(line, by="bob", code=2)
        assert f"review.jsonl:1: {message}" in output, output
        assert "Nothing was imported" in output
        assert shop.candidates() == before


def test_the_second_of_two_imports_at_a_time_sees_the_first(shop: TraceProject) -> None:
    shop.write("runs.jsonl", make_run("When do you open?"))
    shop.add("--from", "runs.jsonl")
    shop.run("review", "--dataset", "shop", "--export", "review.jsonl")
    line = json.loads((shop.root / "review.jsonl").read_text())
    data = json.dumps({**line, "decision": "keep", "by": "bob"}).encode()
    store = open_store(shop.root)
    entered, results = Event(), list[str]()

    def decide_late(present: Iterable[Candidate]) -> Iterable[Candidate]:
        entered.set()
        second.join(0.3)  # the other import waits for the lock
        assert not results
        return [each.model_copy(update={"decision": "drop", "by": "ann"}) for each in present]

    def import_rows() -> None:
        entered.wait()
        try:
            change_decisions(
                open_store(shop.root),
                "shop",
                lambda present: parse_rows(data, "shop", present, origin="f", by="", check=lambda _: "").decided,
            )
        except UsageError as error:
            results.append(str(error))

    second = Thread(target=import_rows)
    second.start()
    change_decisions(store, "shop", decide_late)
    second.join(90)
    assert "f:1: decision: 'ann' decided drop already" in results[0]
    assert [each["decision"] for each in shop.candidates()] == ["drop"]


def test_two_imports_at_a_time_create_one_dataset(shop: TraceProject, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write("runs.jsonl", make_run("When do you open?"))
    shop.add("--from", "runs.jsonl")
    create, store = Datasets.create, open_store(shop.root)

    def create_late(*given: Any, **options: Any) -> Any:
        monkeypatch.setattr(Datasets, "create", create)
        assert add_kept_rows(store, "shop")[1] == 1  # the other import
        return create(*given, **options)

    monkeypatch.setattr(Datasets, "create", create_late)
    assert "1 kept, 0 dropped" in shop.review()
    assert len((shop.root / ".scoregate" / "datasets" / "shop" / "rows.jsonl").read_text().splitlines()) == 1


def test_reviewers_fill_in_the_other_columns_of_a_dataset(shop: TraceProject) -> None:
    shop.write("runs.jsonl", make_run("When do you open?"))
    shop.add("--from", "runs.jsonl")
    shop.review()
    schema = shop.root / ".scoregate" / "datasets" / "shop" / "schema.json"
    document = json.loads(schema.read_text())
    document["schema"]["properties"]["expected"] = {"type": "string"}
    schema.write_text(json.dumps(document))
    rows = schema.with_name("rows.jsonl")
    rows.write_text(json.dumps({**json.loads(rows.read_text()), "expected": "9"}) + "\n")
    shop.write("more.jsonl", make_run("Where are you?"))
    shop.add("--from", "more.jsonl")
    path = shop.root / "review.jsonl"
    shop.run("review", "--dataset", "shop", "--export", path.name)
    line = {**json.loads(path.read_text()), "decision": "keep"}
    path.write_text(json.dumps(line))
    output = shop.run("review", "--dataset", "shop", "--import", path.name, "--by", "ann", code=2)
    assert "column 'expected': is missing" in output
    path.write_text(json.dumps({**line, "row": {**line["row"], "expected": "Rome"}}))
    assert "2 rows (1 new)" in shop.run("review", "--dataset", "shop", "--import", path.name, "--by", "ann")


def test_a_deleted_dataset_leaves_no_candidates(shop: TraceProject) -> None:
    shop.write("runs.jsonl", make_run("When?"))
    for _ in range(2):
        assert "1 new row" in shop.add("--from", "runs.jsonl")
        shop.run("dataset", "rm", "shop")
        assert not shop.candidates()
    assert "1 new row" in shop.add("--from", "runs.jsonl")
    shop.review()
    shop.run("dataset", "rm", "shop")
    assert "1 new row" in shop.add("--from", "runs.jsonl")
    assert "there is no dataset 'other'" in shop.run("dataset", "rm", "other", code=2)


def test_wrong_reviews(shop: TraceProject) -> None:
    assert "no rows were added to 'shop'" in shop.run("review", "--dataset", "shop", code=2)
    assert "--dataset excludes RUN and --sample" in shop.run("review", "x", "--dataset", "shop", code=2)


def test_the_page_by_keys(shop: TraceProject, browser: Browser) -> None:
    shop.write("runs.jsonl", *(make_run(f"{text} one", text) for text in (*HOSTILE, "plain")))
    shop.add("--from", "runs.jsonl")
    process = shop.project.start("review", "--dataset", "shop", "--by", "ann")
    try:
        with opened(browser, _address(process)) as page:
            for _ in range(3):
                title = page.locator("h1").inner_text()
                page.keyboard.press("y")
                expect(page.locator("h1")).not_to_have_text(title)
            page.keyboard.press("u")
            expect(page.locator("h1")).to_have_text(title)
            expect(page.get_by_role("button", name="Keep")).to_have_attribute("aria-pressed", "false")
            page.keyboard.press("n")
            expect(page.locator("h1")).not_to_have_text(title)
            page.get_by_label("Comment").fill("a test")
            page.get_by_role("button", name="Keep").click()
            expect(page.locator("h1")).to_have_text("All rows are reviewed")
            assert page.evaluate("window.pwned") is None
            expect(page.get_by_text("Kept: 3, dropped: 1.")).to_be_visible()
    finally:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=180)
    assert process.returncode == 0
    assert "shop: version 1, 3 rows (3 new)" in output
    assert sorted(each["decision"] for each in shop.candidates()) == ["drop", "keep", "keep", "keep"]
    assert "a test" in json.dumps(shop.candidates())


@needs_axe
def test_axe_finds_nothing_on_the_page(shop: TraceProject, browser: Browser) -> None:
    shop.write("runs.jsonl", make_run("When?"))
    shop.add("--from", "runs.jsonl")
    process = shop.project.start("review", "--dataset", "shop", "--by", "ann")
    try:
        with opened(browser, _address(process), bypass_csp=True) as page:
            expect(page.locator("h1")).to_have_text("When?")
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=180)


def test_requests_of_the_page(shop: TraceProject) -> None:
    shop.write("runs.jsonl", make_run("When?"))
    shop.add("--from", "runs.jsonl")
    key = shop.candidates()[0]["id"]
    process = shop.project.start("review", "--dataset", "shop", "--by", "ann")
    try:
        with open_client(_address(process)) as client:
            state = client.get("/state").json()
            assert [(row["key"], row["decision"]) for row in state["rows"]] == [(key, None)]
            assert client.get(f"/state?mark={state['mark']}").status_code == 204
            assert client.get("/rows/unknown").status_code == 404
            assert client.post(f"/rows/{key}", json={"decision": "maybe"}).status_code == 400
            assert client.post(f"/rows/{key}", json={"decision": "keep"}).json()["decision"] == "keep"
            assert client.delete(f"/rows/{key}").json()["decision"] is None
            fields = {each["name"]: each["value"] for each in client.get(f"/rows/{key}").json()["fields"]}
            assert fields["input"] == "When?"
            assert "trace_id: run-When?" in fields["source"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=180)
    assert not (shop.root / ".scoregate" / "datasets").exists()
