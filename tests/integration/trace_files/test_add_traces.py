"""`scoregate dataset add-traces`: what is kept, merged, filtered, redacted and refused, and how it counts."""

from __future__ import annotations

import gzip
import json
import sys

import pytest
from tests.integration.trace_files.conftest import TraceProject, make_run

from scoregate.scorers import pii

TOKEN = "ghp_" + "aB3dE6gH9j" * 3 + "aB3dE6"


def test_conditions_select_traces(shop: TraceProject) -> None:
    shop.write(
        "runs.jsonl",
        make_run("fast one", tags=["vip"], extra={"metadata": {"plan": {"name": "gold"}}}),
        make_run("slow one", end_time="2026-11-02T09:01:00"),
        make_run("failed one", error="Timeout", feedback_stats={"stars": {"avg": 2}}),
    )
    found = {
        "error": {"failed one"},
        "not error and duration_s > 10": {"slow one"},
        "tags = vip or (error ~ TIMEOUT and scores.stars < 3)": {"fast one", "failed one"},
        "metadata.plan.name == 'gold'": {"fast one"},
        "tags != vip": {"slow one", "failed one"},
        "time >= 2026-11-02 and time < 2026-11-03": {"fast one", "slow one", "failed one"},
        "time = 2026-11-02T11:00+02:00 and time > 2026 and time < '2026-11-02 09:01'": {
            "fast one",
            "slow one",
            "failed one",
        },
        "time >= 2026-12 or time > 2026-11-02T09:00:00Z": set(),
        "kind = otlp": set(),
    }
    for number, (condition, expected) in enumerate(found.items()):
        output = shop.run("dataset", "add-traces", f"d{number}", "--from", "runs.jsonl", "--where", condition)
        path = shop.root / ".scoregate" / "candidates" / f"d{number}.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        assert {json.loads(line)["row"]["input"] for line in lines} == expected, condition
        left = 3 - len(expected)
        assert (f"{left} filtered out by --where" in output) == bool(left), condition
    invalid = {
        "latency > 3": "there is no field 'latency'",
        "duration_s > fast": "duration_s is compared with a number, not 'fast'",
        "time > yesterday": "time is compared with a date or a time in ISO 8601, such as 2026-11-02, not 'yesterday'",
        "time < 2026-13": "not '2026-13'",
        "time < 20": "not '20'",
        "(error": "expected a closing parenthesis, but it ends",
        "input ~ ": "expected a value, but it ends",
        "__import__('os')": "there is no field '__import__'",
        "not " * 60 + "error": "nested deeper than 50 levels",
        "x" * 2_001: "has 2,001 characters, more than 2,000",
    }
    for condition, message in invalid.items():
        output = " ".join(shop.add("--from", "runs.jsonl", "--where", condition, code=2).split())
        assert message in output, condition


def test_samples_are_repeatable(shop: TraceProject) -> None:
    shop.write("runs.jsonl", *(make_run(f"question number {number}") for number in range(30)))
    drawn = {}
    for name, size, seed in (("a", 5, "0"), ("b", 5, "0"), ("c", 9, "0"), ("d", 5, "1")):
        arguments = ("--sample", str(size), "--seed", seed)
        output = shop.run("dataset", "add-traces", name, "--from", "runs.jsonl", *arguments)
        assert f"{size} new rows, {30 - size} left out by --sample" in output
        lines = (shop.root / ".scoregate" / "candidates" / f"{name}.jsonl").read_text().splitlines()
        drawn[name] = {json.loads(line)["id"] for line in lines}
    assert drawn["a"] == drawn["b"] < drawn["c"]
    assert drawn["d"] != drawn["a"]
    for size, new in ((5, 0), (3, 0), (9, 4)):
        output = shop.run("dataset", "add-traces", "a", "--from", "runs.jsonl", "--sample", str(size))
        assert f"{new} new rows, 5 known already, {25 - new} left out by --sample" in output


def test_a_trace_in_two_exports_is_one_row(shop: TraceProject) -> None:
    root = make_run("The real question", id="zz")
    inner = make_run("inner prompt", id="c2", trace_id="zz", parent_run_id="zz", run_type="llm")
    shop.write("d1.jsonl", inner, make_run("whole"))
    shop.write("d2.jsonl", root)
    missing = "d1.jsonl:1: the trace 'zz' can't be read: its first span or run is missing: give all files of the trace"
    assert missing in " ".join(shop.add("--from", "d1.jsonl", code=2).split())
    assert not shop.candidates()
    output = shop.add("--from", "d1.jsonl", "--skip-bad")
    assert missing in " ".join(output.split())
    assert "1 trace in 1 file: 1 new row" in output
    assert "2 traces in 2 files: 1 new row, 1 known already" in shop.add("--from", "d1.jsonl", "--from", "d2.jsonl")
    assert set(shop.rows()) == {"whole", "The real question"}
    # Later parts of a known trace, and a known trace whose input reads otherwise.
    assert "2 traces in 1 file: 0 new rows, 2 known already" in shop.add("--from", "d1.jsonl")
    shop.write("d3.jsonl", make_run("Something else entirely", id="zz"))
    assert "0 new rows, 1 known already" in shop.add("--from", "d3.jsonl")
    shop.review()
    assert "0 new rows, 1 known already" in shop.add("--from", "d3.jsonl")


