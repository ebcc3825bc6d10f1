"""Records which files of a repository a Python process uses. It runs before all other code of the process.

The host passes this file as text: as `sitecustomize.py` in a folder at the start of PYTHONPATH, or to `python -c`. So
it uses only the standard library. SCOREGATE_DEPENDENCIES names the repository and the log, one per line.

The log has an entry for each new use, ended by a NUL: a letter, and an absolute path or a text.

- `P` the process started, `E` it ended normally
- `r` a file was opened for reading, `w` for writing only, `s` a path was looked up
- `d` a file of rows was read by `evaluate(data=PATH)`, which makes a case of each
- `l` a folder was listed, `i` the import system listed a folder, `t` a package was installed from a folder
- `m` the name of a module that was imported, or that was looked for
- `n` native code was loaded that may read files unseen
- `?` why the log can't be complete
"""

# It imports nothing that Python doesn't import at its start, and no function that it replaces.
# ruff: noqa: PTH110, PTH118, PTH119, PTH120, PTH123, PTH208

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_VARIABLE = "SCOREGATE_DEPENDENCIES"
_MOST_ENTRIES, _MOST_SEEN = 20_000, 200_000
# The import system and `importlib.metadata` look for certain names in the folders that they list.
_IMPORT_SYSTEM = (
    "<frozen importlib._bootstrap_external>",
    "/importlib/metadata/__init__.py",
    "/importlib_metadata/__init__.py",
)
_STAT_FUNCTIONS = ("stat", "lstat", "access", "readlink", "statvfs")
# Programs that read no file of a project.
_HARMLESS = {"uname", "ldconfig", "nproc", "lscpu", "hostname", "arch", "getconf", "sysctl", "sw_vers"}
_PROCESSES = ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
# Extension modules that open files only through Python, or none.
_SAFE = {
    *("aiohttp", "argon2_cffi_bindings", "asyncpg", "backports", "bcrypt", "black", "blake3", "brotli"),
    *("cffi_backend", "charset_normalizer", "contourpy", "coverage", "cryptography", "fastuuid", "frozenlist"),
    *("google", "greenlet", "hiredis", "httptools", "jiter", "kiwisolver", "levenshtein", "lz4", "markupsafe"),
    *("matplotlib", "mmh3", "msgpack", "msgspec", "multidict", "mypyc", "nacl", "numpy", "orjson", "pandas"),
    *("propcache", "psutil", "psycopg", "psycopg2", "psycopg_binary", "pydantic_core", "rapidfuzz", "regex"),
    *("rpds", "ruamel_yaml", "rust", "scipy", "simplejson", "sklearn", "sqlalchemy", "tiktoken", "tomli"),
    *("ujson", "websockets", "wrapt", "xxhash", "yaml", "yarl", "zope", "zstandard"),
}
# Native code that connects to servers unseen.
_CONNECTS = {"uvloop", "grpc", "pycurl", "rnet", "primp", "gevent"}
# What reads the rows of `evaluate(data=PATH)`.
_ROWS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml")
_ROWS_READER, _ROWS_MODULE, _MOST_FRAMES = "_read_file", "/scoregate/evals/data.py", 16
# Servers of models run no code of the repository.
_PROVIDERS = (
    *("openai.com", "openai.azure.com", "services.ai.azure.com", "inference.ai.azure.com", "anthropic.com"),
    *("generativelanguage.googleapis.com", "aiplatform.googleapis.com", "oauth2.googleapis.com", "mistral.ai"),
    *("cohere.com", "cohere.ai", "groq.com", "together.xyz", "together.ai", "fireworks.ai", "deepseek.com", "x.ai"),
    *("openrouter.ai", "perplexity.ai", "huggingface.co", "hf.co", "cerebras.ai", "voyageai.com", "deepinfra.com"),
)
# Hosts of clouds, whose other hosts may be services of the project.
_CLOUD_MODELS = (("bedrock", ".amazonaws.com"), ("", "-aiplatform.googleapis.com"))
# A server of this machine may be configured by files of the repository, except for these.
_LOCAL_MODELS = ("SCOREGATE_GATEWAY_URL", "SCOREGATE_MODEL_BASE_URL")
_LOCAL = (
    *("127.", "10.", "192.168.", "169.254.", "0.", "::1", "fc", "fd", "fe80"),
    *(f"172.{number}." for number in range(16, 32)),
)
_MODEL_URLS = (*_LOCAL_MODELS, "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT")


