"""Result files that a command leaves behind: found, checked to be of this launch, and told as events."""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias

import anyio.to_thread

from scoregate.ci.identity import Identity
from scoregate.ci.launch.happenings import LeftOut, Noticed, Said, Tell
from scoregate.ci.plan import Import, Launch
from scoregate.core.events import Event, SuiteStarted
from scoregate.core.filters import is_wanted
from scoregate.core.suite_labels import label_of
from scoregate.errors import ImportFailed

_MOST_FILES = 1_000
_BATCH = 100
# What tells one writing of a file from another, whatever the clocks say.
_Stamp: TypeAlias = tuple[int, int, int, int]


class ReadResults(Protocol):
    """Reads an open file of some format; raises ImportFailed where it is not of it, or holds no case."""

    def __call__(self, format_name: str, file: BinaryIO, *, name: str, alone: bool) -> Iterator[Event]: ...


@dataclass(frozen=True, slots=True)
class Results:
    """The result files of one launch; `before` is what there was of them when it started."""

    launch: Launch
    before: Mapping[Path, _Stamp]

    @classmethod
    def of(cls, launch: Launch) -> Results:
        """Before the start."""
        paths = (path for each in launch.source.imports for path in _found(launch.cwd, each))
        return cls(launch, {path: mark for path in paths if (mark := _stamp(path)) is not None})

    async def tell(
        self, tell: Tell, read: ReadResults, identity: Identity | None, *, suites: Sequence[str] = ()
    ) -> list[ImportFailed]:
        """Tell what the new files say; what could not be told is returned.

        Args:
            tell: is told. read: reads them. identity: who must own them; None for anybody.
            suites: globs of which a suite must match one; none takes all.
        """
        failures: list[ImportFailed] = []
        files: dict[tuple[str, Path], None] = {}
        for each in dict.fromkeys(self.launch.source.imports):
            try:
                paths, older = await anyio.to_thread.run_sync(self._new, each)
            except ImportFailed as error:
                failures.append(error)
                continue
            if older:
                tell(Noticed(self.launch.name, f"{_said(each)}: {older} older files are left aside"))
            files |= dict.fromkeys((each.format, path) for path in paths)
        telling = _Telling(self.launch, tell, read, identity, suites, Counter(form for form, _ in files))
        for form, path in files:
            try:
                await telling.file(form, path)
            except ImportFailed as error:
                failures.append(error)
        return failures

    @property
    def _folder(self) -> str:
        """The command's, in words: where it stands in the project, else the project's own name."""
        return self.launch.cwd.name if self.launch.source.cwd == os.curdir else self.launch.source.cwd

    def _new(self, wanted: Import) -> tuple[Sequence[Path], int]:
        """The files that were written since the start, and how many older ones there are.

        Raises:
            ImportFailed: there are none, or too many.
        """
        found = _found(self.launch.cwd, wanted)
        new = [path for path in found if _stamp(path) not in (None, self.before.get(path))]
        if not found:
            raise ImportFailed(
                f"{_said(wanted)}: the command left no such file",
                advice=f"Name the file as it is called from the folder {self._folder!r}, where the command runs.",
            )
        if not new:
            raise ImportFailed(
                f"{_said(wanted)}: the file is from before the command ran, which did not write it",
                advice="Check that the command writes its results, and to this file.",
            )
        if len(new) > _MOST_FILES:
            raise ImportFailed(f"{_said(wanted)}: these are {len(new):,} files, over the limit of {_MOST_FILES:,}")
        return new, len(found) - len(new)


@dataclass(frozen=True, slots=True)
class _Telling:
    """Tells what files say, `numbers` of each format. `holders`: by format and label, who has told of a suite."""

    launch: Launch
    tell: Tell
    read: ReadResults
    identity: Identity | None
    suites: Sequence[str]
    numbers: Mapping[str, int]
    holders: dict[tuple[str, str], str] = field(default_factory=dict)

    async def file(self, form: str, path: Path) -> None:
        """Tell what one says.

        Raises:
            ImportFailed: it cannot be read, or has a suite that another file had, which no later run could tell apart.
        """
        name = _called(path, self.launch.cwd)
        with _opened(path, name, self.identity) as file:
            events = self.read(form, file, name=name, alone=self.numbers[form] == 1)
            more = True
            while more:
                batch, failure = await anyio.to_thread.run_sync(_next_of, events)
                for event in batch:
                    if isinstance(event, SuiteStarted):
                        self._hold(event, form, name)
                if wanted := [event for event in batch if is_wanted(event.suite, self.suites)]:
                    self.tell(Said(self.launch.name, f"{form}:{name}", wanted))
                if failure is not None:
                    raise failure
                more = bool(batch)

    def _hold(self, started: SuiteStarted, form: str, name: str) -> None:
        if not is_wanted(started.suite, self.suites):
            self.tell(LeftOut(self.launch.name, started.suite))
            return
        label = label_of(started.suite, started.params)
        if (holder := self.holders.setdefault((form, label), name)) != name:
            raise ImportFailed(
                f"{name!r:.300} and {holder!r:.300} both hold a suite {label!r:.200}",
                advice="Name the suites, or the files, to tell them apart in every run; a name with a date does not.",
            )


def _next_of(events: Iterator[Event]) -> tuple[list[Event], ImportFailed | None]:
    """The next events, and why there are no more: what was read before a failure counts."""
    batch: list[Event] = []
    try:
        batch.extend(islice(events, _BATCH))
    except ImportFailed as error:
        return batch, error
    return batch, None


def _called(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _said(wanted: Import) -> str:
    return f"results of {wanted.format} in {wanted.pattern!r:.200}"


def _found(folder: Path, wanted: Import) -> list[Path]:
    """The files that a pattern names: itself alone, where there is a file of that very name."""
    plain = folder / wanted.pattern
    if plain.is_file():
        return [plain]
    named = glob.glob(wanted.pattern, root_dir=folder, recursive=True)  # noqa: PTH207 - Path.glob refuses absolute ones
    return sorted(path for each in named if (path := folder / each).is_file())


def _stamp(path: Path) -> _Stamp | None:
    """None for what is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) if stat.S_ISREG(found.st_mode) else None


def _opened(path: Path, name: str, identity: Identity | None) -> BinaryIO:
    """The file, to be read.

    Raises:
        ImportFailed: it is no regular file, or one that whoever ran the command could not have written: by a link they
            would have us read what they may not.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ImportFailed(f"{name!r:.300} cannot be read: {error.strerror}") from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or (identity is not None and not identity.could_write(handle)):
        os.close(handle)
        raise ImportFailed(f"{name!r:.300} is no file of whoever ran the command")
    return os.fdopen(handle, "rb")
