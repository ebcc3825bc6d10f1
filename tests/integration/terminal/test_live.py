"""What a person sees while suites run, in windows of any size, and what they leave behind."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len
from tests.features.gateway.conftest import answer_question
from tests.features.gateway.provider import open_provider
from tests.integration.host.conftest import Project, suite
from tests.integration.terminal.conftest import Open, Window

# Waits at its last case until there is a file `go`.
WAITING = """
import pathlib, time
def fn(case):
    while case.input == 'good 2' and not pathlib.Path('go').exists():
        time.sleep(0.02)
    return case.input
"""
# Asks a model twice, waits until there is a file `go`, and only then reports a case.
ASKS = """
import json, os, pathlib, time, urllib.request
for text in ("one", "two"):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}).encode(),
        {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
    )
    urllib.request.urlopen(request).read()
while not pathlib.Path("go").exists():
    time.sleep(0.02)
case = {"suite": "asks", "case": "a"}
events = [
    {"type": "suite_started", "suite": "asks"},
    {"type": "case_started", **case},
    {"type": "scored", **case, "evaluator": "good", "score": 1},
    {"type": "case_finished", **case},
    {"type": "suite_finished", "suite": "asks"},
]
log = pathlib.Path(os.environ["SCOREGATE_EVENTS"], "asks.jsonl")
log.write_text("".join(json.dumps(each) + "\\n" for each in events))
"""
ONE_AT_A_TIME = "max_test_case_concurrency"
HIDE, SHOW, ERASE, COLOUR = b"\x1b[?25l", b"\x1b[?25h", b"\x1b[2K", re.compile(rb"\x1b\[[0-9;]*3[0-9]m")


def write_waiting_suite(project: Project, name: str = "demo", *, file: str = "demo") -> None:
    text = suite(WAITING, fn="fn", **{ONE_AT_A_TIME: "1"}).replace("id='demo'", f"id={name!r}")
    project.write(f"evals/{file}.py", text)


def release_suite(project: Project) -> None:
    project.write("go", "")


def is_left_clean(window: Window) -> bool:
    """Nothing of what moved is left, and the cursor is there."""
    moved = [line for line in window.lines if re.match(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", line) or "done" in line.split()]
    return not moved and not window.screen.cursor.hidden and window.screen.cursor.x == 0


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (200, 50)])
def test_a_window_of_any_size_shows_progress_then_verdict(
    project: Project, window: Open, size: tuple[int, int]
) -> None:
    write_waiting_suite(project, "日本語の回答を評価するスイート🎉")
    terminal = window("run", size=size)
    terminal.wait_for(lambda: "2/3" in terminal.text and "2 of 3 cases" in terminal.text)
    assert terminal.screen.cursor.hidden
    assert re.search(r"\d+ s · 2 of 3 cases", terminal.text)
    assert "日本語" in terminal.text.replace(" ", "")
    assert max(cell_len(line) for line in terminal.lines) <= size[0]
    release_suite(project)
    assert terminal.finish() == 0
    assert is_left_clean(terminal)
    assert "✓ scoregate: " in terminal.text
    assert "Open: scoregate view" in terminal.text


def test_elapsed_time_advances_without_events(project: Project, window: Open) -> None:
    write_waiting_suite(project)
    terminal = window("run")
    terminal.wait_for(lambda: "2/3" in terminal.text)
    before = terminal.text
    terminal.wait_for(lambda: bool(re.search(r"[3-9] s · 2 of 3 cases", terminal.text)))
    assert terminal.text != before
    release_suite(project)
    assert terminal.finish() == 0


def test_more_suites_than_rows_are_counted(project: Project, window: Open) -> None:
    for number in range(6):
        write_waiting_suite(project, f"suite {number}", file=f"s{number}")
    terminal = window("run", "--max-suites", "6", size=(80, 8))
    terminal.wait_for(lambda: "… and 2 more" in terminal.text and "12 of 18 cases" in terminal.text)
    release_suite(project)
    assert terminal.finish() == 0
    assert is_left_clean(terminal)


def test_script_output_is_shown_above_the_table(project: Project, window: Open) -> None:
    noise = "for number in range(300):\n    print('line', number, '\\x1b[2J\\x1b[H', 'x' * 100)\n"
    project.write("evals/noise.py", suite(noise + WAITING, fn="fn", **{ONE_AT_A_TIME: "1"}))
    terminal = window("run", size=(80, 24))
    terminal.wait_for(lambda: "2/3" in terminal.text and "line 299" in terminal.text)
    assert terminal.lines.index(next(line for line in terminal.lines if "2/3" in line)) > terminal.lines.index(
        next(line for line in terminal.lines if "line 299" in line)
    )
    assert all(b"line %d " % number in terminal.raw for number in range(300))
    release_suite(project)
    assert terminal.finish() == 0
    assert is_left_clean(terminal)


def test_a_window_that_is_resized_shows_the_table_once(project: Project, window: Open) -> None:
    write_waiting_suite(project)
    terminal = window("run", size=(120, 24))
    terminal.wait_for(lambda: "2/3" in terminal.text and "is-equals 1.000" in terminal.text)
    for size in ((45, 24), (100, 8), (60, 30)):
        terminal.resize(*size)
        terminal.wait_for(lambda: "2/3" in terminal.text and terminal.text.count("2 of 3 cases") == 1)
        terminal.wait_for(lambda: [line.split()[1:2] for line in terminal.lines].count(["done"]) == 1)
    release_suite(project)
    assert terminal.finish() == 0
    assert is_left_clean(terminal)


def test_an_interrupted_table_shows_results_and_restores_the_cursor(project: Project, window: Open) -> None:
    write_waiting_suite(project)
    terminal = window("run")
    terminal.wait_for(lambda: "2/3" in terminal.text)
    terminal.press(b"\x03")
    assert terminal.finish() == 130
    assert is_left_clean(terminal)
    assert terminal.raw.count(HIDE) == terminal.raw.count(SHOW)
    assert "scoregate: " in terminal.text


def test_progress_works_without_colours(project: Project, window: Open) -> None:
    write_waiting_suite(project)
    terminal = window("run", NO_COLOR="1")
    terminal.wait_for(lambda: "2/3" in terminal.text)
    release_suite(project)
    assert terminal.finish() == 0
    assert not COLOUR.search(terminal.raw)


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"CI": "true"}, {"GITHUB_ACTIONS": "true"}], ids=str)
def test_unwatched_runs_show_no_progress(project: Project, window: Open, environment: dict[str, str]) -> None:
    project.write("evals/demo.py", suite(bad=1))
    terminal = window("run", **environment)
    assert terminal.finish() == 1
    assert HIDE not in terminal.raw
    assert ERASE not in terminal.raw
    assert "demo: 4 cases, 3 passed, 1 failed" in terminal.raw.decode()
    assert "scoregate view" not in terminal.raw.decode()


def test_quiet_shows_no_progress(project: Project, window: Open) -> None:
    project.write("evals/demo.py", suite("print('hello')"))
    terminal = window("run", "-q")
    assert terminal.finish() == 0
    assert HIDE not in terminal.raw
    assert [line for line in terminal.lines if line] == [terminal.lines[0]]


def test_verbose_lists_cases_above_table(project: Project, window: Open) -> None:
    write_waiting_suite(project)
    terminal = window("run", "-v", size=(120, 40))
    terminal.wait_for(lambda: "2/3" in terminal.text and "✓ demo · good 1  is-equals 1" in terminal.text)
    release_suite(project)
    assert terminal.finish() == 0
    assert b"good 2" in terminal.raw


def test_json_is_apart_from_the_progress(project: Project, window: Open) -> None:
    """As in `scoregate run --json > result.json`, with the progress on the terminal."""
    write_waiting_suite(project)
    shell = ("run", "--json", "--out", "reports")
    terminal = window(*shell, size=(80, 40))
    terminal.wait_for(lambda: "2/3" in terminal.text)
    release_suite(project)
    assert terminal.finish() == 0
    assert b'"schema_version": 1' in terminal.raw


def test_gateway_calls_have_a_line(project: Project, window: Open) -> None:
    """It moves although the suite reports nothing yet, and leaves no trace."""
    project.write("scoregate.toml", 'gateway = "on"\ncommands = [{ name = "asks", run = ["python3", "asks.py"] }]\n')
    project.write("asks.py", ASKS)
    with open_provider() as provider:
        provider.respond = answer_question
        environ = {"OPENAI_API_KEY": "sk-real-key-0123456789", "OPENAI_BASE_URL": f"{provider.url}/v1"}
        terminal = window("run", "--baseline", "none", size=(60, 24), **environ)
        calls = "models: 2 calls · 30 tokens · $0.00015"
        terminal.wait_for(lambda: calls in terminal.text and "1 script running" in terminal.text)
        release_suite(project)
        assert terminal.finish() == 0, terminal.text
    assert "models:" not in terminal.text.replace("calls of models:", "")
    assert "calls of models: 2 calls, 30 tokens, $0.00015" in terminal.text
    assert is_left_clean(terminal)
