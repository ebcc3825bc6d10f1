"""The stored worlds and their expected outputs."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
# Several, so that whoever adds worlds doesn't write the others again.
ARCHIVES = ("worlds", "recorded")
_PRESET = 9 | lzma.PRESET_EXTREME
# What is shared by worlds is megabytes apart.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": _PRESET, "dict_size": 1 << 26}]


@dataclass(frozen=True)
class World:
    """A project with finished runs, and the commands that judge it.

    Attributes:
        files: the files of the project, by path.
        now: the time at which the commands run; None for that of most worlds.
        commits: those on the branch of the job on GitHub, the oldest first; empty without a job.
        stored: the files of runs on the data branch of the job, by path.
    """

    name: str
    about: str
    commands: tuple[tuple[str, ...], ...]
    environ: Mapping[str, str]
    files: Mapping[str, bytes] = field(repr=False)
    now: float | None = None
    commits: tuple[str, ...] = ()
    stored: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@cache
def read_worlds() -> dict[str, World]:
    """All worlds, by name; the archives are read once in a process."""
    files: dict[str, dict[str, bytes]] = {}
    for archive in ARCHIVES:
        for path, content in _read_archive(FOLDER / f"{archive}.tar.xz"):
            world, _, inner = path.partition("/")
            files.setdefault(world, {})[inner] = content
    return {name: _make_world(name, own) for name, own in files.items()}


def _read_archive(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as members:
        for member in members:
            if (file := members.extractfile(member)) is not None:
                yield member.name, file.read()


def _make_world(name: str, files: Mapping[str, bytes]) -> World:
    known = json.loads(files["world.json"])
    project, stored = (
        {path.removeprefix(top): _pack_text(path, content) for path, content in files.items() if path.startswith(top)}
        for top in ("project/", "github/")
    )
    commands, commits = tuple(map(tuple, known["commands"])), tuple(known.get("github", {}).get("commits", ()))
    environ, now = known.get("environ", {}), known.get("now")
    return World(name, known["about"], commands, environ, project, now, commits, stored)


def _pack_text(path: str, content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0) if path.endswith(".gz") else content


def pack_worlds(folder: Path, archive: str) -> None:
    """Write the worlds in a folder to an archive. Compressed files are stored as their text, which takes less."""
    lines = (f"{world.name:29} {_describe_settings(world)}".rstrip() for world in sorted(folder.iterdir()))
    (FOLDER / f"{archive}.txt").write_text("".join(f"{line}\n" for line in lines))
    path = FOLDER / f"{archive}.tar.xz"
    with lzma.open(path, "wb", filters=_FILTERS) as packed, tarfile.open(fileobj=packed, mode="w") as members:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            content = file.read_bytes()
            content = gzip.decompress(content) if file.suffix == ".gz" else content
            member = tarfile.TarInfo(file.relative_to(folder).as_posix())
            member.size = len(content)
            members.addfile(member, io.BytesIO(content))


def _describe_settings(world: Path) -> str:
    """The settings of a world on one line."""
    path = world / "project" / "scoregate.toml"
    return "; ".join(path.read_text().splitlines()) if path.exists() else ""


def unpack_project(world: World, folder: Path) -> None:
    """Write the project of a world to a folder."""
    for path, content in world.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def list_worlds(archive: str) -> list[str]:
    """The names of the worlds of an archive."""
    return [line.split(maxsplit=1)[0] for line in (FOLDER / f"{archive}.txt").read_text().splitlines()]


@cache
def _read_lines(archive: str) -> dict[str, bytes]:
    """The expected outputs of each world as JSON, which is parsed for the worlds that are judged."""
    path = FOLDER / f"{archive}.expected.xz"
    lines = lzma.decompress(path.read_bytes()).splitlines() if path.exists() else []
    return {name.decode(): text for name, _, text in (line.partition(b"\t") for line in lines)}


def read_expected(archive: str, world: str) -> dict[str, str]:
    """The expected outputs of a world, by name; none if it is new."""
    outputs: dict[str, str] = json.loads(_read_lines(archive).get(world, b"{}"))
    return outputs


def write_expected(archive: str, outputs: Mapping[str, Mapping[str, str]]) -> None:
    """Write the expected outputs of the worlds of an archive."""
    lines = (f"{world}\t{json.dumps(outputs[world])}\n".encode() for world in sorted(outputs))
    packed = lzma.compress(b"".join(lines), filters=_FILTERS)
    (FOLDER / f"{archive}.expected.xz").write_bytes(packed)
