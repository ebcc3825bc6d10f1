"""Pages are rendered on request: once, for connected clients, and again after changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from starlette.types import Message

from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd
from scoregate.web.server import AccessKeys
from scoregate.web.view_app import build_view_app
from scoregate.web.view_runs import ReportRenderer, RunList, find_runs


class CountedRunList:
    """A list of runs with counted page renders, and a client."""

    def __init__(self, root: Path) -> None:
        self.made: list[str] = []
        self.now = 0
        self.keys = AccessKeys(80, "view")
        self.shelf = RunList([root], ReportRenderer(self._render, lambda: self.now))
        self._app = build_view_app(self.shelf, self.keys)

    def _render(self, run: Path, base: Path | None) -> Iterator[str]:
        self.made.append(f"{run.name} {base and base.name}")
        yield f"page {len(self.made)}"

    async def ask(self, path: str, *, gone: bool = False) -> tuple[int, bytes]:
        cookie = f"{self.keys.name}={self.keys.cookie}"
        headers = [(b"host", b"127.0.0.1:80"), (b"cookie", cookie.encode())]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
        sent: list[Message] = []

        async def receive() -> Message:
            if not gone:
                await anyio.sleep_forever()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def write(folder: Path, number: int) -> None:
    with RunWriter(folder) as writer:
        writer.finish(Run(f"id {number}", number, RunEnd(number, complete=True), RunCode("0.1")))


@pytest.fixture
def run_list(tmp_path: Path) -> Iterator[CountedRunList]:
    for number, name in enumerate(("old", "new")):
        write(tmp_path / name, number)
    runs = CountedRunList(tmp_path)
    yield runs
    runs.shelf.renderer.close()


@pytest.mark.anyio
async def test_a_page_is_rendered_once_per_change(run_list: CountedRunList, tmp_path: Path) -> None:
    new, old = (run.key for run in find_runs([tmp_path]))
    for _ in range(2):
        assert await run_list.ask(f"/report/{new}/{old}") == (200, b"page 1")
    assert await run_list.ask(f"/report/{new}/nothing") == (200, b"page 2")
    run_list.now += 1
    assert await run_list.ask(f"/report/{new}/{old}") == (200, b"page 3")
    write(tmp_path / "old", 0)
    assert await run_list.ask(f"/report/{new}/{old}") == (200, b"page 4")
    assert run_list.made == ["new old", "new None", "new old", "new old"]


@pytest.mark.anyio
async def test_the_cache_is_limited(run_list: CountedRunList, tmp_path: Path) -> None:
    new = find_runs([tmp_path])[0].key
    for run_list.now in [*range(25), 24, 0]:
        assert (await run_list.ask(f"/report/{new}/nothing"))[0] == 200
    assert len(run_list.made) == 26


@pytest.mark.anyio
async def test_a_disconnect_skips_rendering(run_list: CountedRunList, tmp_path: Path) -> None:
    key = find_runs([tmp_path])[0].key
    assert await run_list.ask(f"/report/{key}/nothing", gone=True) == (204, b"")
    assert run_list.made == []


def test_runs_are_found_without_links_or_parts_of_runs(tmp_path: Path) -> None:
    places = ("a", "b/c/run", "b/c/d/run", "b/confirm-1", "a/extra-1", ".hidden/run")
    for number, place in enumerate(places):
        write(tmp_path / "top" / place, number)
    write(tmp_path / "elsewhere", 9)
    (tmp_path / "top" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "top" / "broken").mkdir()
    (tmp_path / "top" / "broken" / "run.json").write_text("{")
    assert [run.head.id for run in find_runs([tmp_path / "top"])] == ["id 1", "id 0"]
