"""A forked script behaves as one that a new Python runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from tests.warm_scripts import warm_scripts

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux forks scripts; elsewhere a new Python starts"),
]
SHOW = """
import atexit, inspect, os, signal, sys, threading
import scoregate.testing.run, helper
main = sys.modules["__main__"]
print(__name__, __file__, __package__, __spec__, __doc__, __builtins__, type(__loader__).__name__, main.SHOWN)
print(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.executable, os.getcwd(), sorted(globals()), sep="\\n")
print(dict(sorted(os.environ.items())))
print(os.getsid(0) == os.getpid() == os.getpgid(0), sys.stdin.read() == "", os.listdir("/proc/self/fd"), sep="\\n")
print([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)])
streams = sys.stdin, sys.stdout, sys.stderr
print([(each.isatty(), each.encoding, each.errors, each.line_buffering) for each in streams])
print([each.name for each in threading.enumerate()], threading.main_thread() is threading.current_thread())
print(helper.__file__, inspect.stack()[0], sep="\\n")
print(len({os.urandom(4)}), "pytest" in sys.modules, "openai" in sys.modules, "httpx" in sys.modules)
atexit.register(print, "the end")
threading.Timer(0.3, print, ["a thread"]).start()
"""
ENDS = {
    "end": "",
    "code": "sys.exit(3)",
    "text": "sys.exit('no')",
    "error": "def fail():\n    raise ValueError('x') from KeyError('y')\nfail()",
    "interrupt": "os.kill(os.getpid(), signal.SIGINT)",
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "abort": "os.abort()",
    "_exit": "os._exit(7)",
    "syntax": "def",
}


async def open_script(folder: Path, environ: dict[str, str]) -> Process:
    """As `scoregate.ci.process` does it."""
    return await anyio.open_process(
        (sys.executable, "evals/a.py"), cwd=folder, env=environ,
        stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


async def run(folder: Path, environ: dict[str, str]) -> tuple[str, str, int]:
    process = await open_script(folder, environ)
    async with process:
        assert process.stdout is not None
        output = b"".join([part async for part in process.stdout]).decode()
        return type(process).__name__, re.sub(r"0x[0-9a-f]+", "0x…", output), await process.wait()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "evals").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "evals" / "helper.py").touch()
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(tmp_path / "lib"), str(tmp_path)]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "SCOREGATE_MARK": "ä\n'"}


@pytest.mark.parametrize("end", ENDS)
async def test_it_sees_and_leaves_the_same(tmp_path: Path, environ: dict[str, str], end: str) -> None:
    script = tmp_path / "evals" / "a.py"
    script.write_text(f"SHOWN = 1\n{SHOW}\nsys.stdout.flush()\n{ENDS[end]}\n")
    new = await run(tmp_path, environ)
    with warm_scripts():
        warm = await run(tmp_path, environ)
    assert new[0] != warm[0]
    assert new[1].splitlines() == warm[1].splitlines()
    assert new[2] == warm[2]
    assert ("helper.py" in new[1]) == (end != "syntax")


@pytest.mark.parametrize("path", ["evals/json.py", "evals/anyio/__init__.py", "lib/sitecustomize.py", "lib/click.py"])
async def test_a_module_of_the_project_hides_the_imported_one(
    tmp_path: Path, environ: dict[str, str], path: str
) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("print(__file__)")
    name = Path(path).parent.name if path.endswith("__init__.py") else Path(path).stem
    (tmp_path / "evals" / "a.py").write_text(f"import {name}\n")
    with warm_scripts():
        assert await run(tmp_path, environ) == ("_Forked", f"{tmp_path / path}\n", 0)


async def test_what_python_reads_at_its_start_is_not_warm(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "evals" / "a.py").write_text("import sys; print(sys.flags.optimize)")
    with warm_scripts():
        assert (await run(tmp_path, environ | {"PYTHONOPTIMIZE": "2"}))[1:] == ("2\n", 0)


async def test_its_end_is_not_that_of_its_output(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "evals" / "a.py").write_text(
        "import os, time\nprint(1, flush=True)\nos.close(1)\nos.close(2)\ntime.sleep(60)\n"
    )
    for start in (anyio.CancelScope, warm_scripts):
        with start():
            process = await open_script(tmp_path, environ)
        async with process:
            assert process.stdout is not None
            assert b"".join([part async for part in process.stdout]) == b"1\n"
            assert process.returncode is None
            process.terminate()
            assert (await process.wait(), process.returncode) == (-15, -15)
