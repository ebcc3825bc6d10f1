"""Pictures and players in the report: shown, named, and no way in."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.fakes.media import BEEP, GREEN, RED
from tests.integration.host.conftest import Project
from tests.integration.page.conftest import Opener
from tests.integration.page.test_access import needs_axe, violations
from tests.integration.page.test_safety import VIOLATIONS

SUITE = """
import sys
from pathlib import Path
from scoregate import Media, evaluate

HERE = Path(__file__).parent
PAINTED = Path(sys.argv[1]).read_bytes()
evaluate(
    "painter",
    data=[{"id": "red", "input": Media.from_path(HERE / "red.png")}],
    task=lambda input: {"image": Media.from_bytes(PAINTED, name='<img src=x onerror="window.pwned=1">'),
                        "say": Media.from_path(HERE / "beep.wav")},
    scorers=[lambda output, input: output["image"] == input],
)
"""
# Not `wait_for_function`: unless it holds at once, it looks again by evaluating text, which the policy refuses.
WAIT_FOR_MEDIA = """async () => {
  await Promise.all([...document.querySelectorAll(".medium img")].map((each) => each.decode()))
  return Promise.all([...document.querySelectorAll(".medium audio")].map(async (each) => {
    if (!(each.duration > 0)) await new Promise((done) => each.addEventListener("loadedmetadata", done))
    return each.duration > 0
  }))
}"""
FORGED = f"""
import json, os
from pathlib import Path

def say(kind, **fields):
    with open(Path(os.environ["SCOREGATE_EVENTS"], "log.jsonl"), "a") as file:
        file.write(json.dumps({{"suite": "forged", "type": kind, **fields}}) + "\\n")

folder = Path(os.environ["SCOREGATE_EVENTS"], "media")
folder.mkdir()
(folder / "{sha256(RED).hexdigest()}.png").symlink_to(Path("red.png").absolute())
say("suite_started", cases=1)
say("case_started", case="a", input={{}})
say("case_output", case="a", output=json.loads('''OUTPUT'''))
say("scored", case="a", evaluator="e", score=1)
say("case_finished", case="a")
say("suite_finished")
"""


def write_project(root: Path) -> Project:
    project = Project(root)
    for name, data in {"red.png": RED, "green.png": GREEN, "beep.wav": BEEP}.items():
        (root / name).write_bytes(data)
    project.write("paint.py", SUITE)
    return project


@pytest.fixture(scope="module")
def media_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = write_project(tmp_path_factory.mktemp("painted"))
    for name in ("red", "green"):
        command = json.dumps(f"{sys.executable} paint.py {name}.png")
        project.write("scoregate.toml", f'[[commands]]\nname = "paint"\nrun = {command}\n')
        outcome = project.scoregate("run", *(["--baseline", "base"] if name == "green" else []))
        if name == "red":
            (outcome.out / "run").rename(project.root / "base")
    return outcome.out / "report.html"


def test_both_pictures_and_their_recording_are_shown(media_report: Path, visit: Opener) -> None:
    page = visit(media_report)
    page.evaluate(VIOLATIONS)
    page.click(".list tbody tr:not(.space) >> nth=0")
    pictures = page.get_by_role("dialog").locator(".medium img")
    expect(pictures).to_have_count(3)
    assert page.evaluate(WAIT_FOR_MEDIA) == [True, True]
    assert pictures.evaluate_all("(all) => all.map((each) => each.naturalWidth)") == [32, 32, 32]
    assert page.evaluate("window.refused") is None
    assert page.evaluate("window.pwned") is None
    name = '<img src=x onerror="window.pwned=1">, image/png, '
    assert (page.locator(".medium img").first.get_attribute("alt") or "").startswith(name)


@needs_axe
def test_axe_finds_nothing_in_a_case_with_pictures(media_report: Path, visit: Opener) -> None:
    page = visit(media_report, bypass_csp=True)
    page.click(".list tbody tr:not(.space) >> nth=0")
    expect(page.locator(".medium img")).to_have_count(3)
    assert violations(page) == []


def test_forged_references_show_no_file(tmp_path: Path, visit: Opener) -> None:
    project = write_project(tmp_path)
    digest = sha256(RED).hexdigest()
    good = {"media": f"sha256:{digest}", "type": "image/png", "bytes": len(RED)}
    output = [good, {**good, "media": "sha256:../../red"}, {**good, "type": "image/svg+xml"}, {**good, "bytes": -5}]
    project.write("forged.py", FORGED.replace("OUTPUT", json.dumps(output)))
    project.write("scoregate.toml", f'[[commands]]\nname = "x"\nrun = "{sys.executable} forged.py"\n')
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "in the folder of images and recordings is not valid" in outcome.output
    assert not (outcome.out / "run" / "media").exists()
    page = visit(outcome.out / "report.html")
    assert page.locator(".cases .notice").text_content() == (
        "1 image or recording is not kept with the run or its baseline."
    )
    page.click(".list tbody tr:not(.space) >> nth=0")
    expect(page.locator(".medium.gone")).to_have_count(1)
    expect(page.locator(".medium.gone")).to_contain_text("not kept with this run")
    assert page.locator("img").count() == 0
