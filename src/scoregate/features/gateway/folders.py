"""The gateway's folders in the workspace, which suites can write to while the host uses them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from scoregate.errors import UsageError
from scoregate.features.gateway.declare import GatewayMode
from scoregate.features.gateway.proxy import GatewayOptions
from scoregate.features.gateway.proxy.cassettes import BASE_FOLDER, SUFFIX
from scoregate.kernel.host.isolation import FolderCopy
from scoregate.kernel.host.runner import find_workspace, in_container
from scoregate.models.settings import CacheMode

# Suites write to the cache itself, so the host's answers are in a folder of their own.
_CACHE = "gateway"
_CACHE_SUFFIX = ".sqlite"


@contextmanager
def copy_folders(options: GatewayOptions, environ: Mapping[str, str]) -> Iterator[GatewayOptions]:
    """In scoregate's container, let the gateway use private copies of its folders, until the block ends.

    The host is root there: it must not follow a link that a suite puts in the place of a cassette or of the cache.

    Args:
        options: how the gateway works.
        environ: the host's environment.

    Raises:
        UsageError: a folder has a link in its path, or can't be read or written.
    """
    if not in_container(environ):
        yield options
        return
    top = find_workspace(environ).resolve()
    with ExitStack() as stack:
        record_to, scratch = options.record_to, options.scratch
        if record_to is not None and record_to.is_relative_to(top):
            copy = FolderCopy(record_to, top, scratch / "recorded", suffix=SUFFIX)
            of_base = FolderCopy(record_to / BASE_FOLDER, top, copy.path / BASE_FOLDER, suffix=SUFFIX)
            stack.callback(of_base.store)
            stack.callback(copy.store)
            options = replace(options, record_to=copy.path)
        folders = [_load(path, number, top, scratch) for number, path in enumerate(options.replay_from)]
        options = replace(options, replay_from=tuple(folders))
        if options.cache_mode is not CacheMode.OFF and options.mode is not GatewayMode.REPLAY:
            options = stack.enter_context(_copy_cache(options, top))
        yield options


def _load(path: Path, number: int, top: Path, scratch: Path) -> Path:
    if not path.is_relative_to(top):
        return path
    copy = FolderCopy(path, top, scratch / f"replayed-{number}", suffix=SUFFIX)
    copy.load()
    of_base = FolderCopy(path / BASE_FOLDER, top, scratch / f"replayed-base-{number}", suffix=SUFFIX)
    of_base.load()
    if any(of_base.path.iterdir()):
        of_base.path.rename(copy.path / BASE_FOLDER)
    return copy.path


@contextmanager
def _copy_cache(options: GatewayOptions, top: Path) -> Iterator[GatewayOptions]:
    """Without a folder in the workspace there is no cache: an error of the cache never stops a run."""
    if not options.cache_folder.is_relative_to(top):
        yield replace(options, cache_mode=CacheMode.OFF)
        return
    copy = FolderCopy(options.cache_folder / _CACHE, top, options.scratch / "cache", suffix=_CACHE_SUFFIX)
    with contextlib.suppress(UsageError):
        copy.load()
    try:
        yield replace(options, cache_folder=copy.path)
    finally:
        if options.cache_mode is not CacheMode.READONLY:
            with contextlib.suppress(UsageError):
                copy.store()
