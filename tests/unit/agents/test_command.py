"""An agent's command line as a task: its workspace, environment, limits, and what remains after it."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.unit.agents.streams import STREAMS

from scoregate import evaluate
from scoregate.agents import CommandAgent, command_agent
from scoregate.agents.process import find_isolation
from scoregate.errors import AgentError
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.scorers import called, command_passes, files_changed, never_called

FAKE = str(Path(__file__).with_name("fake_agent.py"))


def run(agent: CommandAgent, prompt: Any) -> Trajectory:
    return anyio.run(agent, prompt)


def make_agent(tmp_path: Path, events: str = "claude", **options: Any) -> CommandAgent:
    stream = tmp_path / f"{events}.jsonl"
    stream.write_bytes(b"\n".join(map(dump, STREAMS[events])))
    return command_agent([sys.executable, FAKE, str(stream), "{prompt}"], events=events, **options)


def test_the_end_of_what_an_agent_printed_is_in_the_advice() -> None:
    # As Gemini prints it, twice, in colours and with the remedy at the end.
    warnings = ["YOLO mode is enabled.", f"The folder is not trusted. {'x' * 90}"] * 2
    remedy = f"\x1b[31mNot a trusted folder: {'y' * 150}. Use --skip-trust.\x1b[0m"
    usage = ["error: unexpected argument '--full-auto' found", "", "  tip: use --sandbox", "", "Usage: codex exec"]
    for lines, message, advice in (
        (
            [*warnings, remedy],
            f"Not a trusted folder: {'y' * 150}. Use --skip-trust.",
            "x. Not a trusted folder: y+. Use",
        ),
        (usage, "error: unexpected argument '--full-auto' found", r"found tip: use --sandbox Usage: codex exec$"),
        (["no key"], "no key", None),
        (["z" * 600], "z" * 500, f"^The agent printed last: {'z' * 500}$"),
    ):
        script = f"import sys; print({chr(10).join(lines)!r}, file=sys.stderr); sys.exit(55)"
        with pytest.raises(AgentError) as exc_info:
            run(command_agent([sys.executable, "-c", script]), "")
        assert exc_info.value.message == f"the agent exited with 55: {message}"
        assert re.search(advice, exc_info.value.advice) if advice else exc_info.value.advice == "", (
            exc_info.value.advice
        )


def test_each_trial_has_a_copy_of_the_workspace_and_the_changed_files_are_listed(tmp_path: Path) -> None:
    source = tmp_path / "shop"
    (source / "src").mkdir(parents=True)
    (source / "src" / "a.py").write_text("old")
    (source / "link").symlink_to("src/a.py")
    agent = make_agent(tmp_path, workspace=source)
    written, deleted, nothing = [
        run(agent, prompt) for prompt in ("write src/new/b.py", "delete src/a.py", "say nothing")
    ]
    assert [each.changed_files for each in (written, deleted, nothing)] == [["src/new/b.py"], ["src/a.py"], []]
    assert (run(agent, "write src/a.py")).changed_files == ["src/a.py"]
    assert (source / "src" / "a.py").read_text() == "old"
    assert written.workspace is not None
    folder = Path(str(written.workspace))  # a plain text, which doesn't keep the workspace
    assert (folder / "link").is_symlink()
    assert (folder / "src" / "new" / "b.py").read_text() == "new"
    del written
    assert_is_deleted(folder)


def assert_is_deleted(folder: str | Path) -> None:
    deadline = time.monotonic() + 60  # the last thread that used it may still end
    while os.path.lexists(folder) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert not os.path.lexists(folder), f"it still has {[*Path(folder).iterdir()]}"


def test_ignored_files_of_a_repository_are_skipped(tmp_path: Path) -> None:
    source = tmp_path / "repository"
    source.mkdir()
    subprocess.run(["git", "init", "-q", str(source)], check=True)
    for name, text in ((".gitignore", "*.log"), ("a.log", ""), ("b.txt", "uncommitted")):
        (source / name).write_text(text)
    result = run(make_agent(tmp_path, workspace=source), "hello")
    assert result.workspace is not None
    assert sorted(path.name for path in Path(result.workspace).iterdir()) == [".gitignore", "b.txt"]


def test_a_folder_of_a_repository_skips_ignored_files(tmp_path: Path) -> None:
    (tmp_path / "part" / "built").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text(".env\nbuilt/\n")
    for name in ("a.txt", ".env", "built/b.txt"):
        (tmp_path / "part" / name).write_text(name)
    show = ["find", ".", "-type", "f"]
    assert run(command_agent(show, workspace=tmp_path / "part"), "").output == "./a.txt"
    # A build makes the whole folder.
    assert run(command_agent(show, workspace=tmp_path / "part" / "built"), "").output == "./b.txt"


def test_links_to_the_outside_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "shop"
    source.mkdir()
    (source / "link").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match=r"the link link in the workspace .* points to the outside, '/etc/passwd'"):
        run(make_agent(tmp_path, workspace=source), "hello")


def test_an_agent_has_its_own_home_and_no_variables_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    monkeypatch.setenv("MY_KEY", "k")
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.setenv("OLDPWD", str(tmp_path))
    result = run(make_agent(tmp_path, env={"MODE": "test", "PWD": str(tmp_path)}), "env")
    assert result.workspace is not None
    environment = json.loads(Path(result.workspace, "env.json").read_text())
    assert (environment["MY_KEY"], environment["MODE"]) == ("k", "test")
    assert environment["PWD"] == result.workspace
    assert not {"SCOREGATE_EVENTS", "CODEX_HOME", "OLDPWD"} & environment.keys()
    home = environment["HOME"]
    assert home not in (os.environ.get("HOME"), result.workspace)
    assert environment["XDG_CONFIG_HOME"] == str(Path(home, ".config"))
    assert not Path(home).exists()


def test_bad_runs_are_errors_that_keep_the_steps(tmp_path: Path) -> None:
    for prompt, options, message, calls in (
        ("stop", {}, "the events of the agent end before its run did", 2),
        ("malformed", {}, "event 3 of the agent is not JSON", 1),
        ("read fail", {}, "the agent exited with 7: ''", 0),
        ("read", {}, "the agent printed no event of the format claude: ''", 0),
        ("flood", {}, "the agent printed more than 64 MB", 0),
        ("hello", {"max_steps": 1}, "the agent called more than 1 tools and was killed", 2),
        ("hello", {"max_cost": 0.1}, r"the agent used more than \$0.1", 2),
    ):
        with pytest.raises(AgentError, match=message) as exc_info:
            run(make_agent(tmp_path, **options), prompt)
        assert isinstance(exc_info.value.trajectory, Trajectory)
        assert (prompt, len(exc_info.value.trajectory.tool_calls)) == (prompt, calls)
    assert len((run(make_agent(tmp_path), "strange")).tool_calls) == 2
    with pytest.raises(AgentError, match="no-such-agent can't be started: No such file"):
        run(command_agent(["no-such-agent", "{prompt}"]), "hello")


def test_a_limit_of_a_cost_that_is_not_reported_is_an_error() -> None:
    with pytest.raises(
        AgentError, match=r"the agent reported no cost, so that max_cost = 0.5 can't be checked"
    ) as info:
        run(command_agent(["echo", "hello"], max_cost=0.5), "hi")
    assert info.value.advice.startswith("Limit its steps with max_steps")
    assert run(command_agent(["echo", "hello"]), "hi").output == "hello"


def test_a_hanging_agent_is_killed_and_keeps_its_steps(tmp_path: Path) -> None:
    make_agent(tmp_path)  # writes the events
    printing = ["sh", "-c", f"head -n 2 {tmp_path}/claude.jsonl; sleep 600"]
    for limit in (4, 60):  # on a busy machine, it may have printed nothing in four seconds
        hang = command_agent(printing, events="claude", timeout=limit)
        with pytest.raises(AgentError, match=rf"the agent took longer than {limit} s and was killed") as exc_info:
            run(hang, "")
        assert isinstance(exc_info.value.trajectory, Trajectory)
        if calls := exc_info.value.trajectory.tool_calls:
            break
    assert len(calls) == 1


def test_processes_of_an_agent_end_with_it(tmp_path: Path) -> None:
    file = tmp_path / "alive"
    run(make_agent(tmp_path), f"fork {file}")
    time.sleep(0.3)
    last = file.read_text()
    time.sleep(0.5)
    assert file.read_text() == last


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, processes that leave their group are not found")
def test_a_process_without_group_and_environment_is_killed_too(tmp_path: Path) -> None:
    left = f"env -i setsid sh -c 'while :; do date +%s%N >{tmp_path}/alive; sleep 0.05; done'"
    for script, limit, problem in (
        (f"({left} &) ; while [ ! -s {tmp_path}/alive ]; do sleep 0.05; done", 120, None),
        (f"{left} & sleep 60", 1, "took longer than 1 s"),
        ("kill -9 0", 120, "exited with -9"),
        ("exit 3", 120, "exited with 3"),
    ):
        agent = command_agent(["sh", "-c", script], timeout=limit)
        with pytest.raises(AgentError, match=problem) if problem else nullcontext():
            run(agent, "")
        last = (tmp_path / "alive").read_text()
        time.sleep(0.2)
        assert (tmp_path / "alive").read_text() == last


def test_an_event_after_text_and_a_long_answer_are_errors() -> None:
    event = '{"type":"assistant"}'
    for script, events, problem in (
        (f"print('warning: {event}')", "claude", "is behind other text in its line: b'warning"),
        ("print('x' * 100 + '\\n', end='' * 9); [print('x' * 99) for _ in range(200_000)]", "text", "more than 16 MB"),
    ):
        with pytest.raises(AgentError, match=problem):
            run(command_agent([sys.executable, "-c", script], events=events), "")
    endless = """while :; do echo '{"type":"assistant","message":{"content":"x"}}'; done"""
    with pytest.raises(AgentError, match="more than 100,000 steps"):
        run(command_agent(["sh", "-c", endless], events="claude", max_steps=9), "")


def test_changes_of_any_size_and_depth_are_found(tmp_path: Path) -> None:
    (tmp_path / "same.txt").write_text("same")
    (tmp_path / "mode.txt").write_text("same")
    script = """
