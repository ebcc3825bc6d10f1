"""What the recorder of Python processes knows of modules, programs and servers, and how it watches functions of `os`.

The host puts this text into that of python_recorder.py. So it imports only what Python imports at its start.
"""

# ruff: noqa: PTH110, PTH120, PTH123, PTH208

from __future__ import annotations

import _thread
import os
import sys
from collections.abc import Callable
from typing import Any

# The import system and `importlib.metadata` look for certain names in the folders that they list.
IMPORT_SYSTEM = (
    "<frozen importlib._bootstrap_external>",
    "/importlib/metadata/__init__.py",
    "/importlib_metadata/__init__.py",
)
# The standard library and pytest look at the names and kinds of entries, and record whatever else they look at.
_STDLIB, _SCANNING = f"{os.path.dirname(os.__file__)}/", "/_pytest/pathlib.py"
# Programs that read no file of a project.
_HARMLESS_PROGRAMS = {"uname", "ldconfig", "nproc", "lscpu", "hostname", "arch", "getconf", "sysctl", "sw_vers"}
# The program in which scoregate's scorers search patterns. Python runs it without the files of the project.
_PATTERN_SEARCH = "/scoregate/scorers/pattern_search.py"
# Extension modules that open files only through Python, or none.
SAFE_MODULES = {
    *("aiohttp", "argon2_cffi_bindings", "asyncpg", "backports", "bcrypt", "black", "blake3", "brotli"),
    *("cffi_backend", "charset_normalizer", "contourpy", "coverage", "cryptography", "fastuuid", "frozenlist"),
    *("google", "greenlet", "hiredis", "httptools", "jiter", "kiwisolver", "levenshtein", "lz4", "markupsafe"),
    *("matplotlib", "mmh3", "msgpack", "msgspec", "multidict", "mypyc", "nacl", "numpy", "orjson", "pandas"),
    *("propcache", "psutil", "pydantic_core", "rapidfuzz", "regex"),
    *("rpds", "ruamel_yaml", "rust", "scipy", "simplejson", "sklearn", "sqlalchemy", "tiktoken", "tomli"),
    *("ujson", "websockets", "wrapt", "xxhash", "yaml", "yarl", "zope", "zstandard"),
}
_CONNECTING = (
    *("uvloop", "grpc", "pycurl", "rnet", "primp", "gevent", "psycopg2", "psycopg_c", "psycopg_binary", "MySQLdb"),
    *("pymssql", "oracledb", "pyodbc"),
)
_READING = ("minijinja", "kreuzberg", "extractous", "docling_parse")
# Native code, and what it does unseen. Other native code may read data, but no texts such as Markdown.
UNSEEN_MODULES = {
    **dict.fromkeys(_CONNECTING, "connects to servers that can't be seen"),
    **dict.fromkeys(_READING, "reads texts that can't be seen"),
}
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
LOCAL_MODELS = ("SCOREGATE_GATEWAY_URL", "SCOREGATE_MODEL_BASE_URL")
_LOCAL = (
    *("127.", "10.", "192.168.", "169.254.", "0.", "::1", "fc", "fd", "fe80"),
    *(f"172.{number}." for number in range(16, 32)),
)
MODEL_URLS = (*LOCAL_MODELS, "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT")
# What reads the rows of `evaluate(data=PATH)`.
_ROWS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml")
_ROWS_READER, _ROWS_MODULE, _MOST_FRAMES = "_read_file", "/scoregate/evals/data.py", 16


def is_provider(host: str) -> bool:
    """Whether a host serves models, and so runs no code of the repository."""
    is_cloud_model = any(host.startswith(start) and host.endswith(end) for start, end in _CLOUD_MODELS)
    return is_cloud_model or any(f".{host}".endswith(f".{each}") for each in _PROVIDERS)


def to_address(url: str) -> str:
    """`host:port` of an address; `host:` without a port."""
    place = url.partition("://")[2] or url
    place = place.partition("/")[0].rpartition("@")[2].lower()
    return place if not place or ":" in place else f"{place}:"


def is_harmless(program: str, arguments: Any) -> bool:
    """Whether a program reads no file of the project.

    Args:
        program: its name.
        arguments: its arguments, with the name as the first one.
    """
    words = [os.fsdecode(each) for each in arguments[1:]] if isinstance(arguments, list | tuple) else []
    is_search = len(words) == 3 and words[:2] == ["-I", "-S"] and words[2].endswith(_PATTERN_SEARCH)
    return program in _HARMLESS_PROGRAMS or is_search


def is_local(host: str) -> bool:
    """Whether a host is this machine, or in a private network."""
    return host.startswith(_LOCAL) or host.partition(":")[0] in ("localhost", "")


def describe_flags(flags: int) -> str:
    """The letter of an entry for a file that is opened with these flags."""
    if flags & (os.O_TRUNC | os.O_EXCL):
        return "w"
    return "a" if flags & os.O_ACCMODE == os.O_WRONLY else "r"


def reads_rows(path: Any) -> bool:
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


def uses_names_only(caller: str) -> bool:
    """Whether code that scans a folder asks its entries for no size, time or mode."""
    is_stdlib = caller.startswith("<frozen ") or (caller.startswith(_STDLIB) and "-packages/" not in caller)
    return is_stdlib or caller.endswith(_SCANNING)


def rename_function(watched: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the name and the description of the one of `os` that it replaces."""
    watched.__name__ = watched.__qualname__ = original.__name__
    watched.__doc__, watched.__module__ = original.__doc__, "os"
    watched.__wrapped__ = original  # type: ignore[attr-defined]
    return watched


def watch_lookup(original: Callable[..., Any], recorder: Any) -> Callable[..., Any]:
    """A function of `os` that looks up a path, and records it."""

    def lookup(*args: Any, **options: Any) -> Any:
        path = args[0] if args else options.get("path")
        if path is not None and not isinstance(path, int):
            try:
                if options.get("dir_fd") is not None:
                    recorder.note_in_folder("s", path, options["dir_fd"])
                # That a file of rows is there is no other use of it.
                elif not (reads_rows(path) and recorder.access(path, os.F_OK)):
                    recorder.note_path("s", path)
            except Exception as error:
                recorder.note(f"?{type(error).__name__} while its files were recorded")
        return original(*args, **options)

    return rename_function(lookup, original)


def watch_open(original: Callable[..., int], recorder: Any) -> Callable[..., Any]:
    """`os.open`, whose event has the path, but not the folder that it is relative to."""

    def open_file(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is None:
            return original(path, flags, mode)
        thread = _thread.get_ident()
        try:
            recorder.note_in_folder(describe_flags(flags), path, dir_fd)
        except Exception as error:
            recorder.note(f"?{type(error).__name__} while its files were recorded")
        recorder.in_folders.add(thread)
        try:
            return original(path, flags, mode, dir_fd=dir_fd)
        finally:
            recorder.in_folders.discard(thread)

    return rename_function(open_file, original)


def list_sources(folder: str) -> list[str]:
    """The folders that the packages in a folder were copied from when they were installed."""
    import json
    from urllib.parse import unquote, urlsplit

    sources = []
    for entry in os.listdir(folder):
        path = f"{folder}/{entry}/direct_url.json"
        if entry.endswith(".dist-info") and os.path.exists(path):
            with open(path, "rb") as file:
                data = json.loads(file.read(1 << 16))
            url = urlsplit(data.get("url", ""))
            if url.scheme == "file" and not data.get("dir_info", {}).get("editable"):
                sources.append(os.path.realpath(unquote(url.path)))
    return sources
