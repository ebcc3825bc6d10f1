"""What `tests/warm_scripts.py` executes: it imports scoregate, and forks itself for every script that it is asked for.

A request is a JSON object on the standard input, with file descriptors: of the script's output, of its status, of its
errors, unless these belong to the output, and of the process that forks the suites that the script starts.
The status is the process id in one line, and the exit code in a second one when the process has ended.
"""

# It imports nothing that scoregate doesn't import, except for `array`, which receives the file descriptors.
# ruff: noqa: PTH100, PTH109, PTH112, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import atexit
import builtins
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import site
import socket
import sys
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType, TracebackType
from typing import Any

_OURS = ("<string>", "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_CODE = (".py", ".pyc", ".so")
_FEWEST = 2  # arguments: without other modules than these
_MODULES = (
    "scoregate.testing.run",
    "scoregate.testing.evaluators",
    "scoregate.evals",
    "scoregate.scorers",
    "scoregate.engine.exit_status",
    "scoregate.engine.own_events",
    "scoregate.engine.results",
    "scoregate.models",
    "scoregate.client",
    "scoregate.entities.suite_files",
    "scoregate.skills.suite",
    "asyncio",
    "anyio._backends._asyncio",
)


def serve() -> dict[str, Any]:
    """Fork for every request. Returns only in a forked process: its request."""
    del sys.path[0]  # the working directory
    for name in (*_MODULES, *sys.argv[2:]):
        importlib.import_module(name)
    _import_client()
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
            text, handles, _, _ = socket.recv_fds(requests, 1 << 20, 4)
            if not text:
                os._exit(0)
            output, status, *errors = handles
            if not (pid := os.fork()):
                requests.close()
                for number in running:
                    os.close(number)
                for _, number in running.values():
                    os.close(number)
                return _begin(json.loads(text), output, status, errors)
            for each in (output, *errors):
                os.close(each)
            running[os.pidfd_open(pid)] = pid, status


class _Hidden:
    """Modules that are imported, but not in `sys.modules` until the script imports them: scoregate looks for some."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}

    def add(self, family: str) -> None:
        """Hide a package with all that is below it."""
        for name in [each for each in sys.modules if each.partition(".")[0] == family]:
            self.modules[name] = sys.modules.pop(name)

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """The specification with which a hidden package comes back."""
        if "." in name or name not in self.modules:
            return None
        found = getattr(self.modules[name], "__spec__")  # noqa: B009
        spec = ModuleSpec(name, _Back(), origin=found.origin)
        spec.submodule_search_locations, spec.has_location = found.submodule_search_locations, True
        return spec


class _Back(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _HIDDEN.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Let the package come back, and before it the HTTP library that it imports."""
        if module.__name__ == "openai":
            importlib.import_module(_http_library(module))
        for name in [each for each in _HIDDEN.modules if each.startswith(f"{module.__name__}.")]:
            sys.modules[name] = _HIDDEN.modules[name]


def _http_library(openai: Any) -> str:
    return str(type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0])


_HIDDEN = _Hidden()


def _import_client() -> None:
    """Import what a question to a model imports, which takes longer than all else that a small suite does.

    With other modules than scoregate's, only if it is one of them.
    """
    if len(sys.argv) > _FEWEST and "openai" not in sys.argv:
        return
    with contextlib.suppress(ImportError):
        openai: Any = importlib.import_module("openai")
        importlib.import_module("openai.resources.chat.completions")
        importlib.import_module("genai_prices.data")
        openai.DefaultHttpxClient(verify=False).close()  # imports the rest of its HTTP library
        for family in ("openai", _http_library(openai)):
            _HIDDEN.add(family)
        sys.meta_path.insert(0, _HIDDEN)


