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
ARCHIVES = ("worlds",)
_PRESET = 9 | lzma.PRESET_EXTREME
# What is shared by worlds is megabytes apart.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": _PRESET, "dict_size": 1 << 26}]


@dataclass(frozen=True)
class World:
    """A project with finished runs, and the commands that judge it.

    Attributes:
        files: the files of the project, by path.
    """

    name: str
    about: str
    commands: tuple[tuple[str, ...], ...]
    environ: Mapping[str, str]
    files: Mapping[str, bytes] = field(repr=False)


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


def _make_world(name: str, files: dict[str, bytes]) -> World:
    known = json.loads(files.pop("world.json"))
    project = {path.removeprefix("project/"): content for path, content in files.items()}
    return World(name, known["about"], tuple(map(tuple, known["commands"])), known.get("environ", {}), project)


def pack_worlds(folder: Path, archive: str) -> None:
    """Write the worlds in a folder to an archive. Compressed files are stored as their text, which is smaller in all."""
    names = sorted(each.name for each in folder.iterdir())
    (FOLDER / f"{archive}.txt").write_text("".join(f"{name}\n" for name in names))
    path = FOLDER / f"{archive}.tar.xz"
    with lzma.open(path, "wb", filters=_FILTERS) as packed, tarfile.open(fileobj=packed, mode="w") as members:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            content = file.read_bytes()
            content = gzip.decompress(content) if file.suffix == ".gz" else content
            member = tarfile.TarInfo(file.relative_to(folder).as_posix())
            member.size = len(content)
            members.addfile(member, io.BytesIO(content))


def unpack_project(world: World, folder: Path) -> None:
    """Write the project of a world to a folder."""
    for path, content in world.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        is_packed = path.endswith(".gz")
        (folder / path).write_bytes(gzip.compress(content, 1, mtime=0) if is_packed else content)


def list_worlds(archive: str) -> list[str]:
    """The names of the worlds of an archive."""
    return (FOLDER / f"{archive}.txt").read_text().split()


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
