"""Attempts to change the runner's command files, other suites' events, and the run's record and reports."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import stat
from collections.abc import Callable
from pathlib import Path

from harness import EVENTS, MOUNTS, attempt, first_success, neighbours

LIBC = ctypes.CDLL(None, use_errno=True)
LINE = "HOSTILE=1\n"
OUT = Path("scoregate-out")


def _command_files() -> list[Path]:
    """By listing, and by the names of the folders alone."""
    paths = [Path(mount, name) for mount in MOUNTS for name in _names(mount)]
    return paths or [Path(mount) / "set_env_1" for mount in MOUNTS]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _to_command_files(do: Callable[[Path], object]) -> object:
    return first_success(_command_files(), do)


def _append(path: Path) -> object:
    with path.open("a") as file:
        return file.write(LINE)


@attempt("command files")
def append() -> object:
    return _to_command_files(_append)


@attempt("command files")
def truncate() -> object:
    return _to_command_files(lambda path: os.truncate(path, 0) or "truncated")


@attempt("command files")
def change_mode() -> object:
    return _to_command_files(lambda path: path.chmod(0o666) or "chmod")


@attempt("command files")
def replace() -> object:
    Path("mine.txt").write_text(LINE)
    return _to_command_files(
        lambda path: shutil.copy("mine.txt", path.with_name("x")) and path.with_name("x").replace(path)
    )


@attempt("command files")
def remove() -> object:
    return _to_command_files(lambda path: path.unlink() or "deleted")


@attempt("command files")
def link_into_the_workspace() -> object:
    return _to_command_files(lambda path: os.link(path, "hard-link") or "linked")


@attempt("command files")
def write_over_a_link() -> object:
    def over_link(path: Path) -> object:
        Path("soft-link").unlink(missing_ok=True)
        Path("soft-link").symlink_to(path)
        return _append(Path("soft-link"))

    return _to_command_files(over_link)


@attempt("command files")
def new_file_beside_them() -> object:
    return first_success([Path(mount, "set_env_new") for mount in MOUNTS], _append)


@attempt("command files")
def rename_their_folder() -> object:
    return first_success([Path(mount) for mount in MOUNTS], lambda path: path.rename(f"{path}-moved"))


@attempt("command files")
def open_mode_of_their_folder() -> object:
    return first_success([Path(mount) for mount in MOUNTS], lambda path: path.chmod(0o777) or "chmod")


@attempt("command files")
def exchange_their_folder() -> object:
    Path("exchange").mkdir(exist_ok=True)
    return first_success(
        [Path(mount) for mount in MOUNTS],
        lambda path: LIBC.renameat2(-100, os.fsencode(path), -100, b"exchange", 2) == 0,
    )


@attempt("command files")
def the_event_of_the_job() -> object:
    return first_success(
        [Path("/github/workflow/event.json"), Path("/github/runner_temp/_github_workflow/event.json")], _append
    )


@attempt("command files")
def the_home_of_later_steps() -> object:
    names = (".gitconfig", ".bashrc", ".profile", ".npmrc", ".netrc", ".config/pip/pip.conf")
    homes = ("/github/home", "/github/runner_temp/_github_home")
    return first_success([Path(home, name) for home in homes for name in names], _append)


@attempt("command files")
def folders_of_the_runner() -> object:
    folders = [Path("/github/runner_temp", name) for name in ("_github_home", "_github_workflow")]
    return first_success(folders, lambda path: path.rename(f"{path}-moved"))


@attempt("command files")
def commands_on_standard_output() -> object:
    """The runner would execute them; the test looks at what it executed."""
    names = ("set-output name=conclusion", "set-env name=HOSTILE", "add-path", "save-state name=x", "add-mask", "error")
    for name in names:
        for start in ("", " ", "\t", "\x1b[31m", "a\r", "a\x0b", "a\x0c", "a\x85", "a\u2028", "\ufeff", "\0"):
            print(f"{start}::{name}::passed", flush=True)
        print(f"text ##[{name}]passed", flush=True)
    print("::stop-commands::hostile", flush=True)
    print("::add-matcher::/github/workspace/matcher.json", flush=True)


def _folders_of_events() -> list[Path]:
    return [path for path in Path("/tmp").glob("scoregate-events-*/events") if str(path) != EVENTS]


def _others_logs() -> list[Path]:
    paths = [Path(folder, name) for folder in _folders_of_events() for name in _names(str(folder))]
    guessed = [
        folder / f"{pid}-{number}.jsonl" for folder in _folders_of_events() for pid in neighbours() for number in (0, 1)
    ]
    return paths or guessed


@attempt("events of another suite")
def rewrite_scores() -> object:
    def rewrite(path: Path) -> object:
        text = path.read_text()
        path.write_text(text.replace('"score":0.0', '"score":1.0'))
        return "rewritten"

    return first_success(_others_logs(), rewrite)


@attempt("events of another suite")
def rewrite_scores_in_place() -> object:
    def rewrite(path: Path) -> object:
        with path.open("r+b") as file:
            return file.write(b"{")

    return first_success(_others_logs(), rewrite)


@attempt("events of another suite")
def append_events() -> object:
    return first_success(_others_logs(), _append)


@attempt("events of another suite")
def list_logs() -> object:
    return first_success(_folders_of_events(), os.listdir)


@attempt("events of another suite")
def new_log() -> object:
    return first_success([folder / "0-0.jsonl" for folder in _folders_of_events()], _append)


@attempt("events of another suite")
def rename_the_folder_of_events() -> object:
    return first_success(_folders_of_events(), lambda path: path.rename(path.with_name("moved")))


@attempt("events of another suite")
def replace_the_folder_of_events() -> object:
    def replaced(path: Path) -> object:
        path.parent.rename(f"{path.parent}-moved")
        path.mkdir(parents=True)
        return "replaced"

    return first_success(_folders_of_events(), replaced)


@attempt("events of another suite")
def by_its_working_folder() -> object:
    paths = [Path(f"/proc/{pid}/root/tmp") for pid in neighbours()]
    return first_success(paths, lambda path: list(path.glob("scoregate-events-*")))


@attempt("events of another suite")
def its_home() -> object:
    def plant(path: Path) -> object:
        (path / ".config").mkdir(exist_ok=True)
        return _append(path / ".config" / "planted")

    homes = [path for path in Path("/tmp").glob("scoregate-*/home") if str(path) != os.environ["HOME"]]
    return first_success(homes, plant)


@attempt("events of another suite")
def its_caches() -> object:
    homes = [path for path in Path("/tmp").glob("scoregate-*/home") if str(path) != os.environ["HOME"]]
    places = [home / name for home in homes for name in (".cache/uv", ".cache/pip", ".cache/huggingface", ".local/lib")]

    def plant(path: Path) -> object:
        path.mkdir(parents=True, exist_ok=True)
        return _append(path / "planted")

    return first_success([*places, Path("/root/.cache/uv"), Path("/github/home/.cache/pip")], plant)


@attempt("events of another suite")
def signals_to_others() -> object:
    for pid in neighbours():
        with contextlib.suppress(OSError):
            os.kill(pid, 0)
            return pid
    return None


@attempt("events of another suite")
def odd_files_among_own_logs() -> object:
    """The host must not hang or fail over them."""
    folder = Path(EVENTS)
    with contextlib.suppress(OSError):
        os.mkfifo(folder / "fifo.jsonl")
    with contextlib.suppress(OSError):
        (folder / "folder.jsonl").mkdir()
    with contextlib.suppress(OSError):
        socket.socket(socket.AF_UNIX).bind(str(folder / "socket.jsonl"))
    with contextlib.suppress(OSError):
        os.mknod(folder / "device.jsonl", stat.S_IFBLK | 0o600, os.makedev(7, 0))


@attempt("reports")
def write_a_report() -> object:
    return first_success(
        [OUT / name for name in ("junit.xml", "report.html", "run/run.json", "new.txt", "run/new.txt")], _append
    )


@attempt("reports")
def write_the_record() -> object:
    return first_success([*OUT.rglob("*"), *OUT.rglob(".*")], lambda path: path.is_file() and _append(path))


@attempt("reports")
def change_the_folders_mode() -> object:
    return first_success([OUT, OUT / "run"], lambda path: path.chmod(0o777) or "chmod")


@attempt("reports")
def delete_the_record() -> object:
    return first_success([*(OUT / "run").iterdir()], lambda path: path.unlink() or "deleted")


@attempt("reports")
def move_the_record() -> object:
    return first_success([OUT / "run"], lambda path: path.rename("run-moved"))


@attempt("reports")
def link_the_record() -> object:
    return first_success([*(OUT / "run").iterdir()], lambda path: os.link(path, "record-link") or "linked")


@attempt("reports")
def write_over_handles_of_the_host() -> object:
    return first_success([Path(f"/proc/1/fd/{number}") for number in range(3, 30)], _append)


@attempt("reports")
def rename_the_folder_and_plant_another() -> object:
    """Whoever may write to the workspace can do this; the test looks at what is there in the end."""
    OUT.rename("scoregate-out-moved")
    (OUT / "run").mkdir(parents=True)
    for name in ("junit.xml", "run/run.json", "result.json", "planted.txt"):
        (OUT / name).write_text('{\n  "schema_version": 1, "planted": true}')
    for name in ("report.html", "comment.md"):
        (OUT / name).symlink_to("/github/file_commands/hostile")


@attempt("reports")
def plant_a_link_in_its_place() -> object:
    OUT.rename("scoregate-out-planted")
    OUT.symlink_to("/github/file_commands")
