"""A program `scoregate` that forks from a process which has the command line imported.

The imports are most of what a command costs. The pages of the documentation start some hundreds, by shell scripts, so
calling the command line in the process of the tests (`tests/cli.py`) isn't enough. This program passes its arguments,
environment, folder and standard streams on, and ends as the forked process ends. A terminal becomes that of the forked
process, unless it is already that of a session, as in a shell. Then, and where Python would start differently, it
becomes the real program.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.warm_scripts import READ_AT_START

ROOT = Path(__file__).parent.parent
# `-ISs` leaves out what Python otherwise reads at its start, which takes longer than all that this does.
_PROGRAM = '#!/bin/sh\nexec "{python}" -ISs "{source}" "{real}" "$@"\n'
_SOURCE = """
import _socket, os, signal, sys

READ_AT_START = {names!r}
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP

def become_real(*_):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    os.execv(sys.argv[1], sys.argv[1:])

def is_of_session():
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True

def call():
    # The forked process may already serve before they can be passed on.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # as in the background of a shell
    found = {{name: value for name, value in os.environ.items() if name.startswith(READ_AT_START)}}
    if found.get("PYTHONPATH") == {path!r}:  # the forked process has scoregate from there
        del found["PYTHONPATH"]
    if found != {startup!r} or ignored != {ignored} or any(map(os.isatty, range(3))) and is_of_session():
        become_real()
    umask = os.umask(0)
    os.umask(umask)
    environ = [f"{{name}}={{value}}" for name, value in os.environ.items()]
    text = "\\0".join([os.getcwd(), str(umask), str(len(sys.argv) - 1), *sys.argv[1:], *environ])
    caller = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    try:
        caller.connect("\\0{address}")
        caller.sendmsg([os.fsencode(text)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    except OSError:  # the environment is too large for a message
        become_real()
    pid = int(caller.recv(100))
    for each in SIGNALS:
        signal.signal(each, lambda number, _: os.kill(pid, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    return int(caller.recv(100))

code = call()
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@cache
def program_folder() -> Path:
    """A folder with the program, for PATH. Elsewhere than on Linux, that of the real one."""
    real = Path(sys.executable).with_name("scoregate")
    if not hasattr(os, "pidfd_open"):
        return real.parent
    folder = Path(tempfile.mkdtemp(prefix="scoregate-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SCOREGATE_"))}
    startup = {name: value for name, value in environ.items() if name.startswith(READ_AT_START)}
    environ["PYTHONPATH"] = str(ROOT / "src")
    source = folder / "call.py"
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # which the process below inherits
    values = {"startup": startup, "path": environ["PYTHONPATH"], "address": folder.name, "ignored": ignored}
    text = _SOURCE.format(names=READ_AT_START, **values)
    source.write_text(text, encoding="utf-8")
    path = folder / "bin" / "scoregate"
    path.parent.mkdir()
    path.write_text(_PROGRAM.format(python=sys.executable, source=source, real=real), encoding="utf-8")
    path.chmod(0o755)
    # It ends with this process, which then closes the pipe. Python treats pipes and files in different ways.
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forked_program", folder.name], cwd=ROOT, env=environ,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n", "tests/forked_program.py hasn't started"
    atexit.register(_stop, process)
    return path.parent


def program_command() -> list[str]:
    """The program as a command, which keeps variables that shells drop, such as INPUT_GITHUB-TOKEN."""
    folder = program_folder()
    source = folder.with_name("call.py")
    if not source.exists():
        return [str(folder / "scoregate")]
    return [sys.executable, "-ISs", str(source), str(Path(sys.executable).with_name("scoregate"))]


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.communicate()