import os
os.utime("same.txt", (1, 1))
os.chmod("mode.txt", 0o600)
os.truncate(os.open("sparse", os.O_CREAT | os.O_WRONLY), 1 << 42)
os.makedirs("hidden/x")
open("hidden/x/a", "w").close()
os.chmod("hidden/x", 0)
for _ in range(1_500):
    os.mkdir("d")
    os.chdir("d")
open("deep", "w").close()
"""
    result = run(command_agent([sys.executable, "-c", script], workspace=tmp_path), "")
    assert result.changed_files is not None
    (deep,) = [name for name in result.changed_files if name.endswith("/deep")]
    rest = [name for name in result.changed_files if name != deep]
    assert rest in (["hidden/x", "mode.txt", "sparse"], ["hidden/x/a", "mode.txt", "sparse"])  # root may read it
    folder = str(result.workspace)
    del result
    assert_is_deleted(folder)


def test_a_replaced_workspace_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "solution.txt").write_text("solved")
    (tmp_path / "solution.txt").chmod(0o400)
    for script in (f'ln -s {tmp_path} "$OLDPWD"', ":", f'cp -r {tmp_path} "$OLDPWD"'):
        with pytest.raises(AgentError, match="unknown what the agent changed: its workspace was deleted or replaced"):
            run(command_agent(["sh", "-c", f'cd / && rm -r "$OLDPWD" && {script}']), "")
    gc.collect()
    assert (tmp_path / "solution.txt").stat().st_mode & 0o777 == 0o400


def test_too_many_files_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.agents.workspace.MOST_FOUND", 10)
    with pytest.raises(AgentError, match="unknown what the agent changed: there are more than 10 files"):
        run(command_agent(["sh", "-c", "mkdir a b; touch a/1 a/2 a/3 a/4 a/5 a/6 b/1 b/2 b/3 b/4 b/5"]), "")


def test_an_agent_without_events_answers_with_text_and_can_read_input() -> None:
    result = run(command_agent([sys.executable, "-c", "print(input().upper())"]), "hello")
    assert (result.final_output, result.tool_calls) == ("HELLO", [])
    result = run(command_agent([sys.executable, "-c", "import sys; print(sys.argv[1])", "{prompt}"]), {"a": 1})
    assert result.final_output == '{"a":1}'


def test_no_network_blocks_all_addresses_or_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import socket, sys; print([name for _, name in socket.if_nameindex()], sys.argv[1])"
    agent = command_agent([sys.executable, "-c", code, "{prompt}"], network=False)
    found = "['lo'] hello"
    with suppress(AgentError):
        find_isolation()
        assert run(agent, "hello").final_output == found
    monkeypatch.setattr("scoregate.agents.process._ISOLATION", ("false",))
    find_isolation.cache_clear()
    with pytest.raises(AgentError, match="must run without network, and this machine can't take it away"):
        run(agent, "hello")
    find_isolation.cache_clear()


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    for arguments, options, message in (
        ("aider", {}, "command must be one of claude, codex"),
        ([], {}, "command must name a program"),
        (["x"], {"events": "aider"}, "events must be one of claude"),
        (["x"], {"workspace": tmp_path / "none"}, "workspace must be a folder"),
        (["x"], {"timeout": 0}, "timeout must be a number of seconds over 0"),
        (["x"], {"max_steps": -1}, "max_steps must be a whole number"),
        (["x"], {"max_cost": "1"}, "max_cost must be a number of US dollars"),
    ):
        with pytest.raises(ValueError, match=message):
            command_agent(arguments, **options)  # type: ignore[arg-type]


def test_a_suite_scores_what_an_agent_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent = make_agent(tmp_path)
    scorers = [
        called("Bash", 2), never_called("Write"), files_changed(["out.txt"]),
        command_passes(f"{sys.executable} -c \"open('out.txt')\""),
    ]  # fmt: skip
    data = [{"id": "good", "input": "write out.txt"}, {"id": "bad", "input": "stop"}]
    result = evaluate("agent", data=data, task=agent, scorers=scorers)
    cases = {case.hash: case for case in result.cases}
    assert str(cases["good"].status) == "passed"
    assert cases["good"].output == "One file."
    assert cases["good"].usage is not None
    assert cases["good"].usage.cost == 0.25
    (error,) = cases["bad"].errors
    assert error.error.message == "the events of the agent end before its run did: Welcome to the agent."
    trajectory = Trajectory.read(cases["bad"].trace)
    assert trajectory is not None
    assert len(trajectory.tool_calls) == 2
