"""The scorers of trajectories: what passes, the score, and the reason that names the first difference."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate import evaluate
from scoregate.evals import Message, ToolCall, Trajectory
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.shell_operators import find_shell_operator
from scoregate.offline_tests import observe
from scoregate.scorers import (
    TrajectoryCheck,
    called,
    command_passes,
    files_changed,
    goal_reached,
    max_steps,
    never_called,
    no_repeated_calls,
    plan_followed,
    recovered_from_errors,
    tool_calls,
)
from scoregate.scorers.tool_matching import ExpectedCall, make_matcher, match_any_order, match_in_order

SEARCH, LOG, BUY = ToolCall("search", {"q": "hours", "n": 1}), ToolCall("log"), ToolCall("buy", {"order": {"id": 7}})
WANTED: list[Any] = [("search", {"q": "hours", "n": 1}), {"name": "buy", "args": {"order": {"id": 7}}}]


def apply_scorer(check: TrajectoryCheck, *calls: ToolCall, **fields: Any) -> tuple[float, str | None]:
    checked = check(Trajectory([Message("user", "Hours?"), *calls], **fields))
    assert isinstance(checked, Evaluation)
    return round(checked.score, 3), None if checked.metadata is None else checked.metadata["reason"]


def test_each_mode_scores_the_share_that_matches_and_names_the_first_difference() -> None:
    buy = 'buy(order={"id":7})'
    swapped = "expected call 1, search(q=hours, n=1), comes at another place or too rarely"
    for mode, calls, expected_calls in (
        ("exact", (SEARCH, BUY), (1.0, None)),
        ("exact", (BUY, SEARCH), (0.5, swapped)),
        ("exact", (SEARCH, LOG, BUY), (0.667, "call 2, log(), is not expected")),
        ("exact", (SEARCH,), (0.5, f"expected call 2, {buy}, is missing")),
        ("exact", (SEARCH, LOG), (0.5, f"expected call 2, {buy}, is missing; instead there is log()")),
        ("exact", (), (0.0, "expected call 1, search(q=hours, n=1), is missing")),
        ("in_order", (LOG, SEARCH, LOG, BUY), (1.0, None)),
        (
            "in_order",
            (BUY, SEARCH),
            (0.5, swapped),
        ),
        ("any_order", (BUY, SEARCH), (1.0, None)),
        ("any_order", (BUY, SEARCH, LOG), (0.667, "call 3, log(), is not expected")),
        ("superset", (LOG, BUY, SEARCH), (1.0, None)),
        ("superset", (LOG, BUY), (0.5, "expected call 1, search(q=hours, n=1), is missing")),
        ("subset", (BUY,), (1.0, None)),
        ("subset", (), (1.0, None)),
        ("subset", (BUY, BUY), (0.5, f"call 2, {buy}, is not expected")),
    ):
        evaluation = apply_scorer(tool_calls(WANTED, mode=mode), *calls)  # type: ignore[arg-type]
        assert (mode, calls, *evaluation) == (mode, calls, *expected_calls)


def test_arguments_are_compared_as_configured() -> None:
    call = ToolCall("search", {"q": "opening hours", "page": {"n": 1.0, "size": 10}, "tags": ["a"]})
    for args, expected, passes in (
        ("equal", {"q": "opening hours", "page": {"n": 1, "size": 10}, "tags": ("a",)}, True),
        ("equal", {"q": "opening hours"}, False),
        ("subset", {"page": {"n": 1}}, True),
        ("subset", {"page": {"n": 2}}, False),
        ("subset", {"tags": []}, False),
        ("ignore", {"q": "x"}, True),
        ("regex", {"q": "^open.*hours$", "page": {"size": 10}}, True),
        ("regex", {"q": "closing"}, False),
        ("callable", {"q": lambda text: "hours" in text}, True),
        ("callable", {"other": lambda _: True}, False),
        (lambda expected_calls, actual: expected_calls["q"] in actual["q"], {"q": "hours"}, True),
        ("equal", lambda actual: actual["page"]["size"] == 10, True),
        ("equal", None, True),
    ):
        found, reason = apply_scorer(tool_calls([("search", expected)], args=args), call)
        assert (args, expected, found == 1) == (args, expected, passes)
        if not passes and reason is not None:
            assert reason.startswith("expected search(")


def test_true_is_not_1_and_a_text_is_no_number() -> None:
    for expected, found in ((True, 1), ("1", 1), (None, "")):
        assert apply_scorer(tool_calls([("t", {"a": expected})]), ToolCall("t", {"a": found}))[0] == 0


def test_one_call_needs_no_list() -> None:
    call = ToolCall("t", {"a": 1})
    for expected in ("t", ("t", {"a": 1}), {"name": "t"}, call):
        assert apply_scorer(tool_calls(expected), call) == (1.0, None)
    assert apply_scorer(tool_calls(["t", "u"]), call, ToolCall("u")) == (1.0, None)


def test_a_name_and_a_full_call_are_two_calls() -> None:
    expected_calls = ["search", {"name": "buy", "args": {"order": {"id": 7}}}]
    assert apply_scorer(tool_calls(expected_calls, mode="superset", args="ignore"), SEARCH)[0] == 0.5
    assert apply_scorer(tool_calls(expected_calls, mode="superset"), SEARCH, BUY) == (1.0, None)
    assert apply_scorer(tool_calls(["greet", {"name": "Ada"}]), ToolCall("greet", {"name": "Ada"})) == (1.0, None)


def test_repeated_calls_can_have_arguments_in_any_order() -> None:
    one, other = {"a": {"x": 1, "y": 2}, "b": 3}, {"b": 3, "a": {"y": 2, "x": 1}}
    assert apply_scorer(no_repeated_calls(), ToolCall("t", one), ToolCall("t", other))[0] == 0.0


def test_tools_of_an_mcp_server_can_have_its_name() -> None:
    call = ToolCall("mcp__shop__delete__all", {"id": 1})
    assert apply_scorer(never_called("delete*"), call)[0] == 0.0
    assert apply_scorer(never_called("shop*", "mcp__other__*"), call)[0] == 1.0
    for name in ("delete__all", "mcp__shop__delete__all"):
        assert apply_scorer(called(name, 1, args={"id": 1}), call)[0] == 1.0
        assert apply_scorer(tool_calls([(name, {"id": 1})]), call)[0] == 1.0
        assert apply_scorer(tool_calls([], optional=[name]), call)[0] == 1.0
    reason = "expected delete__all(id=2), the call was mcp__shop__delete__all(id=1)"
    assert apply_scorer(tool_calls([("delete__all", {"id": 2})]), call) == (0.0, reason)


def test_optional_tools_can_be_called() -> None:
    check = tool_calls(WANTED, optional=["lo*"])
    assert apply_scorer(check, SEARCH, LOG, LOG, BUY) == (1.0, None)
    assert apply_scorer(check, SEARCH, BUY) == (1.0, None)


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_matchings_are_maximal(expected_calls: list[str], actual: list[str]) -> None:
    expected, calls = [ExpectedCall(name) for name in expected_calls], [ToolCall(name) for name in actual]
    matches = make_matcher("equal")
    any_order = match_any_order(expected, calls, matches)
    assert len(any_order) == sum(min(expected_calls.count(name), actual.count(name)) for name in "abc")
    in_order = match_in_order(expected, calls, matches)
    assert sorted(in_order.values()) == [in_order[one] for one in sorted(in_order)]
    for pairs in (any_order, in_order):
        assert len(set(pairs.values())) == len(pairs)
        assert all(expected_calls[one] == actual[other] for one, other in pairs.items())


def test_a_call_that_matches_twice_is_assigned_where_needed() -> None:
    expected_calls = [("t", lambda _: True), ("t", {"a": 1}), ("t", {"a": 2})]
    calls = [ToolCall("t", {"a": number}) for number in (1, 2, 3)]
    assert apply_scorer(tool_calls(expected_calls, mode="any_order"), *calls) == (1.0, None)


def test_calls_of_a_tool_are_counted() -> None:
    for check, expected_calls in (
        (called("search"), None),
        (called("s*", 2), None),
        (called("search", (1, 3)), None),
        (called("search", 1), "search was called 2 times, expected 1 times"),
        (called("search", (3, 4)), "search was called 2 times, expected 3 to 4 times"),
        (called("pay"), "pay was called 0 times, expected at least once"),
        (called("search", 2, args={"q": "hours"}), None),
        (called("search", 1, args=lambda actual: actual["n"] > 1), "search was called 0 times, expected 1 times"),
        (never_called("pay", "del*"), None),
        (never_called("pay", "bu?"), 'call 2 is buy(order={"id":7})'),
        (max_steps(3), None),
        (max_steps(2), "3 tool calls, at most 2 expected"),
        (no_repeated_calls(), "call 3 repeats search(q=hours, n=1)"),
        (no_repeated_calls(ignore=["sea*"]), None),
    ):
        assert (check.name, *apply_scorer(check, SEARCH, BUY, SEARCH)) == (
            check.name,
            float(expected_calls is None),
            expected_calls,
        )


def test_missing_steps_can_be_any_call() -> None:
    checks = (never_called("pay"), called("pay", 0), tool_calls([]), no_repeated_calls(), max_steps(5))
    for check in (*checks, recovered_from_errors(), tool_calls(["pay"], mode="subset")):
        with pytest.raises(
            ValueError, match="needs all tool calls, and some may be missing: 2 steps were not recorded"
        ):
            check(Trajectory(left_out=2))
    for judge in (goal_reached(), plan_followed("pay")):
        for trajectory in (Trajectory(left_out=2), Trajectory(incomplete="spans are missing")):
            with pytest.raises(ValueError, match="needs all steps"):
                anyio.run(judge, trajectory)
    unrelated = Trajectory.from_otlp('{"resourceSpans": []}')
    with pytest.raises(ValueError, match="no span is that of a tool or a model"):
        never_called("pay")(unrelated)


def test_a_failed_call_can_be_repeated() -> None:
    failed = ToolCall("search", {"q": 1}, error="offline")
    again = ToolCall("search", {"q": 1})
    assert apply_scorer(no_repeated_calls(), failed, failed, again) == (1.0, None)
    assert apply_scorer(recovered_from_errors(), failed, again) == (1.0, None)
    lost = ToolCall("buy", error="no money")
    assert apply_scorer(recovered_from_errors(), failed, again, lost) == (
        0.5, "no call of the tool succeeds after buy(): no money",
    )  # fmt: skip
    assert apply_scorer(recovered_from_errors(), SEARCH) == (1.0, None), "an agent without errors loses no score"


def test_changed_files() -> None:
    check = files_changed(["src/*.py", "README.md"], optional=["*.lock"])
    assert apply_scorer(check, changed_files=["src/a.py", "README.md", "uv.lock"]) == (1.0, None)
    assert apply_scorer(check, changed_files=["src/a.py", "x.py"]) == (
        0.333,
        "not changed: README.md; not expected: x.py",
    )
    assert apply_scorer(files_changed([]), changed_files=[]) == (1.0, None)
    deep = ["src/a/b.py"]
    reason = "not changed: src/*.py; not expected: src/a/b.py"
    assert apply_scorer(files_changed(["src/*.py"]), changed_files=deep) == (0.0, reason)
    assert apply_scorer(files_changed(["src/**"]), changed_files=deep) == (1.0, None)
    assert apply_scorer(files_changed(["app/[id].tsx"]), changed_files=["app/[id].tsx"]) == (1.0, None)
    with pytest.raises(ValueError, match="has none recorded"):
        files_changed([])(Trajectory())


def test_a_command_runs_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    python = sys.executable
    passes = command_passes(f"{python} -c \"open('a.txt').read()\"")
    assert apply_scorer(passes, workspace=str(tmp_path)) == (1.0, None)
    fails = command_passes(f"{python} -c \"print('why'); raise SystemExit(3)\"")
    assert apply_scorer(fails, workspace=str(tmp_path)) == (0.0, "it exited with 3: why")
    moved = command_passes([sys.executable, "-c", "import os; raise SystemExit(os.environ['PWD'] != os.getcwd())"])
    assert apply_scorer(moved, workspace=str(tmp_path)) == (1.0, None)
    started = time.monotonic()
    hangs = command_passes(f'{python} -c "import os, time; os.fork(); time.sleep(60)"', timeout=0.5)
    assert apply_scorer(hangs, workspace=str(tmp_path))[1] == "it took longer than 0.5 s"
    assert time.monotonic() - started < 50
    floods = command_passes(["sh", "-c", "yes"], timeout=60)
    assert str(apply_scorer(floods, workspace=str(tmp_path))[1]).startswith("it printed more than 64 MB: y")
    with pytest.raises(ValueError, match="needs the workspace"):
        passes(Trajectory())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, processes that leave the group are not found")
def test_what_a_command_starts_ends_with_it(tmp_path: Path) -> None:
    code = "import os, pathlib, time; os.setsid(); pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(60)"
    passes = command_passes(["sh", "-c", f'{sys.executable} -c "{code}" & while ! test -s pid; do sleep 0.05; done'])
    assert apply_scorer(passes, workspace=str(tmp_path)) == (1.0, None)
    pid, deadline = int((tmp_path / "pid").read_text()), time.monotonic() + 60
    while (is_alive := is_running(pid)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive


def is_running(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_shell_operators_are_found_outside_quotes(tmp_path: Path) -> None:
    for command, found in (
        ("echo x | grep -q y", ("|", 8)),
        ("echo x|grep y", ("|", 7)),
        ('echo "$(false)"; exit 1', ("$(", 7)),
        ("echo `false`", ("`", 6)),
        ("false; true", (";", 6)),
        ("a || b", ("||", 3)),
        ("a >> b", (">>", 3)),
        (" ! a", ("!", 2)),
        ("false\ntrue", ("\n", 6)),
        ("grep -q 'a && b; `c` $(d)' f", None),
        ('grep -q "a && b | c" f', None),
        ("grep -q a\\;b 'it'\\''s' ! x=1 $HOME", None),
        (" test -s a.txt \n", None),
    ):
        assert find_shell_operator(command) == found, command
    for words, expected in ((["sh", "-c", "true && false"], 0.0), (["sh", "-c", "! false"], 1.0)):
        assert apply_scorer(command_passes(words), workspace=str(tmp_path))[0] == expected


def test_wrong_arguments_are_refused_at_once() -> None:
    for make, message in (
        (lambda: tool_calls(mode="sorted"), "mode must be one of exact, in_order"),  # type: ignore[arg-type]
        (lambda: tool_calls(args="fuzzy"), "args must be one of equal, subset"),
        (lambda: tool_calls([3]), "an expected tool call is a name"),
        (lambda: tool_calls([("t", 1)]), "must be a dict"),
        (lambda: tool_calls(optional="t"), r"optional must be a list of texts: \['t'\]"),
        (lambda: called("t", -1), "times must be a number of at least 0"),
        (never_called, "needs at least one tool"),
        (lambda: max_steps(True), "needs a whole number"),
        (lambda: command_passes(""), "needs a command"),
        (lambda: command_passes("x", timeout=0), "a timeout over 0"),
        (lambda: command_passes([]), "needs a command"),
        (lambda: command_passes("python -c 'print(1)' && false"), "shell operator '&&' at position 22"),
        (lambda: command_passes("! grep x a.txt"), "shell operator '!' at position 1"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            make()


@observe(span_type="tool")
def search(query: str) -> str:
    assert query == "hours"
    return "5"


@pytest.mark.usefixtures("project")
def test_a_suite_records_the_trajectory_of_its_task() -> None:
    def agent(question: str) -> str:
        return search(question)

    data = [{"id": "a", "input": "hours", "expected_tool_calls": [["search", {"query": "hours"}]]}]
    result = evaluate(
        "demo", data=data, task=agent, scorers=[tool_calls(), lambda trajectory: len(trajectory.steps) == 3]
    )
    assert result.passed
    (case,) = result.cases
    found = Trajectory.read(case.trace)
    assert found is not None
    assert found.messages == [Message("user", "hours"), Message("assistant", "5")]
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.result) == ("search", {"query": "hours"}, "5")


@pytest.mark.usefixtures("project")
def test_a_task_can_return_its_trajectory() -> None:
    trajectory = Trajectory([BUY, Message("assistant", "Done.")], changed_files=["a"], workspace="/nowhere")
    result = evaluate(
        "demo", data=["x"], task=lambda _: trajectory, scorers=[called("buy"), lambda output: output == "Done."]
    )
    assert result.passed
    (case,) = result.cases
    assert case.output == "Done."
    assert case.trace == {
        "type": "trajectory",
        "steps": [{"tool": "buy", "arguments": {"order": {"id": 7}}}, {"role": "assistant", "text": "Done."}],
        "changed_files": ["a"],
    }


@pytest.mark.usefixtures("project")
def test_a_task_that_calls_no_tool_has_a_trajectory_only_if_tools_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    for observed, error in (({"tool"}, None), (set(), "never_called buy")):
        monkeypatch.setattr("scoregate.offline_tests.tracer._observed_types", observed)
        (case,) = evaluate(f"demo {len(observed)}", data=["x"], task=lambda _: "y", scorers=[never_called("buy")]).cases
        assert [each.evaluator for each in case.errors] == ([] if error is None else [error])


@pytest.mark.usefixtures("project")
def test_without_a_trajectory_the_scorer_has_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    result = evaluate("demo", data=["x"], task=lambda _: "y", scorers=[called("buy")])
    (case,) = result.cases
    assert "called buy needs a trajectory, and nothing of this case was recorded" in case.reasons["called buy"]
    no_expected = evaluate("more", data=["x"], task=lambda _: Trajectory([BUY]), scorers=[tool_calls()])
    (case,) = no_expected.cases
    assert "which this case lacks" in case.reasons["tool_calls"]
