"""What `tests/warm_scripts.py` executes: it imports scoregate, and forks itself for every script that it is asked for.

A request is a JSON object on the standard input, with two file descriptors: of the script's output, and of its status.
The status is the process id in one line, and the exit code in a second one when the process has ended.
"""

# It imports nothing that scoregate doesn't import, except for `array`, which receives the file descriptors.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import builtins
import contextlib
import gc
import importlib
import json
import os
import select
import site
import socket
import sys
from importlib.machinery import SourceFileLoader
from types import TracebackType
from typing import Any

_OURS = ("<string>", "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_CODE = (".py", ".pyc", ".so")
_MODULES = (
    "scoregate.testing.run",
    "scoregate.testing.evaluators",
    "scoregate.evals",
    "scoregate.scorers",
    "scoregate.engine.completion",
    "scoregate.engine.results",
    "asyncio",
    "anyio._backends._asyncio",
)


def serve() -> dict[str, Any]:
    """Fork for every request. Returns only in a forked process: its request."""
    del sys.path[0]  # the working directory
    for name in _MODULES:
        importlib.import_module(name)
    gc.freeze()
    requests = socket.socket(fileno=os.dup(0))  # its own, as 0 is what scripts read
    running: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([requests, *running], [], [])
        for handle in ready:
            if handle is not requests:
                pid, status = running.pop(handle)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                os.close(handle)
                with contextlib.suppress(OSError):
                    os.write(status, b"%d\n" % code)
                os.close(status)
                continue
            text, handles, _, _ = socket.recv_fds(requests, 1 << 20, 2)
            if not text:
                os._exit(0)
            output, status = handles
            if not (pid := os.fork()):
                requests.close()
                for number in running:
                    os.close(number)
                for _, number in running.values():
                    os.close(number)
                return _begin(json.loads(text), output, status)
            os.close(output)
            running[os.pidfd_open(pid)] = pid, status


def _begin(request: dict[str, Any], output: int, status: int) -> dict[str, Any]:
    """Give this process what the host starts a process with."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    for number, handle in enumerate((null, output, output)):
        os.dup2(handle, number)
    os.write(status, b"%d\n" % os.getpid())
    for handle in (null, output, status):
        os.close(handle)
    os.chdir(request["cwd"])
    folders = [os.path.abspath(each) for each in request["environ"].get("PYTHONPATH", "").split(os.pathsep) if each]
    ours = [os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    script = os.path.dirname(os.path.realpath(request["argv"][1]))
    if sys.path[: len(ours)] != ours or any(_hides_module(each) for each in {script, *folders}.difference(ours)):
        os.execve(request["argv"][0], request["argv"], request["environ"])
    sys.path[: len(ours)] = folders
    site.removeduppaths()
    sys.path.insert(0, script)
    os.environ.clear()
    os.environ.update(request["environ"])
    return request


def _hides_module(folder: str) -> bool:
    """Whether a new Python would import a module of the folder that is imported from elsewhere, or at its start."""
    names = {*sys.modules, "sitecustomize", "usercustomize"}
    with contextlib.suppress(FileNotFoundError):
        return any(
            entry.split(".")[0] in names and (entry.endswith(_CODE) or os.path.isdir(os.path.join(folder, entry)))
            for entry in os.listdir(folder)
        )
    return False


def _prepare(script: str) -> Any:
    """The code of a script, in a `__main__` that looks as it does for `python SCRIPT`."""
    path = os.path.abspath(script)
    with open(path, "rb") as file:
        source = file.read()
    sys.argv[:] = [script]
    sys.orig_argv[1:] = [script]
    sys.excepthook = _print_exception
    main = vars(sys.modules["__main__"])
    del main["sys"]
    main.update(__name__="__main__", __file__=path, __builtins__=builtins, __spec__=None, __cached__=None)
    main["__loader__"] = SourceFileLoader("__main__", path)
    return compile(source, path, "exec", dont_inherit=True)


def _print_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print a traceback without the frames of this file."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
        traceback = traceback.tb_next
    sys.__excepthook__(kind, error.with_traceback(traceback), traceback)


exec(_prepare(serve()["argv"][1]), vars(sys.modules["__main__"]))
