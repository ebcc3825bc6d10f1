"""Records which files of a repository a Python process uses. It runs before all other code of the process.

The host passes this file as text: as `sitecustomize.py` in a folder at the start of PYTHONPATH, or to `python -c`. So
it uses only the standard library, and the host replaces its one import by the text of recorder_rules.py.
SCOREGATE_DEPENDENCIES names the repository and the log, one per line. With a third line, `children`, the Python
processes that this one starts are recorded, too.

The log has an entry for each new use, ended by a NUL: a letter, and an absolute path or a text.

- `P` the process started, `E` it ended normally
- `r` a file was opened for reading, `w` for replacing it, `a` for writing to what is there, `s` a path was looked up
- `d` a file of rows was read by `evaluate(data=PATH)`, which makes a case of each
- `l` a folder was listed, `i` the import system listed a folder, `t` a package was installed from a folder
- `m` the name of a module that was imported, or that was looked for
- `n` native code was loaded that may read files unseen
- `?` why the log can't be complete
"""

# It imports nothing that Python doesn't import at its start, and no function that it replaces.
# ruff: noqa: PTH112, PTH113, PTH118, PTH119, PTH120

from __future__ import annotations

import _posixsubprocess
import _thread
import atexit
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from scoregate.kernel.run.dependencies.recorder_rules import (
    IMPORT_SYSTEM,
    LOCAL_MODELS,
    MODEL_URLS,
    SAFE_MODULES,
    UNSEEN_MODULES,
    describe_flags,
    is_harmless,
    is_local,
    is_provider,
    list_sources,
    reads_rows,
    to_address,
    uses_names_only,
    watch_lookup,
    watch_open,
)

_VARIABLE = "SCOREGATE_DEPENDENCIES"
_MOST_ENTRIES, _MOST_SEEN = 20_000, 200_000
_STAT_FUNCTIONS = ("stat", "lstat", "access", "readlink", "statvfs")
_PROCESSES = ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
# scoregate's own databases hold answers of models, and attach no other.
_OWN_DATABASES = "/scoregate/models/cache.py"
_TRACKER = "from multiprocessing.resource_tracker import"


