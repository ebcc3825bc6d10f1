"""Workflow runs and the artifacts they leave."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fakes.github.model import now

if TYPE_CHECKING:
    from tests.fakes.github.repository import Repository


@dataclass
class Artifact:
    """An artifact; `served` and `cut_after` are for tests that tamper with what the blob host sends."""

    id: int
    run: Run
    name: str
    content: bytes
    digest: str | None
    expired: bool = False
    created_at: datetime = field(default_factory=now)
    served: bytes | None = None
    cut_after: int | None = None

    def serve(self, content: bytes) -> None:
        """Send other bytes than those whose digest GitHub keeps."""
        self.served = content

    def truncate(self, length: int) -> None:
        """Promise everything, send `length` bytes, hang up."""
        self.cut_after = length


@dataclass
class Run:
    """A run of a workflow."""

    repository: Repository
    id: int
    event: str
    head_sha: str
    head_branch: str
    head_repository: Repository
    name: str
    path: str
    status: str
    conclusion: str | None
    run_attempt: int
    created_at: datetime
    login: str
    reruns: list[str] = field(default_factory=list)

    @property
    def artifacts(self) -> list[Artifact]:
        return [artifact for artifact in self.repository.artifacts.values() if artifact.run is self]

    def upload(
        self,
        name: str,
        content: Path | bytes | Mapping[str, bytes | str],
        *,
        expired: bool = False,
        created_at: datetime | None = None,
        overwrite: bool = False,
    ) -> Artifact:
        """Upload a folder, zip bytes, or files by their paths; one name once a run, as upload-artifact has it."""
        taken = [artifact for artifact in self.artifacts if artifact.name == name]
        if taken and not overwrite:
            raise ValueError(f"run {self.id} has an artifact {name!r} already")
        for artifact in taken:
            del self.repository.artifacts[artifact.id]
        data = content if isinstance(content, bytes) else zipped(content)
        number = self.repository.github.next_id()
        digest = f"sha256:{sha256(data).hexdigest()}"
        made = Artifact(number, self, name, data, digest, expired=expired, created_at=created_at or now())
        self.repository.artifacts[number] = made
        return made


def zipped(content: Path | Mapping[str, bytes | str]) -> bytes:
    """A zip of a folder, or of files by their paths."""
    if isinstance(content, Path):
        paths = sorted(path for path in content.rglob("*") if path.is_file())
        content = {path.relative_to(content).as_posix(): path.read_bytes() for path in paths}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def bomb(name: str = "run.json", size: int = 1 << 30) -> bytes:
    """A small zip with an entry of `size` zeros inside."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as entry:
        block = bytes(1 << 20)
        for _ in range(size >> 20):
            entry.write(block)
    return buffer.getvalue()
