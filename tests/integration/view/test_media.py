"""The files of images and audio that a page leaves out are served by their digest, and nothing else is."""

from __future__ import annotations

from hashlib import sha256

import pytest
from playwright.sync_api import expect
from tests.fakes.media import BEEP, GREEN, RED
from tests.integration.view.conftest import Looker, Place
from tests.integration.view.test_safety import open_client

SUITE = """
from pathlib import Path
from scoregate import Media, evaluate

evaluate(
    "painter",
    data=[{"id": "red", "input": Media.from_path(Path(__file__).parent / "red.png")}],
    task=lambda input: [Media.from_path(Path(__file__).parent / "beep.wav")],
    scorers=[lambda output: True],
)
"""


@pytest.fixture
def painted(place: Place) -> Place:
    """A project whose only suite has a picture and a recording."""
    for file in place.root.glob("**/*.py"):
        file.unlink()
    place.project.write("eval_painter.py", SUITE)
    (place.root / "red.png").write_bytes(RED)
    (place.root / "beep.wav").write_bytes(BEEP)
    assert place.project.scoregate("run", "--baseline", "none").exit_code == 0
    return place


def test_a_file_is_served_with_its_type_and_only_to_the_page(painted: Place) -> None:
    (painted.out / "run" / "media" / f"{sha256(GREEN).hexdigest()}.png").write_bytes(b"<script>alert(1)</script>")
    with painted.viewing() as address, open_client(address) as client:
        for data, kind in ((RED, "image/png"), (BEEP, "audio/wav")):
            response = client.get(f"/media/{sha256(data).hexdigest()}")
            assert (response.status_code, response.content, response.headers["content-type"]) == (200, data, kind)
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["content-security-policy"].startswith("default-src 'none'")
        for digest in (sha256(GREEN).hexdigest(), "0" * 64, "..%2f..%2fred.png", "red.png", f"{'0' * 64}.png"):
            assert client.get(f"/media/{digest}").status_code == 404, digest
        client.cookies.clear()
        assert client.get(f"/media/{sha256(RED).hexdigest()}").status_code == 403


def test_omitted_files_have_a_link(painted: Place, look: Looker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.kernel.report.html.trial.MOST_BYTES", 10)
    assert painted.project.scoregate("run", "--baseline", "none").exit_code == 0
    with painted.viewing() as address:
        page = look(address)
        frame = page.frame_locator("iframe")
        frame.locator(".list tbody tr:not(.space)").first.click()
        expect(frame.locator(".medium.gone")).to_have_count(2)
        with page.expect_popup() as popup:
            frame.locator(".medium.gone a").last.click()
        expect(popup.value.locator("img")).to_have_count(1)
