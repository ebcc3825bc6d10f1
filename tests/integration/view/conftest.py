"""Projects with runs, a page that shows them, and runs that go on as far as a test lets them."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.integration.host.conftest import SUITE, Project
from tests.integration.page.conftest import browser  # noqa: F401 (a fixture)

expect.set_options(timeout=60_000)
LOOSE = "--min-pass-rate=0"
# A case waits until the test has made a file of its name, unless nothing waits.
WAITING = (
    SUITE
    + """
import time
from pathlib import Path

def answer(case):
    while Path("hold").exists() and not Path(f"go-{case.input}").exists():
        time.sleep(0.02)
    return case.input

run_test_suite(
    id="demo",
    test_cases=[Case(name, name if name != "bad" else "<i>good</i>") for name in ("one", "two", "bad", "last")],
    fn=answer,
    evaluators=[IsEquals()],
)
"""
)


@dataclass(frozen=True)
class Place:
    """A project on a developer's machine."""

    project: Project

    @property
    def root(self) -> Path:
        return self.project.root

    @property
    def out(self) -> Path:
        return self.root / "scoregate-out"

    def hold(self) -> None:
        """From now on, cases wait to be let go."""
        for file in self.root.glob("go-*"):
            file.unlink()
        (self.root / "hold").touch()

    def let_go(self, *names: str) -> None:
        for name in names:
            (self.root / f"go-{name}").touch()

    def run(self, *arguments: str, **environment: str) -> str:
        outcome = self.project.scoregate("run", LOOSE, *arguments, **{"CI": "", **environment})
        assert outcome.exit_code == 0, outcome.output
        return outcome.output

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A run that is at work; its cases wait. At the end of the block they do not."""
        self.hold()
        process = self.project.start("run", LOOSE, *arguments, CI="")
        try:
            yield process
        finally:
            (self.root / "hold").unlink(missing_ok=True)
            process.communicate(timeout=180)

    @contextmanager
    def viewing(self, *arguments: str, lines: list[str] | None = None, **environment: str) -> Iterator[str]:
        """The address of the page, as long as it is served; `lines` gets the output before it."""
        process = self.project.start("view", *arguments, **{"CI": "", **environment})
        try:
            yield _address(process, [] if lines is None else lines)
        finally:
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=180)
        assert process.returncode == 0, rest


def _address(process: subprocess.Popen[str], seen: list[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        seen.append(line)
        if line.startswith("http://127.0.0.1:"):
            return line.strip()
    raise AssertionError("".join(seen))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def make_place(root: Path) -> Place:
    project = Project(root)
    project.write("evals/demo.py", WAITING)
    project.write(".gitignore", "scoregate-out/\nhold\ngo-*\n")
    project.commit()
    return Place(project)


@pytest.fixture(scope="session")
def place_made_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = make_place(tmp_path_factory.mktemp("view"))
    place.run()
    return place.root


@pytest.fixture
def place_with_run(place_made_before: Path, tmp_path: Path) -> Place:
    """A copy of a project in which a suite ran once."""
    return Place(Project(shutil.copytree(place_made_before, tmp_path, dirs_exist_ok=True)))


Looker = Callable[..., Page]


@pytest.fixture
def look(browser: Browser) -> Iterator[Looker]:  # noqa: F811
    """Opens the page in a context of its own."""
    contexts = []

    def opened(address: str, **options: object) -> Page:
        context = browser.new_context(**options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(address)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
