"""What a process of `scoregate run --watch` executes: it imports scoregate, waits, and then runs one script.

The host passes this file as text to the suites' Python (`python -c`), so it uses only the standard library. The script
runs as `python SCRIPT` would run it, and finds no module of the project imported. If that can't be ensured, because a
file of scoregate changed since the process started, the process replaces itself by that very command.

While the script runs, an audit hook appends the files of the project that it opens to a file for the host, each
ended by a NUL: `r` and the path for reading, `w` for writing. `?` alone means that other processes may read more.
"""

# It imports nothing that scoregate doesn't import.
# ruff: noqa: PTH100, PTH113, PTH116, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import builtins
import contextlib
import importlib
import json
import os
import sys
import time
from importlib.machinery import SourceFileLoader
from types import TracebackType
from typing import Any

_OURS = ("<string>", "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_MODULES = (
    "scoregate.testing.run",
    "scoregate.evals",
    "scoregate.scorers",
    "scoregate.engine.results",
    "asyncio",
    "anyio._backends._asyncio",
)
# Other processes and SQLite open files that no hook sees.
_OPENS_MORE = {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"}
_OPENS = {"open", "sqlite3.connect"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CODE = (".py", ".pyc", ".so")


def wait() -> None:
    """Import scoregate, wait for a request on the standard input, and run its script."""
    started = time.time()
    for name in _MODULES:
        with contextlib.suppress(Exception):  # another version of scoregate has other modules
            importlib.import_module(name)
    text = b"".join(iter(lambda: os.read(0, 1 << 16), b""))
    if not text:
        os._exit(0)  # the host needs no further process
    request: dict[str, Any] = json.loads(text)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    # A process with an old module would measure code that no file has any more.
    if not _is_fresh(request["argv"][1], started):
        os.execve(request["argv"][0], request["argv"], request["environ"])
    os.environ.update(request["environ"])  # the host starts it with all others
    _run_script(request)


def _is_fresh(script: str, started: float) -> bool:
    """Whether a new process would import the same files."""
    files = {name: getattr(module, "__file__", None) or "" for name, module in list(sys.modules.items())}
    # A clock of the file system may lag behind by some milliseconds.
    if any(path and _is_modified(path, started - 0.1) for path in files.values()):
        return False
    folders = [os.path.dirname(os.path.realpath(script))]
    folders += os.environ.get("PYTHONPATH", "").split(os.pathsep)
    # As Python itself: the script's folder comes first.
    return not any(_hides_module(folder, files) for folder in folders if folder)


def _is_modified(path: str, since: float) -> bool:
    try:
        return os.stat(path).st_ctime >= since
    except OSError:
        return False  # it is in an archive, or built in


def _hides_module(folder: str, files: dict[str, str]) -> bool:
    """Whether a folder of the project has a module with the name of one that is imported from elsewhere."""
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder):
            name = entry.split(".")[0]
            if name not in files or files[name].startswith(os.path.join(folder, "")):
                continue
            is_package = os.path.isfile(os.path.join(folder, entry, "__init__.py"))
            if entry.endswith(_CODE) or is_package:
                return True
    return False


def _run_script(request: dict[str, Any]) -> None:
    script = request["argv"][1]
    path = os.path.abspath(script)
    with open(path, "rb") as file:
        source = file.read()
    _record_files(script, request["root"], request["files"])
    sys.argv[:] = [script]
    if not sys.flags.safe_path:  # with -P or PYTHONSAFEPATH, the first entry is not the script's folder
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = sys.modules["__main__"]
    # The script must not see names of this file.
    vars(main).clear()
    vars(main).update(
        __name__="__main__", __file__=path, __builtins__=builtins, __doc__=None, __package__=None, __spec__=None
    )
    vars(main)["__loader__"] = SourceFileLoader("__main__", path)
    sys.excepthook = _print_exception
    exec(compile(source, path, "exec", dont_inherit=True), vars(main))


def _print_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print a traceback without the frames of this file."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
        traceback = traceback.tb_next
    sys.__excepthook__(kind, error.with_traceback(traceback), traceback)


def _record_files(script: str, root: str, record: str) -> None:
    handle = os.open(record, os.O_WRONLY | os.O_APPEND)
    start = os.path.join(root, "")
    seen = set()

    def note(entry: str) -> None:
        if entry not in seen:
            seen.add(entry)
            os.write(handle, os.fsencode(entry) + b"\0")

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event not in _OPENS and event not in _OPENS_MORE:
            return
        # An error of the hook would be an error of the script.
        with contextlib.suppress(Exception):
            if event in _OPENS_MORE:
                note("?")
                return
            if isinstance(args[0], int):  # opened by its handle, so its path was seen before
                return
            path = os.path.abspath(os.fsdecode(args[0]))
            is_written = event != "open" or bool(args[2] & _WRITES)
            if path.startswith(start):
                note(("w" if is_written else "r") + path)

    note(f"r{os.path.abspath(script)}")
    sys.addaudithook(hook)


wait()