class _Recorder:
    """Writes entries to the log; it never raises an error into the code that is recorded."""

    def __init__(self, top: str, log: str) -> None:
        self.start = os.path.join(top, "")
        own = {os.path.join(each, "") for each in (sys.prefix, sys.exec_prefix, sys.base_prefix)}
        # A repository may be below the prefix of the system's Python, such as /usr/src/app.
        self.left_out = tuple(each for each in own if not self.start.startswith(each))
        self.system = (*self.left_out, "/proc/", "/sys/", "/dev/", "/usr/", "/lib", "/etc/", "/opt/")
        self.seen: set[str] = set()
        self.modules: set[str] = set()
        self.written = 0
        self.pid = os.getpid()
        self.handle = os.open(log, os.O_WRONLY | os.O_APPEND)
        self.file = self.identify()
        addresses = {name: to_address(os.environ.get(name, "")) for name in MODEL_URLS}
        self.models = {each for name, each in addresses.items() if name in LOCAL_MODELS or not is_local(each)} - {""}
        self.fstat, self.write_bytes, self.getpid, self.realpath = os.fstat, os.write, os.getpid, os.path.realpath
        self.getcwd, self.readlink, self.access, self.listdir = os.getcwd, os.readlink, os.access, os.listdir
        self.in_folders: set[int] = set()  # the threads that open a file relative to an open folder
        self.busy: set[int] = set()  # the threads in which the recorder itself looks at files
        self.is_lost = False

    def identify(self) -> tuple[int, int]:
        """The identity of the log: the process may close it, and get its number for another file."""
        status = os.fstat(self.handle)
        return status.st_dev, status.st_ino

    def write(self, entry: str) -> None:
        """Append an entry. If the process closed the log, it gets no end."""
        if self.is_lost:
            return
        self.written += 1
        if self.written >= _MOST_ENTRIES:
            entry, self.is_lost = "?it uses too many files", True
        try:
            status = self.fstat(self.handle)
            if (status.st_dev, status.st_ino) == self.file:
                self.write_bytes(self.handle, os.fsencode(entry) + b"\0")
                return
        except OSError:
            pass
        self.is_lost = True

    def note(self, entry: str) -> None:
        """Append an entry if it is new."""
        if entry not in self.seen:
            self.seen.add(entry)
            self.write(entry)

    def note_path(self, kind: str, path: Any) -> None:
        """Append a path if it is new and in the repository."""
        name = os.fsdecode(path)
        if not name.startswith("/"):
            name = f"{self.getcwd()}/{name}"
        entry = kind + name
        thread = _thread.get_ident()
        if entry in self.seen or thread in self.busy:
            return
        if len(self.seen) > _MOST_SEEN:
            self.note("?it uses too many files")
            return
        self.seen.add(entry)
        is_inside = name.startswith(self.start)
        if "/../" in f"{name}/" or not (is_inside or name.startswith(self.system)):
            for end in range(len(name)) if is_inside else ():
                if name.startswith("/..", end):  # a link before `..` may lead elsewhere later
                    self.note_path("s", name[:end])
            self.busy.add(thread)
            try:
                name = self.realpath(name)
            finally:
                self.busy.discard(thread)
            is_inside = f"{name}/".startswith(self.start)
        if is_inside and not name.startswith(self.left_out):
            self.write(kind + os.path.normpath(name))

    def on_open(self, args: tuple[Any, ...]) -> None:
        path, flags = args[0], args[2]
        if not isinstance(path, int) and _thread.get_ident() not in self.in_folders:
            self.note_path("d" if reads_rows(path) else describe_flags(flags), path)

    def note_in_folder(self, kind: str, path: Any, folder: int) -> None:
        """Append a path that is relative to an open folder."""
        name = os.fsdecode(path)
        self.note_path(kind, name if name.startswith("/") else f"{self.readlink(f'/proc/self/fd/{folder}')}/{name}")

    def on_list(self, args: tuple[Any, ...]) -> None:
        is_import = sys._getframe(2).f_code.co_filename.endswith(IMPORT_SYSTEM)
        self.note_path("i" if is_import else "l", self.find_listed(args[0]))

    def find_listed(self, path: Any) -> Any:
        """The folder that is listed."""
        if isinstance(path, int):
            return self.readlink(f"/proc/self/fd/{path}")
        return self.getcwd() if path in (None, "") else path

    def on_scan(self, args: tuple[Any, ...]) -> None:
        """Record the entries of a folder, too: no event reports that the caller asks one for its size or mode."""
        folder, thread = self.find_listed(args[0]), _thread.get_ident()
        self.note_path("l", folder)
        if thread in self.busy or uses_names_only(sys._getframe(2).f_code.co_filename):
            return
        self.busy.add(thread)
        try:
            real = self.realpath(os.fsdecode(folder))
            names = self.listdir(real) if f"{real}/".startswith(self.start) else []
        except OSError:
            return
        finally:
            self.busy.discard(thread)
        for name in names:
            self.note_path("s", f"{real}/{name}")

    def on_chdir(self, args: tuple[Any, ...]) -> None:
        if not isinstance(args[0], int):
            self.note_path("s", args[0])  # later paths are relative to the place that a link leads to

    def on_import(self, args: tuple[Any, ...]) -> None:
        if args[0] == "_interpreters":  # in Python 3.13, no event reports that one starts
            self.note("?it starts other interpreters")
        elif args[1]:  # an extension module
            self.note_path("r", args[1])

    def on_sqlite(self, args: tuple[Any, ...]) -> None:
        name = os.fsdecode(args[0])
        if name.startswith("file:"):
            name = name.removeprefix("file:").partition("?")[0]
        if name and name != ":memory:":
            self.note_path("r", name)
        if not sys._getframe(2).f_code.co_filename.endswith(_OWN_DATABASES):
            self.note("nsqlite3")  # ATTACH opens further files unseen

    def on_link(self, args: tuple[Any, ...]) -> None:
        self.note_path("r", args[0])

    def on_process(self, args: tuple[Any, ...]) -> None:
        program = args[0] if args and isinstance(args[0], str | bytes | os.PathLike) else ""
        name = os.path.basename(os.fsdecode(program))
        if not is_harmless(name, args[1] if len(args) > 1 else ()):
            self.note(f"?it starts other processes ({name})" if name else "?it starts other processes")

    def on_fork_exec(self, argv: Any, programs: Any) -> None:
        """Record a process that starts without an event, as those of `multiprocessing` do."""
        words = [os.fsdecode(each) for each in argv]
        if not any(_TRACKER in each for each in words):
            self.on_process((programs[0] if programs else words[0], words))

    def on_dlopen(self, args: tuple[Any, ...]) -> None:
        name = os.path.basename(str(args[0] or ""))
        if name and not name.startswith(("libc.", "libm.", "libpthread.")):
            self.note(f"n{name}")

    def on_resolve(self, args: tuple[Any, ...]) -> None:
        host = args[0].decode("ascii", "replace") if isinstance(args[0], bytes) else str(args[0] or "")
        self.check_host(host, args[1] if len(args) > 1 else None)

    def on_connect(self, args: tuple[Any, ...]) -> None:
        address = args[1]
        if not isinstance(address, tuple):
            self.note("?it connects to a local socket")
        elif is_local(str(address[0])):
            self.check_host(str(address[0]), address[1])

    def check_host(self, host: str, port: object) -> None:
        """Doubt the log if a server may run code of the repository."""
        host = host.rstrip(".").lower()
        is_model = f"{host}:{port}" in self.models or f"{host}:" in self.models
        if not host or is_model or is_provider(host):
            return
        self.note(f"?it connects to {host:.100}, which may run code of this repository")

    def finish(self) -> None:
        """Append what is known only at the end."""
        if self.getpid() != self.pid:
            return
        for name in tuple(sys.modules):
            module = sys.modules.get(name)
            origin = str(getattr(getattr(module, "__spec__", None), "origin", None) or "")
            top = name.partition(".")[0]
            if origin.startswith(self.start):
                self.note_path("r", origin)  # it may have been imported before the start
            if origin.endswith(".so") and "/lib-dynload/" not in origin:
                self.note_native(name, top, origin)
        for folder in tuple(sys.path):
            self.note_path("s", folder or self.getcwd())
            self.note_installed(folder)
        for name in tuple(self.modules):
            self.note_module(name)
        self.write("E")

    def note_native(self, name: str, top: str, origin: str) -> None:
        """Append native code that may use files or servers unseen; code of the repository always may."""
        is_own = origin.startswith(self.start) and not origin.startswith(self.left_out)
        if top in UNSEEN_MODULES:
            self.note(f"?{top} {UNSEEN_MODULES[top]}")
        elif is_own or (top.lower().lstrip("_") not in SAFE_MODULES and "__mypyc" not in name):
            self.note(f"n{name}")

    def note_installed(self, folder: str) -> None:
        """Append the folders of the repository that packages were copied from when they were installed."""
        thread = _thread.get_ident()
        self.busy.add(thread)
        try:
            for name in list_sources(folder) if "-packages" in folder else ():
                is_inside, is_file = f"{name}/".startswith(self.start), os.path.isfile(name)
                if is_inside and (is_file or os.path.isdir(name)):
                    self.note(f"{'r' if is_file else 't'}{name}")
                elif is_inside or (is_file and not os.path.basename(name).startswith("scoregate-")):
                    self.note(f"?a package was installed from {name[:200]}, which may be built from this repository")
        finally:
            self.busy.discard(thread)

    def note_module(self, name: str) -> None:
        """Append the name of a module; of packages outside of the repository only the first part."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:
            return
        module = sys.modules.get(top)
        places = [getattr(module, "__file__", None) or "", *(getattr(module, "__path__", None) or ())]
        is_own = any(str(each).startswith(self.start) and not str(each).startswith(self.left_out) for each in places)
        self.note(f"m{name if is_own else top}")


class _ImportedNames:
    """A finder that finds nothing: it is asked for every module first, also for those that `importlib` imports."""

    def __init__(self, recorder: _Recorder) -> None:
        self.modules = recorder.modules

    def find_spec(self, name: str, *_: object, **__: object) -> None:
        """Record the name of a module."""
        self.modules.add(name)


def _hook(recorder: _Recorder) -> Callable[[str, tuple[Any, ...]], None]:
    handlers: dict[str, Callable[[tuple[Any, ...]], None]] = {
        "open": recorder.on_open,
        "os.listdir": recorder.on_list,
        "os.scandir": recorder.on_scan,
        "import": recorder.on_import,
        "os.chdir": recorder.on_chdir,
        "sqlite3.connect": recorder.on_sqlite,
        **dict.fromkeys(("os.link", "os.rename"), recorder.on_link),
        "subprocess.Popen": recorder.on_process,
        "ctypes.dlopen": recorder.on_dlopen,
        **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname"), recorder.on_resolve),
        "socket.connect": recorder.on_connect,
        **dict.fromkeys(_PROCESSES, recorder.on_process),
        "cpython.PyInterpreterState_New": lambda _: recorder.note("?it starts other interpreters"),
    }
    find = handlers.get

    def hook(event: str, args: tuple[Any, ...]) -> None:
        # Every audited event of the process comes here, so all others return at once.
        handle = find(event)
        if handle is None:
            return
        try:
            handle(args)
        except Exception as error:
            recorder.note(f"?{type(error).__name__} while its files were recorded")

    return hook


def _watch_lookups(recorder: _Recorder) -> None:
    """Record the paths that are looked up: no event reports them, and a new file may be found there."""
    for name in (*_STAT_FUNCTIONS, "open"):
        original = getattr(os, name)
        watched = (watch_open if name == "open" else watch_lookup)(original, recorder)
        setattr(os, name, watched)
        for each in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
            if original in each:
                each.add(watched)


def _watch_starts(recorder: _Recorder) -> None:
    """Record the processes of `multiprocessing` and joblib, which start without an event."""
    original: Callable[..., int] = _posixsubprocess.fork_exec

    def fork_exec(*args: Any) -> int:
        try:
            recorder.on_fork_exec(args[0], args[1])
        except Exception as error:
            recorder.note(f"?{type(error).__name__} while its processes were recorded")
        return original(*args)

    _posixsubprocess.fork_exec = fork_exec


def _start() -> None:
    """Record this process, and hide from it how."""
    text = os.environ.pop(_VARIABLE, "")
    top, _, log = text.partition("\n")
    log, _, follows_children = log.partition("\n")
    folder = globals().get("__file__")
    if folder is not None and __name__ == "sitecustomize":
        folder = os.path.dirname(folder)
        sys.path[:] = [each for each in sys.path if each != folder]
        kept = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and each != folder]
        if not follows_children:
            os.environ["PYTHONPATH"] = os.pathsep.join(kept)
    if not text:
        return
    if follows_children:
        os.environ[_VARIABLE] = text
    recorder = _Recorder(top, log)
    recorder.write("P")
    sys.path_importer_cache.clear()  # folders that were searched before would not be searched again
    _watch_lookups(recorder)
    _watch_starts(recorder)
    sys.meta_path.insert(0, _ImportedNames(recorder))
    atexit.register(recorder.finish)
    sys.addaudithook(_hook(recorder))


def _import_next(this: ModuleType) -> None:
    """Import the `sitecustomize` that this one hides."""
    del sys.modules["sitecustomize"]
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = this


_start()
if __name__ == "sitecustomize":
    _import_next(sys.modules[__name__])
