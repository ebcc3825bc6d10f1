"""Attempts to become another user, to have the host run the suite's code, and to outlive the suite."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from harness import MOUNTS, attempt, first_success

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
HERE = Path.cwd()
# Writes its user into a file for the test.
SPY = f"#!/bin/sh\nid -u >> {HERE}/ran-by\nenv >> {HERE}/ran-with\ncat\n"
PYTHON_SPY = f"import os\nopen('{HERE}/ran-by', 'a').write(f'{{os.getuid()}}\\n')\n"


def _write(path: Path, text: str = SPY) -> object:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return "written"


@attempt("privileges")
def setuid_to_root() -> object:
    for change in (os.setuid, os.seteuid, os.setgid):
        with contextlib.suppress(OSError):
            change(0)
            return change.__name__
    return None


@attempt("privileges")
def groups_of_others() -> object:
    return os.setgroups([0, 998]) or "setgroups"


@attempt("privileges")
def setuid_programs() -> object:
    listing = subprocess.run(
        ["find", "/", "-xdev", "-perm", "/6000", "-type", "f"], capture_output=True, text=True, check=False
    )
    return listing.stdout.split() or None


@attempt("privileges")
def su_and_sudo() -> object:
    for arguments in (["sudo", "-n", "id"], ["su", "-c", "id"], ["newgrp", "root"], ["pkexec", "id"]):
        with contextlib.suppress(OSError):
            if (
                subprocess.run(
                    arguments, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=3
                ).returncode
                == 0
            ):
                return arguments
    return None


@attempt("privileges")
def root_of_a_user_namespace() -> object:
    """Some engines allow one; its root must have no rights to what others own."""
    user, pid = os.getuid(), os.fork()
    if pid:
        return os.waitpid(pid, 0)[1] == 0
    try:
        if LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0:
            Path("/proc/self/uid_map").write_text(f"0 {user} 1")
            targets = [Path(mount, "set_env_root") for mount in MOUNTS]
            if first_success(
                [*targets, Path("/etc/passwd"), Path("scoregate-out/x")], lambda path: path.open("a").write("x")
            ):
                os._exit(0)
            if first_success([Path("/proc/1/environ")], lambda path: path.read_bytes()):
                os._exit(0)
    finally:
        os._exit(1)


@attempt("privileges")
def mount_over_the_command_files() -> object:
    return any(LIBC.mount(b"none", os.fsencode(mount), b"tmpfs", 0, None) == 0 for mount in MOUNTS)


@attempt("privileges")
def change_the_root() -> object:
    return os.chroot("/tmp") or "chroot"


@attempt("privileges")
def namespaces_of_the_host() -> object:
    def enter(path: Path) -> object:
        with path.open() as file:
            return LIBC.setns(file.fileno(), 0) == 0

    return first_success([Path(f"/proc/1/ns/{name}") for name in ("mnt", "user", "pid", "net")], enter)


@attempt("privileges")
def capabilities() -> object:
    status = Path("/proc/self/status").read_text()
    return next((line for line in status.splitlines() if line.startswith("CapEff") and int(line.split()[1], 16)), None)


@attempt("privileges")
def files_of_the_system() -> object:
    names = (
        "passwd",
        "shadow",
        "sudoers",
        "ld.so.preload",
        "ld.so.conf.d/x.conf",
        "gitconfig",
        "profile.d/x.sh",
        "cron.d/x",
        "crontab",
    )
    return first_success([Path("/etc", name) for name in names], _write)


@attempt("privileges")
def scheduled_jobs() -> object:
    return first_success(
        [Path(name) for name in ("/var/spool/cron/crontabs/root", "/var/spool/at/x", "/etc/cron.hourly/x")], _write
    )


@attempt("privileges")
def control_groups() -> object:
    paths = [Path(folder, name) for folder, _, names in os.walk("/sys/fs/cgroup") for name in names]
    return first_success([path for path in paths if os.access(path, os.W_OK)][:50], lambda path: path.write_text("1"))


@attempt("the host")
def packages_of_the_host() -> object:
    packages = [Path(path) for path in ("/opt/scoregate/lib", "/usr/local/lib")]
    names = ("sitecustomize.py", "x.pth", "scoregate/__init__.py", "anyio/__init__.py")
    sites = [site for package in packages for site in package.glob("python3*/site-packages")]
    return first_success([site / name for site in sites for name in names], lambda path: _write(path, PYTHON_SPY))


@attempt("the host")
def programs_of_the_host() -> object:
    names = (
        "/usr/local/bin/git",
        "/usr/bin/git",
        "/usr/local/bin/uv",
        "/opt/scoregate/bin/python",
        "/opt/scoregate/bin/git",
    )
    return first_success([Path(name) for name in names], _write)


@attempt("the host")
def the_sdk_that_is_added() -> object:
    return first_success([*Path("/opt/scoregate-sdk").iterdir(), Path("/opt/scoregate-sdk/x.whl")], _write)


@attempt("the host")
def modules_of_the_workspace() -> object:
    """The host must not import them; the test looks at who ran them."""
    for name in ("sitecustomize.py", "usercustomize.py", "click.py", "anyio.py", "pydantic/__init__.py"):
        _write(HERE / "planted" / name, PYTHON_SPY)
    _write(HERE / "sitecustomize.py", PYTHON_SPY)


@attempt("the host")
def configuration_of_git() -> object:
    """The host asks git questions; the test looks at who ran what this names."""
    _write(HERE / "spy.sh")
    (HERE / ".gitattributes").write_text("* filter=spy diff=spy merge=spy\n")
    names = """
        core.fsmonitor core.pager core.editor core.sshCommand core.alternateRefsCommand diff.external diff.spy.textconv
        filter.spy.clean filter.spy.smudge filter.spy.process merge.spy.driver credential.helper gpg.program
        uploadpack.packObjectsHook"""
    for name in names.split():
        subprocess.run(["git", "config", name, str(HERE / "spy.sh")], check=False)
    subprocess.run(["git", "config", "core.hooksPath", str(HERE / "hooks")], check=False)
    for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        _write(HERE / "hooks" / hook)
        _write(HERE / ".git" / "hooks" / hook)


@attempt("the host")
def kill_the_host() -> object:
    for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(OSError):
            os.kill(1, number)
            return number
    return None


@attempt("the host")
def limits_of_the_host() -> object:
    return resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3)) and "prlimit"


@attempt("the host")
def priority_of_the_host() -> object:
    names = ("oom_score_adj", "oom_adj", "comm")
    return first_success([Path("/proc/1", name) for name in names], lambda path: path.write_text("1000"))


@attempt("lasting")
def daemons() -> object:
    """The test looks whether any of them lives, or has written anything, after the suite."""
    interval = HERE / "beat"
    targets = " ".join(f"{mount}/*" for mount in MOUNTS)
    loop = (
        f"while :; do echo x >> {interval}; for f in {targets}; do echo HOSTILE=1 >> $f; done 2>/dev/null;"
        " echo late > scoregate-out/junit.xml; sleep 0.05; done"
    )
    ways = (
        ["env", "-i", "setsid", "sh", "-c", loop],
        ["setsid", "nohup", "env", "-i", "sh", "-c", f"({loop}) & exit 0"],
        ["setsid", "sh", "-c", f"trap '' TERM INT HUP QUIT; ({loop}) &"],
    )
    for words in ways:
        subprocess.Popen(words, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@attempt("lasting")
def stopped_process() -> object:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)


@attempt("lasting")
def process_that_keeps_forking() -> object:
    """A chain in which each process starts the next and ends: whoever lists processes is late."""
    pid = os.fork()
    if pid:
        return
    os.setsid()
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        with contextlib.suppress(OSError):
            if os.fork():
                os._exit(0)
            (HERE / "beat").open("a").write("x")
            time.sleep(0.001)
    os._exit(0)


@attempt("lasting")
def setuid_file_in_the_workspace() -> object:
    """For whoever runs it later as somebody who matters; the test looks at its mode afterwards."""
    shutil.copy("/bin/sh", HERE / "shell")
    (HERE / "shell").chmod(0o6755)


@attempt("lasting")
def shared_memory() -> object:
    """The next suite looks for it, with the rights of another user."""
    Path("/dev/shm/hostile").write_bytes(b"x" * 1024)
    Path("/dev/shm/hostile").chmod(0o600)


@attempt("lasting")
def abstract_sockets() -> object:
    """Names that belong to whoever comes first; the host uses none."""
    connection = socket.socket(socket.AF_UNIX)
    connection.bind("\0scoregate")
    globals()["_kept"] = connection


@attempt("lasting")
def fill_shared_memory() -> object:
    with contextlib.suppress(OSError), Path("/dev/shm/full").open("wb") as file:
        for _ in range(256):
            file.write(b"\0" * (1 << 20))
    Path("/dev/shm/full").unlink(missing_ok=True)


@attempt("lasting")
def exhaust_process_ids() -> object:
    """Sleeping processes until there are no more; the host must still be able to start one."""
    for _ in range(100_000):
        try:
            if os.fork() == 0:
                os.setsid()
                time.sleep(120)
                os._exit(0)
        except OSError:
            return
    sys.exit("no limit")


@attempt("lasting")
def deep_folders() -> object:
    """The host deletes these, and gives those of the workspace back: neither may fail."""
    for top in (HERE / "deep", Path(os.environ["HOME"])):
        top.mkdir(exist_ok=True)
        os.chdir(top)
        with contextlib.suppress(OSError):
            for _ in range(1_500):
                Path("d").mkdir()
                os.chdir("d")
    os.chdir(HERE)