def test_a_server_may_have_an_unexported_caller(shop: TraceProject) -> None:
    ids = {"traceId": "1" * 32, "spanId": "2" * 16, "parentSpanId": "3" * 16, "name": "ask"}
    times = {"startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    attributes = [{"key": "input.value", "value": {"stringValue": "When?"}}]
    for kind in (1, 2, 5):
        span = {**ids, **times, "kind": kind, "attributes": attributes}
        shop.write("spans.jsonl", {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
        output = shop.run("dataset", "add-traces", f"k{kind}", "--from", "spans.jsonl", code=2 if kind == 1 else 0)
        assert ("its first span or run is missing" if kind == 1 else "1 new row") in " ".join(output.split())


def test_the_first_part_counts_in_any_position(shop: TraceProject) -> None:
    below = [make_run(f"c{n}", trace_id="top", parent_run_id="top", run_type="tool") for n in range(5_001)]
    shop.write("runs.jsonl", *below, make_run("The question", id="top"))
    shop.add("--from", "runs.jsonl")
    assert set(shop.rows()) == {"The question"}


def test_secrets_are_always_replaced_and_personal_data_on_request(shop: TraceProject) -> None:
    text = f"Mail bob@shop.example, key {TOKEN}, word hunter2hunter2"
    tool = make_run("x", id="t", trace_id="run-x", parent_run_id="run-x", run_type="tool", inputs={"note": text})
    shop.write("runs.jsonl", make_run("x", inputs={"question": text}, outputs={text: text}), tool)
    shop.add("--from", "runs.jsonl", MY_API_KEY="hunter2hunter2")
    stored = (shop.root / ".scoregate" / "candidates" / "shop.jsonl").read_text()
    assert TOKEN not in stored
    assert "hunter2hunter2" not in stored
    assert "bob@shop.example" in stored
    shop.run("dataset", "add-traces", "other", "--from", "runs.jsonl", "--redact", "email")
    stored = (shop.root / ".scoregate" / "candidates" / "other.jsonl").read_text()
    assert "bob@shop.example" not in stored
    assert stored.count("[email]") >= 3
    assert "users and sessions" not in stored


def test_a_missing_package_names_the_option(shop: TraceProject, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.write("runs.jsonl", make_run("x"))
    pii._make_kinds.cache_clear()
    for name in {"stdnum", *(each for each in sys.modules if each.startswith("stdnum."))}:
        monkeypatch.setitem(sys.modules, name, None)
    for kind in ("email", "credit_card", "personal"):
        output = shop.add("--from", "runs.jsonl", "--redact", kind, code=2)
        assert "--redact needs the package python-stdnum, which is not installed" in output, kind
        assert "pip install 'scoregate[pii]'" in output


def test_invalid_records_stop_the_import(shop: TraceProject) -> None:
    good = json.dumps(make_run("good"))
    files = {
        "cut.jsonl": (f"{good}\n{good[:40]}\n", "cut.jsonl:2: is not JSON"),
        "cut.json": (
            f"[{good},\n{good},\n{good[:40]}",
            "cut.json:3: it is not JSON: line 3, column 41: it ends before it is complete",
        ),
        "picture.json": ("\x7fELF 1", "picture.json:1: it is neither a JSON object nor a JSON array"),
        "text.json": ('"no export"', "text.json:1: it is neither a JSON object nor a JSON array"),
        "list.jsonl": (f"{good}\n[1]\n", "list.jsonl:2: must be an object, not [1]"),
        "other.jsonl": (f'{good}\n{{"a": 1}}\n', "other.jsonl:2: it is not a record of otlp, braintrust"),
        "none.jsonl": (
            f"{good}\n{{}}\n",
            "none.jsonl:2: it is not a record of otlp, braintrust, langsmith, phoenix, langfuse; it has no fields",
        ),
        "time.jsonl": (json.dumps(make_run("x", start_time="soon")), "time.jsonl:1: 'soon' is not a time"),
        "nan.jsonl": (good.replace('"At nine."', "NaN"), "nan.jsonl:1: NaN is not a JSON number"),
        "twice.jsonl": ('{"run_type": 1, "run_type": 2}', "twice.jsonl:1: 'run_type' comes twice"),
        "deep.jsonl": ('{"run_type": ' + "[" * 100_000, "deep.jsonl:1: is nested too deeply"),
        "latin.jsonl": (good.encode().replace(b"good", b"g\xf6od"), "latin.jsonl:1: is not UTF-8"),
        "empty.json": (" \n", "empty.json: it is empty"),
        "cells.csv": ("id,run_type\n1\n", "cells.csv:2: it has 1 cell, but the header has 2"),
        "quote.csv": ('id,run_type\n"1,2\n', "quote.csv:2: is not CSV"),
        "fake.parquet": (b"PAR1 nothing", "fake.parquet: it is damaged after row 0"),
        "fake.pb": (b"\xff\xfe\x00\x01", "fake.pb: it is not OTLP in protobuf"),
        "cut.jsonl.gz": (gzip.compress(good.encode())[:60], "cut.jsonl.gz: its gzip ends too early"),
        "ids.jsonl": (
            '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1","spanId":"2"}]}]}]}',
            "ids.jsonl:1: it is not OTLP JSON",
        ),
    }
    for name, (content, message) in files.items():
        data = content.encode() if isinstance(content, str) else content
        (shop.root / name).write_bytes(data)
        output = shop.add("--from", name, code=2)
        assert message in " ".join(output.split()), (name, output)
        assert "Nothing was added" in output
        assert not shop.candidates()
    output = " ".join(shop.add("--from", "fake.pb", "--from", "cut.jsonl.gz", "--skip-bad", code=2).split())
    assert "no trace can be read: fake.pb: it is not OTLP" in output
    assert "Nothing was added" in output
    output = shop.add("--from", "cut.jsonl", "--skip-bad")
    assert "skipped: cut.jsonl:2: is not JSON" in output
    assert "1 trace in 1 file: 1 new row" in output
    assert "1 record that can't be read" in output


def test_large_and_hostile_values_are_cut(shop: TraceProject) -> None:
    bomb = gzip.compress(b" " * 200_000_000, 9)
    assert len(bomb) < 1_000_000
    (shop.root / "bomb.json.gz").write_bytes(bomb)
    assert "it is empty" in shop.add("--from", "bomb.json.gz", code=2)
    children = [
        make_run("c", id=f"c{n}", trace_id="run-long", parent_run_id="run-long", run_type="tool") for n in range(6_000)
    ]
    shop.write(
        "long.jsonl", make_run("long", name="n" * 100_000, inputs={"question": "x" * 500_000}, id="run-long"), *children
    )
    shop.add("--from", "long.jsonl")
    (row,) = shop.rows().values()
    assert len(row["input"]) <= 200_000
    assert row["trajectory"]["left_out"] == 5_000
    assert (shop.root / ".scoregate" / "candidates" / "shop.jsonl").stat().st_size < 5_000_000
    assert len(row["source"]["name"]) < 5_000
    hostile = make_run("\x1b[31mred\u202e", tags=["\x1b]0;title\x07"], id="../../etc/passwd")
    shop.write("hostile.jsonl", hostile, make_run("a", name={"a": 1}))
    output = shop.add("--from", "hostile.jsonl", "--skip-bad")
    assert "hostile.jsonl:2: {'a': 1} must be a text" in output
    shop.review()
    assert "\x1b" not in shop.run("dataset", "show", "shop")


def test_wrong_arguments(shop: TraceProject) -> None:
    shop.write("runs.jsonl", make_run("a"))
    (shop.root / "nothing").mkdir()
    invalid = {
        ("--from", "absent.json"): "there is no such file or folder",
        ("--from", "nothing"): "no file of an export",
        ("--from", "runs.jsonl", "--output-as", "source"): "name a column other than input, source, trajectory",
        ("--from", "runs.jsonl", "--similarity", "0"): "--similarity",
        ("--from", "runs.jsonl", "--redact", "names"): "--redact",
    }
    for words, message in invalid.items():
        assert message in shop.add(*words, code=2), words
    output = " ".join(shop.run("dataset", "add-traces", "shop.CSV", "--from", "runs.jsonl", code=2).split())
    assert "a dataset can't be called 'shop.CSV': in a suite, data='shop.CSV' is a file" in output
    (shop.root / "a.csv").write_text("input,expected\nWhen?,Now\n")
    shop.run("dataset", "add", "shop", "a.csv")
    assert "has no column recorded_output, trajectory, source" in shop.add("--from", "runs.jsonl", code=2)
