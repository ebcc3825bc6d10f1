"""The files of a project as an archive with a digest, which every worker gets once."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import secrets
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from anyio import to_thread

from scoregate.errors import UsageError
from scoregate.kernel.host import git
from scoregate.kernel.types.records import record

MOST_BYTES = 512 * 1024 * 1024
_MOST_FILES = 200_000
_LEFT_OUT = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".scoregate-cache"})


@record
class SourceTree:
    """An archive of a project's files.

    Attributes:
        root: the project.
        digest: the digest of the archive.
        path: the file of the archive.
        size: its number of bytes.
    """

    root: Path
    digest: str
    path: Path
    size: int


async def pack_tree(root: Path, folder: Path, *, left_out: Path) -> SourceTree:
    """Pack the files that git tracks or doesn't ignore; outside of git, all but environments and caches.

    Args:
        root: the project.
        folder: where the archive is written.
        left_out: the folder of reports, which is not packed.

    Raises:
        UsageError: there are too many or too large files.
    """
    listed = await git.list_files(root)
    names = _walk(root) if listed is None else listed
    return await to_thread.run_sync(_pack, root, names, folder, left_out)


def _walk(root: Path) -> Iterator[str]:
    for path, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        yield from (os.path.relpath(Path(path, name), root) for name in sorted(files))


def _pack(root: Path, names: Iterable[str], folder: Path, left_out: Path) -> SourceTree:
    path = folder / f"tree-{secrets.token_hex(4)}.tar.gz"
    left, number = MOST_BYTES, 0
    with (
        path.open("xb") as file,
        # An equal project has an equal digest.
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        path.chmod(0o600)
        for name in names:
            source = root / name
            if source.is_relative_to(left_out) or not (source.is_symlink() or source.is_file()):
                continue
            info = archive.gettarinfo(source, arcname=name)
            # They differ between machines, and the digest must not.
            info.uid, info.gid, info.uname, info.gname, info.mtime = 0, 0, "", "", 0
            left, number = left - info.size, number + 1
            if left < 0 or number > _MOST_FILES:
                raise UsageError(
                    f"the project has more than {MOST_BYTES // 1024**2:,} MB or {_MOST_FILES:,} files for workers",
                    advice="Let git ignore large files, and give workers access to them by another way.",
                )
            if info.isreg():
                with source.open("rb") as content:
                    info.size = os.fstat(content.fileno()).st_size  # the file may have grown since
                    archive.addfile(info, content)
            else:
                archive.addfile(info)
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as written:
        while chunk := written.read(1 << 20):
            digest.update(chunk)
    return SourceTree(root, digest.hexdigest(), path, path.stat().st_size)


def unpack_tree(archive: bytes | Path, digest: str, target: Path) -> None:
    """Unpack an archive. The folder appears when it is complete.

    Args:
        archive: the archive, or its file.
        digest: the digest that it must have.
        target: the folder.

    Raises:
        ValueError: it is damaged, or has an entry outside of the folder.
    """
    data = archive.read_bytes() if isinstance(archive, Path) else archive
    if hashlib.blake2b(data, digest_size=16).hexdigest() != digest:
        raise ValueError("the archive of the project was damaged on its way")
    partial = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    partial.mkdir(parents=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as packed:
            # Links are the project's own, and may lead anywhere, as they do in a checkout. 3.11.3 has no filters.
            packed.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
            for member in packed:
                if PurePosixPath(member.name).is_absolute() or ".." in PurePosixPath(member.name).parts:
                    raise ValueError(f"{member.name!r:.100} is outside of the project")
                packed.extract(member, partial)
        partial.rename(target)
    except (tarfile.TarError, OSError) as error:
        if not target.is_dir():  # another attempt may have unpacked it meanwhile
            raise ValueError(f"the project can't be unpacked: {error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
