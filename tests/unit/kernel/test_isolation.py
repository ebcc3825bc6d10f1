"""Isolation of suites: accounts, a shared workspace, protected files."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoregate.errors import ScoregateError, UsageError
from scoregate.kernel.host import user_ids
from scoregate.kernel.host.isolation import workspace as sharing
from scoregate.kernel.host.isolation.command_files import CommandFiles
from scoregate.kernel.host.isolation.out_folder import OutFolder
from scoregate.kernel.host.isolation.processes import kill_account, kill_accounts
from scoregate.kernel.host.isolation.shared_tree import SharedTree, release
from scoregate.kernel.host.isolation.workspace import separate_accounts
from scoregate.kernel.host.user_ids import (
    ACCOUNTS,
    Accounts,
    Identity,
    current_accounts,
    missing_isolation,
    new_identity,
    process_rights,
)
from scoregate.kernel.run.launch.layer import Failed
from scoregate.kernel.run.launch.tail import LogTailer

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to somebody else")
OWNER = 4321
# Beyond what containers on this machine use, and others than those of tests that run at the same time.
RANGE = Accounts(first := 3_000_000_000 + os.getpid() % 65_536 * 2_000, first + 1_999)
SUITE = RANGE.first + 123
OTHER = Identity(SUITE, RANGE.group, shared=Path("/"))


def interpreter() -> str:
    """A Python that other users can run, so not one in root's home."""
    for found in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        with contextlib.suppress(OSError):
            if subprocess.run([found, "-I", "-c", ""], check=False, **process_rights(OTHER)).returncode == 0:
                return found
    pytest.skip("NOT TESTED: there is no Python that other users may run")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    root = tmp_path / "workspace"
    root.mkdir()
    yield root
    kill_accounts(RANGE)


def python(code: str, cwd: Path, identity: Identity = OTHER) -> str:
    """Run code as a suite."""
    argv = [interpreter(), "-I", "-c", f"import os, pathlib\n{code}"]
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, **process_rights(identity))
    return done.stdout + done.stderr


def state(root: Path) -> dict[str, tuple[int, int, int]]:
    return {str(path): (s.st_uid, s.st_gid, s.st_mode) for path in root.rglob("*") if (s := path.lstat())}


