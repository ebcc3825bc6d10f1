"""Python files that start suites."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from scoregate.ci.discover.files import Candidate, candidates
from scoregate.ci.discover.syntax import read_source
from scoregate.ci.plan import Found, Kind, Skipped, Source
from scoregate.ci.settings import Settings
from scoregate.errors import UsageError

MAX_BYTES = 5 * 1024 * 1024
_ROOT_PACKAGES = (b"scoregate", b"autoblocks")


async def find_scripts(root: Path, settings: Settings) -> Found:
    """The files that start suites, under the paths of the settings or in the usual places; none where others were
    named to be run.

    Raises:
        UsageError: a path does not exist, or a file that was named holds no suite.
    """
    if settings.passed_over("paths"):
        return Found()
    files = await candidates(root, settings.paths, origin=settings.origin("paths"))
    originals, links = _distinct(root, files)
    looked = [_looked(root, file) for file in originals]
    _check_named(looked, {file.path for file in files if file.named})
    sources = tuple(each for each in looked if isinstance(each, Source))
    skipped = sorted((*links, *(each for each in looked if isinstance(each, Skipped))), key=lambda each: each.path)
    notices = (f"{each.path} was left out: {each.why}" for each in skipped if each.notable)
    return Found(sources, tuple(skipped), tuple(notices))


def _distinct(root: Path, files: Iterable[Candidate]) -> tuple[list[Candidate], list[Skipped]]:
    """The files, each once, and the links to them."""
    seen: dict[str, Candidate] = {}
    links = []
    for file in sorted(files, key=lambda file: ((root / file.path).is_symlink(), file.path)):
        first = seen.setdefault(os.path.realpath(root / file.path), file)
        if first is not file:
            links.append(Skipped(file.path, f"the same file as {first.path}"))
    return sorted(seen.values(), key=lambda file: file.path), links


def _looked(root: Path, file: Candidate) -> Source | Skipped:
    path = root / file.path
    if (name := os.fsencode(file.path).decode("utf-8", "replace")) != file.path:
        return Skipped(name, "its name is not UTF-8", notable=True)
    try:
        if not path.is_file():
            return Skipped(file.path, "no file")
        if (size := path.stat().st_size) > MAX_BYTES:
            return Skipped(file.path, f"too large to be a suite ({size / 1e6:.1f} MB)", notable=True)
        return _read(file, path.read_bytes())
    except OSError as error:
        return Source(file.path, Kind.PYTHON, why=file.why, error=f"{file.path} cannot be read: {error.strerror}")


def _read(file: Candidate, source: bytes) -> Source | Skipped:
    reading = read_source(source)
    if reading.error and (file.sure or any(package in source for package in _ROOT_PACKAGES)):
        error = f"{file.path}:{reading.line}: {reading.why}"
        return Source(file.path, Kind.PYTHON, reading.line, why=file.why, error=error)
    if reading.kind is None:
        return Skipped(file.path, reading.why, notable=reading.notable)
    return Source(
        file.path,
        reading.kind,
        reading.line,
        reading.suite_ids,
        expected=reading.expected,
        why=f"{file.why}, {reading.why}",
        foreign=reading.foreign,
    )


def _check_named(looked: Iterable[Source | Skipped], named: set[str]) -> None:
    if bad := [f"{each.path}: {each.why}" for each in looked if isinstance(each, Skipped) and each.path in named]:
        raise UsageError(
            "\n".join(["these files hold no suite:", *(f"  {line}" for line in bad)]),
            advice="A suite is a call of run_test_suite; what starts one in another way is named under [[commands]].",
        )