class _Recorder:
    """Writes entries to the log; it never raises an error into the code that is recorded."""

    def __init__(self, top: str, log: str) -> None:
        self.start = os.path.join(top, "")
        own = {os.path.join(each, "") for each in (sys.prefix, sys.exec_prefix, sys.base_prefix)}
        self.left_out = tuple(own - {self.start})
        self.system = (*self.left_out, "/proc/", "/sys/", "/dev/", "/usr/", "/lib", "/etc/", "/opt/")
        self.seen: set[str] = set()
        self.modules: set[str] = set()
        self.written = 0
        self.pid = os.getpid()
        self.handle = os.open(log, os.O_WRONLY | os.O_APPEND)
        self.file = self.identify()
        addresses = {name: _address(os.environ.get(name, "")) for name in _MODEL_URLS}
        self.models = {each for name, each in addresses.items() if name in _LOCAL_MODELS or not _is_local(each)} - {""}
        self.fstat, self.write_bytes, self.getpid, self.realpath = os.fstat, os.write, os.getpid, os.path.realpath
        self.getcwd, self.readlink, self.access = os.getcwd, os.readlink, os.access
        self.is_busy = self.is_lost = False

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
        if entry in self.seen or self.is_busy:
            return
        if len(self.seen) > _MOST_SEEN:
            self.note("?it uses too many files")
            return
        self.seen.add(entry)
        is_inside = name.startswith(self.start)
        if "/../" in f"{name}/" or not (is_inside or name.startswith(self.system)):
            self.is_busy = True
            try:
                name = self.realpath(name)
            finally:
                self.is_busy = False
            is_inside = f"{name}/".startswith(self.start)
        if is_inside and not name.startswith(self.left_out):
            self.write(kind + os.path.normpath(name))

    def on_open(self, args: tuple[Any, ...]) -> None:
        path, flags = args[0], args[2]
        if not isinstance(path, int):
            replaces = flags & (os.O_TRUNC | os.O_EXCL) or flags & os.O_ACCMODE == os.O_WRONLY
            self.note_path("w" if replaces else "d" if _reads_rows(path) else "r", path)

    def on_list(self, args: tuple[Any, ...]) -> None:
        path = args[0]
        if isinstance(path, int):
            path = self.readlink(f"/proc/self/fd/{path}")
        is_import = sys._getframe(2).f_code.co_filename.endswith(_IMPORT_SYSTEM)
        self.note_path("i" if is_import else "l", self.getcwd() if path in (None, "") else path)

    def on_import(self, args: tuple[Any, ...]) -> None:
        if args[1]:  # an extension module
            self.note_path("r", args[1])

    def on_sqlite(self, args: tuple[Any, ...]) -> None:
        name = os.fsdecode(args[0])
        if name.startswith("file:"):
            name = name.removeprefix("file:").partition("?")[0]
        if name and name != ":memory:":
            self.note_path("r", name)

    def on_link(self, args: tuple[Any, ...]) -> None:
        self.note_path("r", args[0])

    def on_process(self, args: tuple[Any, ...]) -> None:
        program = args[0] if args and isinstance(args[0], str | bytes | os.PathLike) else ""
        name = os.path.basename(os.fsdecode(program))
        if name not in _HARMLESS:
            self.note(f"?it starts other processes ({name})" if name else "?it starts other processes")

    def on_dlopen(self, args: tuple[Any, ...]) -> None:
        name = os.path.basename(str(args[0] or ""))
        if name and not name.startswith(("libc.", "libm.", "libpthread.")):
            self.note(f"n{name}")

    def on_resolve(self, args: tuple[Any, ...]) -> None:
        host = args[0].decode("ascii", "replace") if isinstance(args[0], bytes) else str(args[0] or "")
        self.check_host(host, args[1])

    def on_connect(self, args: tuple[Any, ...]) -> None:
        address = args[1]
        if not isinstance(address, tuple):
            self.note("?it connects to a local socket")
        elif _is_local(str(address[0])):
            self.check_host(str(address[0]), address[1])

    def check_host(self, host: str, port: object) -> None:
        """Doubt the log if a server may run code of the repository."""
        host = host.rstrip(".").lower()
        is_model = f"{host}:{port}" in self.models or f"{host}:" in self.models
        is_cloud_model = any(host.startswith(start) and host.endswith(end) for start, end in _CLOUD_MODELS)
        if not host or is_model or is_cloud_model or any(f".{host}".endswith(f".{each}") for each in _PROVIDERS):
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
        if top in _CONNECTS:
            self.note(f"?{top} connects to servers that can't be seen")
        elif is_own or (top.lower().lstrip("_") not in _SAFE and "__mypyc" not in name):
            self.note(f"n{name}")

    def note_installed(self, folder: str) -> None:
        """Append the folders of the repository that packages were copied from when they were installed."""
        if "-packages" not in folder:
            return
        self.is_busy = True
        try:
            for entry in os.listdir(folder):
                if entry.endswith(".dist-info") and os.path.exists(f"{folder}/{entry}/direct_url.json"):
                    self.note_source(f"{folder}/{entry}/direct_url.json")
        finally:
            self.is_busy = False

    def note_source(self, path: str) -> None:
        import json
        from urllib.parse import unquote, urlsplit

        with open(path, "rb") as file:
            data = json.loads(file.read(1 << 16))
        url = urlsplit(data.get("url", ""))
        if url.scheme == "file" and not data.get("dir_info", {}).get("editable"):
            name = os.path.realpath(unquote(url.path))
            if f"{name}/".startswith(self.start):
                self.note(f"t{name}")

    def note_module(self, name: str) -> None:
        """Append the name of a module; of packages outside of the repository only the first part."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:
            return
        module = sys.modules.get(top)
        places = [getattr(module, "__file__", None) or "", *(getattr(module, "__path__", None) or ())]
        is_own = any(str(each).startswith(self.start) and not str(each).startswith(self.left_out) for each in places)
        self.note(f"m{name if is_own else top}")


def _reads_rows(path: Any) -> bool:
    """Whether `evaluate` reads the rows of its cases from a file, further down the stack."""
    if not os.fsdecode(path).lower().endswith(_ROWS):
        return False
    frame = sys._getframe(2)
    for _ in range(_MOST_FRAMES):
        code = frame.f_code
        if code.co_name == _ROWS_READER and code.co_filename.endswith(_ROWS_MODULE):
            return True
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


class _ImportedNames:
    """A finder that finds nothing: it is asked for every module first, also for those that `importlib` imports."""

    def __init__(self, recorder: _Recorder) -> None:
        self.modules = recorder.modules

    def find_spec(self, name: str, *_: object, **__: object) -> None:
        """Record the name of a module."""
        self.modules.add(name)


def _address(url: str) -> str:
    """`host:port` of an address; `host:` without a port."""
    place = url.partition("://")[2] or url
    place = place.partition("/")[0].rpartition("@")[2].lower()
    return place if not place or ":" in place else f"{place}:"


def _is_local(host: str) -> bool:
    return host.startswith(_LOCAL) or host.partition(":")[0] in ("localhost", "")


def _hook(recorder: _Recorder) -> Callable[[str, tuple[Any, ...]], None]:
    handlers: dict[str, Callable[[tuple[Any, ...]], None]] = {
        "open": recorder.on_open,
        "os.listdir": recorder.on_list,
        "os.scandir": recorder.on_list,
        "import": recorder.on_import,
        "sqlite3.connect": recorder.on_sqlite,
        "os.link": recorder.on_link,
        "os.rename": recorder.on_link,
        "subprocess.Popen": recorder.on_process,
        "ctypes.dlopen": recorder.on_dlopen,
        "socket.getaddrinfo": recorder.on_resolve,
        "socket.connect": recorder.on_connect,
        **dict.fromkeys(_PROCESSES, recorder.on_process),
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
    for name in _STAT_FUNCTIONS:
        original = getattr(os, name)
        watched = _watched(original, recorder)
        setattr(os, name, watched)
        for each in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
            if original in each:
                each.add(watched)


def _watched(original: Callable[..., Any], recorder: _Recorder) -> Callable[..., Any]:
    def lookup(*args: Any, **options: Any) -> Any:
        path = args[0] if args else options.get("path")
        if path is not None and not isinstance(path, int) and options.get("dir_fd") is None:
            try:
                # That a file of rows is there is no other use of it.
                if not (_reads_rows(path) and recorder.access(path, os.F_OK)):
                    recorder.note_path("s", path)
            except Exception as error:
                recorder.note(f"?{type(error).__name__} while its files were recorded")
        return original(*args, **options)

    lookup.__name__ = lookup.__qualname__ = original.__name__
    lookup.__doc__, lookup.__module__ = original.__doc__, "os"
    lookup.__wrapped__ = original  # type: ignore[attr-defined]
    return lookup


def _start() -> None:
    """Record this process, and hide from it how."""
    text = os.environ.pop(_VARIABLE, "")
    folder = globals().get("__file__")
    if folder is not None and __name__ == "sitecustomize":
        folder = os.path.dirname(folder)
        sys.path[:] = [each for each in sys.path if each != folder]
        kept = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and each != folder]
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)
    if not text:
        return
    top, _, log = text.partition("\n")
    recorder = _Recorder(top, log)
    recorder.write("P")
    sys.path_importer_cache.clear()  # folders that were searched before would not be searched again
    _watch_lookups(recorder)
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