def _begin(request: dict[str, Any], output: int, status: int, errors: list[int]) -> dict[str, Any]:
    """Give this process what the host starts a process with."""
    os.setsid()
    errors, suites = errors[:1], errors[1:]
    null = os.open(os.devnull, os.O_RDONLY)
    for number, handle in enumerate((null, output, *(errors or [output]))):
        os.dup2(handle, number)
    os.write(status, b"%d\n" % os.getpid())
    for handle in (null, output, status, *errors):
        os.close(handle)
    os.chdir(request["cwd"])
    signal.signal(signal.SIGINT, signal.SIG_IGN if request["ignores_interrupt"] else signal.default_int_handler)
    folders = [os.path.abspath(each) for each in request["environ"].get("PYTHONPATH", "").split(os.pathsep) if each]
    ours = [os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    is_isolated = request["argv"][1] == "-I"
    is_module = is_isolated or request["argv"][1] in ("-c", "-m")
    script = os.getcwd() if is_module else os.path.dirname(os.path.realpath(request["argv"][1]))
    is_recorded = bool(folders) and not is_isolated and _has_recorder(folders[0])
    others = {script, *(folders[1:] if is_recorded else folders)}.difference(ours)
    if sys.path[: len(ours)] != ours or any(_hides_module(each) for each in others):
        os.execve(request["argv"][0], request["argv"], request["environ"])
    sys.path[: len(ours)] = [] if is_isolated else folders
    site.removeduppaths()
    os.environ.clear()
    os.environ.update(request["environ"])
    for each in suites:
        os.environ["TESTS_WARM_SUITES"] = str(each)
    if is_recorded:
        _start_recorder()
    if not is_isolated:
        sys.path.insert(0, script)
    if is_recorded:
        PathFinder.find_spec("scoregate_searches_all_folders")  # as for the first import of a new Python
    return request


def _has_recorder(folder: str) -> bool:
    """Whether the folder only has the module with which scoregate records the files that a script uses."""
    with contextlib.suppress(OSError):
        if os.listdir(folder) == ["sitecustomize.py"]:
            with open(os.path.join(folder, "sitecustomize.py"), encoding="utf-8") as file:
                return file.read(1000).startswith('"""Records which files of a repository a Python process uses.')
    return False


def _start_recorder() -> None:
    """Import `sitecustomize`, as Python does at its start, and record what is imported already."""
    sys.modules.pop("sitecustomize", None)
    imported = set(sys.modules)
    importlib.import_module("sitecustomize")
    recorder: Any = sys.meta_path[0]
    recorder.modules.update(imported)


def _hides_module(folder: str) -> bool:
    """Whether a new Python would import a module of the folder that is imported from elsewhere, or at its start."""
    names = {*sys.modules, *_HIDDEN.modules, "sitecustomize", "usercustomize"}
    with contextlib.suppress(FileNotFoundError):
        return any(
            entry.split(".")[0] in names and (entry.endswith(_CODE) or os.path.isdir(os.path.join(folder, entry)))
            for entry in os.listdir(folder)
        )
    return False


def _prepare(argv: list[str]) -> Any:
    """The code of a script or a module, in a `__main__` that looks as it does for `python SCRIPT`, `-c` or `-m`."""
    sys.excepthook = _print_exception
    sys.orig_argv[1:] = argv[1:]
    argv = [each for each in argv[:2] if each != "-I"] + argv[2:]
    main = vars(sys.modules["__main__"])
    del main["sys"]
    if argv[1] == "-m":
        sys.argv[:] = argv[2:]
        return compile(f"__import__('runpy')._run_module_as_main({argv[2]!r})", "<string>", "exec")
    if argv[1] == "-c":
        sys.argv[:] = argv[1:2] + argv[3:]
        return compile(argv[2], "<string>", "exec", dont_inherit=True)
    path = os.path.abspath(argv[1])
    with open(path, "rb") as file:
        source = file.read()
    sys.argv[:] = argv[1:]
    main.update(__name__="__main__", __file__=path, __builtins__=builtins, __spec__=None, __cached__=None)
    main["__loader__"] = SourceFileLoader("__main__", path)
    return compile(source, path, "exec", dont_inherit=True)


def _print_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print a traceback without the frames of this file."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
        traceback = traceback.tb_next
    sys.__excepthook__(kind, error.with_traceback(traceback), traceback)


class _End:
    """How the script ended. Python then frees all that is imported, which takes longer than most scripts."""

    code: int | None = None

    def leave(self) -> None:
        """End the process without that, after all other functions of `atexit` and all threads.

        scoregate may need the normal end: it has the C library set exit code 3.
        """
        if self.code is not None and not vars(sys.modules["scoregate.engine.exit_status"])["_failing"]:
            with contextlib.suppress(AttributeError, OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(self.code & 0xFF)


_END = _End()
atexit.register(_END.leave)
_CODE_OF_SCRIPT = _prepare(serve()["argv"])
try:
    exec(_CODE_OF_SCRIPT, vars(sys.modules["__main__"]))
    _END.code = 0
except SystemExit as ended:
    _END.code = 1 if ended.code is not None and not isinstance(ended.code, int) else ended.code or 0
    raise
except Exception:
    _END.code = 1
    raise
