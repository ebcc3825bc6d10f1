"""Exports that the real packages made: each gives the same rows."""

from __future__ import annotations

import gzip

import pytest
from tests.integration.trace_files.conftest import DATA, TraceProject

MADE = {
    "otlp-python.pb": "otlp",
    "otlp-node.jsonl": "otlp",
    "langsmith.jsonl": "langsmith",
    "braintrust.jsonl": "braintrust",
    "langfuse-api.json": "langfuse",
    "langfuse-blob.csv": "langfuse",
    "phoenix-spans.json": "phoenix",
    "phoenix-table.jsonl": "phoenix",
    "phoenix-table.parquet": "phoenix",
}


def test_every_format_gives_the_same_rows_with_their_trajectories(shop: TraceProject) -> None:
    pytest.importorskip("opentelemetry.proto", reason="the extra otlp has it")
    assert {path.name for path in DATA.iterdir() if path.is_file()} - {"README.md"} == set(MADE)
    for name, kind in MADE.items():
        (store := shop.root / ".scoregate" / "candidates" / "shop.jsonl").unlink(missing_ok=True)
        shop.copy(name)
        output = shop.add("--from", name)
        assert "1 file: 2 new rows, 1 merged into one of them" in output, (name, output)
        rows = shop.rows()
        assert set(rows) == {"When do you open on Sunday?", "Where is order 1234?"}, name
        first, second = rows["When do you open on Sunday?"], rows["Where is order 1234?"]
        assert (first["recorded_output"], second["recorded_output"]) == ("We open at 9.", ""), name
        steps = {each.get("tool") or each["role"]: each for each in first["trajectory"]["steps"]}
        assert steps["look_up"]["arguments"] == {"day": "Sunday"}, name
        assert steps["look_up"]["result"] == "9 to 17", name
        assert (steps["user"]["text"], steps["assistant"]["text"]) == ("When do you open on Sunday?", "We open at 9.")
        failed = next(each for each in second["trajectory"]["steps"] if "tool" in each)
        assert "no such order" in failed["error"], name
        assert "no such order" in second["source"]["error"], name
        source = first["source"]
        assert (source["kind"], source["file"], source["merged"]) == (kind, name, 1), name
        assert source["model"] == "gpt-5-mini", name
        assert source["time"].startswith("2026-11-"), name
        assert source["line"] > 0 or kind == "otlp", name
        assert (source["trace_id"], len(source["merged_from"])) != ("", 0), name
        assert store.exists()


def test_a_folder_with_several_formats_and_gzip(shop: TraceProject) -> None:
    folder = shop.root / "export" / "day 1"
    folder.mkdir(parents=True)
    for name in ("langsmith.jsonl", "langfuse-blob.csv"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((DATA / name).read_bytes()))
    (folder / "notes.md").write_text("not an export")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "a.json").write_text("hidden")
    output = shop.add("--from", "export")
    # The rows of the second tool repeat those of the first.
    assert "6 traces in 2 files: 2 new rows, 4 merged into one of them" in output
    assert "1 other file in the folder, which was not read" in output
    (row, _) = shop.rows().values()
    assert row["source"]["file"].startswith("export/day 1/")
    assert "0 new rows, 6 known already" in shop.add("--from", "export")


def test_a_trace_in_parts(shop: TraceProject) -> None:
    """Langfuse's older exports have traces and observations in two files, its page has both in one."""
    trace = {"id": "t1", "timestamp": "2026-11-02 09:00:00.000000", "name": "shop", "session_id": "s", "input": "Open?"}
    tool = {"id": "o1", "trace_id": "t1", "type": "TOOL", "name": "hours", "input": '{"day": 1}', "output": "9"}
    shop.write("traces.jsonl", {**trace, "output": "At nine.", "tags": ["web"]})
    shop.write("observations.jsonl", {**tool, "start_time": "2026-11-02 09:00:01.000000"})
    shop.add("--from", "observations.jsonl", "--from", "traces.jsonl")
    row = shop.rows()["Open?"]
    assert [each["tool"] for each in row["trajectory"]["steps"]] == ["hours"]
    assert (row["recorded_output"], row["source"]["tags"]) == ("At nine.", ["web"])
    observations = [{**tool, "trace_id": "t2"}]
    shop.write("page.json", {"trace": {**trace, "id": "t2", "input": "Closed?"}, "observations": observations})
    shop.add("--from", "page.json")
    assert [each["tool"] for each in shop.rows()["Closed?"]["trajectory"]["steps"]] == ["hours"]