def claim(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        os.chown(path, OWNER, OWNER, follow_symlinks=False)


@as_root
def test_a_shared_workspace_is_restored(workspace: Path) -> None:
    for name, mode in (("a.txt", 0o644), ("secret", 0o600), ("read-only", 0o444), ("tool", 0o755), ("odd", 0o4755)):
        (workspace / name).write_text(name)
        (workspace / name).chmod(mode)
    (workspace / "folder").mkdir(mode=0o700)
    (workspace / "link").symlink_to("/etc/passwd")
    claim(workspace)
    (workspace / "odd").chmod(0o4755)
    (workspace / "roots").touch(mode=0o600)
    before, passwd = state(workspace), Path("/etc/passwd").stat()
    tree = SharedTree(workspace, OWNER, OWNER, RANGE)
    tree.share()
    output = python(
        "for name in ('a.txt', 'secret', 'tool'): open(name, 'a').write('x')\n"
        "open('folder/new', 'w').write('x'); os.mkdir('made')\n"
        "os.symlink('/etc', 'made/link'); os.mkfifo('made/pipe')\n"
        "os.chmod(os.open('made/private', os.O_CREAT), 0o4700)\n"
        "print([os.access(name, os.W_OK) for name in ('read-only', 'roots', 'folder', '.')])",
        workspace,
    )
    assert output == "[False, False, True, True]\n"
    assert (workspace / "odd").stat().st_mode & 0o7000 == 0
    tree.restore()
    after = state(workspace)
    assert {name: found for name, found in after.items() if name in before} == before
    made = {Path(name).name: found for name, found in after.items() if name not in before}
    assert {found[:2] for found in made.values()} == {(OWNER, OWNER)}
    assert made["private"][2] & 0o7777 == 0o700
    assert made["made"][2] & 0o7777 == 0o755
    assert made["new"][2] & 0o7777 == 0o644
    assert Path("/etc/passwd").stat() == passwd


@as_root
def test_the_next_suite_can_change_private_files(workspace: Path) -> None:
    claim(workspace)
    tree = SharedTree(workspace, OWNER, OWNER, RANGE)
    tree.share()
    python("os.mkdir('cache', 0o700); os.close(os.open('cache/db', os.O_CREAT | os.O_WRONLY, 0o600))", workspace)
    later = Identity(SUITE + 1, RANGE.group, shared=workspace)
    change = "open('cache/db', 'a').write('later')"
    assert "PermissionError" in python(change, workspace, later)
    release(workspace, SUITE, workspace.stat())
    assert python(change, workspace, later) == ""
    assert (workspace / "cache" / "db").read_text() == "later"


@as_root
def test_very_deep_folders_are_restored(workspace: Path) -> None:
    claim(workspace)
    tree = SharedTree(workspace, OWNER, OWNER, RANGE)
    tree.share()
    python("for _ in range(1200):\n    os.mkdir('d'); os.chdir('d')\nopen('end', 'w')", workspace)
    tree.restore()
    result = subprocess.run(["find", workspace, "!", "-user", str(OWNER)], capture_output=True, text=True, check=True)
    subprocess.run(["rm", "-rf", workspace / "d"], check=True)
    assert result.stdout == ""


@as_root
def test_the_next_run_restores_files_of_a_killed_one(workspace: Path) -> None:
    (workspace / "a.txt").touch(mode=0o644)
    claim(workspace)
    SharedTree(workspace, OWNER, OWNER, RANGE).share()
    python("open('mine', 'w')", workspace)
    again = SharedTree(workspace, OWNER, OWNER, RANGE)
    again.share()
    again.restore()
    assert {found[:2] for found in state(workspace).values()} == {(OWNER, OWNER)}
    assert {stat.S_IMODE(found[2]) for found in state(workspace).values()} == {0o644}


DAEMONS = {
    "without an environment": "subprocess.Popen(['env', '-i', 'setsid', 'sleep', '300'])",
    "orphaned": "os.fork() or (os.setsid(), os.fork() and os._exit(0), time.sleep(300))",
    "deaf": "os.fork() or ([signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)], os.setsid(), time.sleep(300))",
    "stopped": "os.fork() or (os.setsid(), os.kill(os.getpid(), signal.SIGSTOP))",
    "forking": (
        "if not os.fork():\n    os.setsid()\n    for _ in range(100_000):\n"
        "        if os.fork(): os._exit(0)\n        open('beat', 'w').write('x'); time.sleep(0.001)"
    ),
    "many": "[os.fork() or (os.setsid(), time.sleep(300)) for _ in range(50)]",
}


@as_root
@pytest.mark.parametrize("code", DAEMONS.values(), ids=DAEMONS)
def test_no_process_of_an_account_is_left(workspace: Path, code: str) -> None:
    argv = [interpreter(), "-I", "-c", f"import os, signal, subprocess, time\n{code}"]
    workspace.chmod(0o777)
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(argv, cwd=workspace, check=False, **quiet, **process_rights(OTHER))  # type: ignore[call-overload]
    bystander = subprocess.Popen(["sleep", "300"], **process_rights(Identity(SUITE + 1, RANGE.group)))
    try:
        assert kill_account(SUITE, RANGE.group) == ()
        (workspace / "beat").unlink(missing_ok=True)
        assert not alive(SUITE)
        assert bystander.poll() is None
        time.sleep(0.1)
        assert not (workspace / "beat").exists()
    finally:
        bystander.kill()
        bystander.wait()


def alive(uid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            lines = dict(line.split(":", 1) for line in path.read_text().splitlines())
            if int(lines["Uid"].split()[0]) == uid and lines["State"].split()[0] != "Z":
                found.append(int(path.parent.name))
    return found


@pytest.fixture
def command_files(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "file_commands"
    folder.mkdir()
    environ = {name: str(folder / name) for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for name in environ:
        (folder / name).write_text(f"before {name}\n")
        (folder / name).chmod(0o666)
    return environ


def test_command_files_are_private_while_suites_run(command_files: dict[str, str]) -> None:
    files = CommandFiles(command_files)
    files.protect()
    assert {stat.S_IMODE(Path(path).stat().st_mode) for path in command_files.values()} == {0o600}
    assert list(files.discard()) == []
    files.release()
    assert {stat.S_IMODE(Path(path).stat().st_mode) for path in command_files.values()} == {0o666}


def test_command_files_written_meanwhile_are_discarded(command_files: dict[str, str], tmp_path: Path) -> None:
    env, output, summary = (Path(command_files[name]) for name in sorted(command_files))
    (tmp_path / "victim").write_text("untouched")
    files = CommandFiles(command_files)
    files.protect()
    with env.open("a") as file:
        file.write("HOSTILE=1\n")
    output.unlink()
    output.symlink_to(tmp_path / "victim")
    summary.unlink()
    notices = list(files.discard())
    files.release()
    assert [name for notice in notices for name in command_files if f" {name} " in notice] == sorted(command_files)
    assert {path.read_text() for path in (env, output, summary)} == {f"before {name}\n" for name in command_files}
    assert not output.is_symlink()
    assert (tmp_path / "victim").read_text() == "untouched"


@as_root
def test_the_run_folder_keeps_its_name_and_content(workspace: Path) -> None:
    claim(workspace)
    SharedTree(workspace, OWNER, OWNER, RANGE).share()
    out = OutFolder(workspace / "out", workspace)
    (out.open_path / "junit.xml").write_text("ours")
    output = python(
        "import shutil\n"
        "for do in (lambda: open('out/junit.xml', 'w'), lambda: open('out/x', 'w'), lambda: shutil.rmtree('out'),\n"
        "           lambda: os.rename('out/junit.xml', 'x'), lambda: os.rename('out', 'away')):\n"
        "    try: do(); print('done')\n"
        "    except OSError as error: print(error.strerror)\n"
        "os.mkdir('out'); open('out/junit.xml', 'w').write('planted'); os.symlink('/etc', 'out/run')",
        workspace,
    )
    assert output.splitlines() == ["Permission denied"] * 4 + ["done"]
    (out.open_path / "later.xml").write_text("ours")
    notice = out.put_back()
    assert notice is not None
    assert "was put back" in notice
    assert out.put_back() is None
    out.close()
    assert {path.name for path in (workspace / "out").iterdir()} == {"junit.xml", "later.xml", "run"}
    assert (workspace / "out" / "junit.xml").read_text() == "ours"
    assert not (workspace / "out" / "run").is_symlink()
    assert not (workspace / "away").exists()


def test_the_run_folder_is_behind_no_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    for path in (tmp_path / "link", tmp_path / "link" / "out"):
        with pytest.raises(UsageError, match="reports can't be written to"):
            OutFolder(path, tmp_path)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@as_root
def test_committed_links_in_the_run_folder_are_deleted(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("untouched")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").symlink_to(tmp_path / "victim")
    os.link(tmp_path / "victim", tmp_path / "out" / "junit.xml")
    OutFolder(tmp_path / "out", tmp_path).close()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run"]
    assert (tmp_path / "victim").stat().st_nlink == 1


@as_root
def test_each_process_has_an_account_until_the_block_ends(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim(workspace)
    monkeypatch.setattr(sharing, "find_accounts", lambda: RANGE)
    monkeypatch.setattr(sharing, "_PIDS_MAX", ())
    environ = {"SCOREGATE_CONTAINER": "1", "GITHUB_WORKSPACE": str(workspace)}
    with separate_accounts(environ):
        assert current_accounts(environ) == RANGE
        one, two = new_identity(environ), new_identity(environ)
        assert one is not None
        assert two is not None
        assert one.uid != two.uid
        assert {one.uid in RANGE, two.uid in RANGE} == {True}
        assert one.gid == two.gid == RANGE.group == workspace.stat().st_gid
    assert ACCOUNTS not in environ
    assert workspace.stat().st_gid == OWNER
    assert new_identity(environ) == Identity(OWNER, OWNER)


@as_root
def test_without_accounts_suites_run_as_the_owner(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "a.txt").touch()
    claim(workspace)
    before = state(workspace)
    monkeypatch.setattr(sharing, "find_accounts", lambda: None)
    environ = {"SCOREGATE_CONTAINER": "1", "GITHUB_WORKSPACE": str(workspace)}
    with separate_accounts(environ):
        assert new_identity(environ) == Identity(OWNER, OWNER)
        assert state(workspace) == before


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("0 0 4294967295", (200_000, 265_535)),
        ("0 1000 1\n1 100000 65536", (64_510, 65_533)),
        ("0 1000 1\n1 100000 500", (200_000, 199_999)),
        ("0 1000 1", (200_000, 199_999)),
    ],
)
def test_the_range_is_valid_for_the_kernel(tmp_path: Path, lines: str, expected: tuple[int, int]) -> None:
    (tmp_path / "uid_map").write_text(lines)
    assert user_ids._range_of(tmp_path / "uid_map", 200_000) == expected


def test_user_ids_are_not_used_twice() -> None:
    few = Accounts(0, 0)
    with pytest.raises(ScoregateError, match="has used all"):
        few.new_uid()


def test_missing_accounts_are_named(tmp_path: Path) -> None:
    job = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path)}
    assert missing_isolation({}) is None
    assert missing_isolation({**job, ACCOUNTS: "200000-265535"}) is None
    assert "outside of scoregate's container" in (missing_isolation(job) or "")


@as_root
def test_a_runner_that_refuses_accounts_is_named(tmp_path: Path) -> None:
    os.chown(tmp_path, OWNER, OWNER)
    job = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path), "SCOREGATE_CONTAINER": "1"}
    assert "doesn't allow user ids for suites" in (missing_isolation(job) or "")


@pytest.mark.parametrize("change", ["rewrite", "truncate", "delete", "replace"])
def test_a_log_changed_after_reading_fails_its_script(tmp_path: Path, change: str) -> None:
    log = tmp_path / "1-0.jsonl"
    line = json.dumps({"type": "suite_started", "suite": "demo", "seq": 0, "time": time.time(), "v": 1}) + "\n"
    log.write_text(line)
    follower = LogTailer("evals/demo.py", tmp_path, lambda data: data)
    [*follower.read(), *follower.read()]
    assert not [each for each in follower.close() if isinstance(each, Failed)]
    if change == "rewrite":
        log.write_text(line.replace("demo", "DEMO"))
    elif change == "truncate":
        log.write_text("")
    elif change == "delete":
        log.unlink()
    else:
        (tmp_path / "new").write_text(line.replace("demo", "xxxx"))
        (tmp_path / "new").replace(log)
    (failed,) = [each for each in follower.close() if isinstance(each, Failed)]
    assert failed.script == "evals/demo.py"
    assert "changed or deleted after it was read" in failed.error.message
