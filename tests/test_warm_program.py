"""The program that forks a warm command line behaves as the real one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.integration.host.conftest import suite
from tests.waiting import wait_until
from tests.warm_program import program_command, program_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux has this program")
REAL = Path(sys.executable).parent
SUITE = suite("import os, sys\nprint('seen', os.fstat(0).st_size, sys.argv, os.getcwd(), os.environ['MARK'])")


@pytest.fixture
def environ() -> dict[str, str]:
    dropped = ("PYTHON", "SCOREGATE_", "GITHUB_", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**environment, "MARK": "ä\n'=b"}


def run(folder: Path, command: list[str], cwd: Path, environ: Mapping[str, str]) -> tuple[int, str, str]:
    environment = {**environ, "PATH": f"{folder}{os.pathsep}{REAL}{os.pathsep}{environ['PATH']}"}
    process = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, input="yes", check=False
    )
    # pip writes the interpreter by the name that it was called by, `python3` or `python`.
    return process.returncode, process.stdout.replace(f"{REAL / 'python3'} ", f"{REAL / 'python'} "), process.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["scoregate", "settings"],
        ["scoregate", "no-such-command"],
        ["scoregate", "run", "--baseline"],
        ["bash", "-ec", "umask 027; scoregate --help | head -n 3; scoregate list 2>&1 > list.txt; cat list.txt"],
        ["bash", "-ec", "exec scoregate list nothing"],
    ],
)
def test_it_prints_and_returns_the_same(tmp_path: Path, environ: dict[str, str], command: list[str]) -> None:
    (tmp_path / "eval_a.py").write_text(SUITE)
    assert run(program_folder(), command, tmp_path, environ) == run(REAL, command, tmp_path, environ)


def test_a_run_stores_the_same(tmp_path: Path, environ: dict[str, str]) -> None:
    results = []
    for name, folder in (("real", REAL), ("warm", program_folder())):
        root = tmp_path / name
        root.mkdir()
        (root / "eval_a.py").write_text(SUITE)
        code, out, err = run(folder, ["scoregate", "run", "--baseline", "none"], root, environ)
        line = next(line for line in out.splitlines() if "| seen" in line)
        files = sorted((path.name, path.stat().st_mode) for path in root.rglob("*") if "__pycache__" not in path.parts)
        results.append((code, line.replace(name, "project"), err, files))
    assert results[0] == results[1]
    assert results[0][0] == 0


def test_startup_files_of_python_are_read(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('a new Python', flush=True)")
    environment = {**environ, "PYTHONPATH": str(tmp_path)}
    assert run(program_folder(), ["scoregate", "--version"], tmp_path, environment)[1].startswith("a new Python\n")


def test_a_terminal_is_that_of_the_command(tmp_path: Path, environ: dict[str, str]) -> None:
    """It prints as on a terminal, and the keys of it are signals."""
    body = "import time\nopen('began', 'w').close()\ntime.sleep(60)"
    (tmp_path / "eval_a.py").write_text(suite(body))
    in_window = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    )
    seen = []
    for command in ([sys.executable, "-c", in_window, str(REAL / "scoregate")], program_command()):
        (tmp_path / "began").unlink(missing_ok=True)
        ours, theirs = os.openpty()
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        with subprocess.Popen(
            [*command, "run"], cwd=tmp_path, env=environ, start_new_session=True, **streams
        ) as process:
            os.close(theirs)
            wait_until((tmp_path / "began").exists)
            os.write(ours, b"\x03")
            output = read_terminal(ours)
            seen.append((process.wait(120), b"\x1b[?25l" in output, b"interrupted" in output, output.count(b"\r\n")))
        os.close(ours)
    assert seen[0] == seen[1]
    assert seen[0][:2] == (130, True)


def read_terminal(handle: int) -> bytes:
    output = b""
    with contextlib.suppress(OSError):  # its other side has closed
        while data := os.read(handle, 65_536):
            output += data
    return output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it(tmp_path: Path, environ: dict[str, str], number: signal.Signals) -> None:
    (tmp_path / "eval_a.py").write_text(f"{SUITE}\nimport time\nopen('began', 'w').close()\ntime.sleep(60)\n")
    codes = []
    for folder in (REAL, program_folder()):
        (tmp_path / "began").unlink(missing_ok=True)
        command = [str(folder / "scoregate"), "run", "--baseline", "none"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, cwd=tmp_path, env=environ, **quiet) as process:  # type: ignore[call-overload]
            limit = time.monotonic() + 120
            while not (tmp_path / "began").exists():
                assert time.monotonic() < limit
                time.sleep(0.02)
            process.send_signal(number)
            codes.append(process.wait(120))
    assert codes[0] == codes[1]
