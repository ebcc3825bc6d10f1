"""What comes from the blob host: checked, bounded, and fetched without our token."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable
from functools import partial
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from tests.fakes.github import Artifact, bomb, zipped
from tests.integration.github.place import Place

from scoregate.errors import GitHubRefused, RecordError
from scoregate.kernel.job.baseline.artifact import read_artifact
from scoregate.kernel.job.baseline.unpack import OWN_BOUNDS, ArchiveBounds

pytestmark = pytest.mark.anyio
SMALL = ArchiveBounds(packed=1 << 20, files=1 << 20, head=100_000, inflated=1 << 20, cases=1_000)
Tamper = Callable[[Artifact], object]


async def read(place: Place, artifact: Artifact, bounds: ArchiveBounds = OWN_BOUNDS) -> int:
    entry = {"id": artifact.id, "digest": artifact.digest}
    async with place.api() as api:
        return len(list((await read_artifact(api, entry, bounds)).cases))


async def test_another_host_serves_it_without_the_token(place: Place) -> None:
    artifact = place.upload(place.main[2])
    assert await read(place, artifact) == 3
    (requests,) = place.github.storage.requests
    assert "authorization" not in requests.headers
    assert not any("ghs_" in value for value in requests.headers.values())


@pytest.mark.parametrize("folder", ["", "run/", "some/where/run/"])
async def test_the_run_is_found_at_the_root_or_below(place: Place, folder: str) -> None:
    files = {path.name: path.read_bytes() for path in place.stored(place.main[2]).iterdir()}
    content = {f"{folder}{name}": data for name, data in files.items()} | {"readme.txt": b"hello"}
    assert await read(place, place.upload(place.main[2], content)) == 3


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (lambda each: each.serve(zipped({"run.json": "{}"})), "its digest differs"),
        (lambda each: each.truncate(300), "no response"),
        (lambda each: each.truncate(0), "no response"),
    ],
    ids=["other bytes", "cut", "nothing"],
)
async def test_a_changed_upload_is_refused(place: Place, tamper: Tamper, message: str) -> None:
    artifact = place.upload(place.main[2])
    tamper(artifact)
    with pytest.raises((GitHubRefused, RecordError), match=message):
        await read(place, artifact)


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_a_blob_host_that_refuses(place: Place, status: int) -> None:
    artifact = place.upload(place.main[2])
    place.github.storage.fail("GET", "*", status=status, times=math.inf)
    with pytest.raises(GitHubRefused, match=str(status)):
        await read(place, artifact)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a zip at all", "not a zip"),
        (b"", "not a zip|no run.json"),
        (zipped({"other.json": "{}"}), "holds no run.json"),
        (zipped({"run.json": "{}"}), "schema_version|damaged"),
        (zipped({"run.json": "[]"}), "damaged"),
        (zipped({"run.json": "{"}), "damaged"),
        (zipped({"../run.json": "{}", "/run.json": "{}", "x/../../run/../run.json": "{}"}), "holds no run.json"),
        (partial(bomb, "run.json", 1 << 26), "too large"),
        (partial(bomb, "cases.jsonl.gz", 1 << 26), "too large"),
        (b"x" * (2 << 20), "larger than 1 MB"),
    ],
    ids=["text", "empty", "no run", "no version", "list", "cut json", "slip", "bomb", "bomb of cases", "large"],
)
async def test_invalid_zips(place: Place, content: bytes | Callable[[], bytes], message: str) -> None:
    artifact = place.upload(place.main[2], {"x": b""})
    artifact.content, artifact.digest = content() if callable(content) else content, None
    with pytest.raises((GitHubRefused, RecordError), match=message):
        await read(place, artifact, SMALL)


@pytest.mark.parametrize("cases", [b"\n" * 2_000, b"x" * (2 << 20)], ids=["lines", "bytes"])
async def test_too_many_cases_after_unpacking(place: Place, cases: bytes) -> None:
    files = {path.name: path.read_bytes() for path in place.stored(place.main[2]).iterdir()}
    content = files | {"cases.jsonl.gz": gzip.compress(cases)}
    with pytest.raises(RecordError, match="holds too much"):
        await read(place, place.upload(place.main[2], content), SMALL)


async def test_a_zip_with_1000_bad_paths_writes_nothing_outside(place: Place) -> None:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for path in sorted(place.stored(place.main[2]).iterdir()):
            archive.writestr(path.name, path.read_bytes())
        for number in range(1_000):
            archive.writestr(f"{'../' * (number % 9)}escaped/run/../../escaped-{number}", "x")
    before = set(place.folder.parent.rglob("*"))
    assert await read(place, place.upload(place.main[2], file.getvalue())) == 3
    assert not [path for path in set(place.folder.parent.rglob("*")) - before if "escaped" in path.name]


@pytest.mark.parametrize("large", [False, True])
async def test_a_zip_of_very_many_files_is_not_opened(
    place: Place, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = BytesIO()
    if large:
        monkeypatch.setattr("zipfile.ZIP_FILECOUNT_LIMIT", 0)
    with ZipFile(file, "w") as archive:
        for number in range(2 if large else 40_000):
            archive.writestr(f"{number:060}", b"")
    with pytest.raises(RecordError, match="too many files"):
        await read(place, place.upload(place.main[2], file.getvalue()))
