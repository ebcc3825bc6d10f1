"""A browser, and reports of real runs for it to open."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.integration.host.conftest import Project

# The shell has the same engine, and needs a third of the processor time for a page.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
SUITES = Path(__file__).with_name("suite_events.py")
Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """The browser of this process, whose loop is put away after a module: while it is there, nothing async can run."""
    if CHROMIUM is None:
        pytest.skip(
            "NOT TESTED, the report in a browser: there is no chromium (apt-get install chromium-headless-shell)"
        )
    expect.set_options(timeout=60_000)  # other tests run at the same time
    browser_process, loop = start_browser(request.config, CHROMIUM)
    asyncio._set_running_loop(loop)
    yield browser_process
    put_loop_away()


@cache
def start_browser(config: pytest.Config, program: str) -> tuple[Browser, asyncio.AbstractEventLoop]:
    """Start a browser that is closed after all tests of this process, and the loop that waits for it."""
    playwright = sync_playwright().start()
    browser_process = playwright.chromium.launch(executable_path=program, args=list(QUIET))
    loop = asyncio.get_running_loop()

    def close() -> None:
        asyncio._set_running_loop(loop)
        browser_process.close()
        playwright.stop()
        put_loop_away()

    config.add_cleanup(close)
    return browser_process, loop


def put_loop_away() -> None:
    asyncio._set_running_loop(None)
    sys.set_asyncgen_hooks(None, None)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Opener]:
    """Opens a report in a context of its own, and waits until all of its cases are there."""
    contexts = []

    def opened(report: Path, address: str = "", *, ready: bool = True, **options: object) -> Page:
        context = browser.new_context(**options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{report.as_uri()}{address}")
        if ready:
            page.wait_for_selector("html[data-ready=all]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()


def run_of(root: Path, suites: str) -> Path:
    """The report of a run that is worse than its base, both made by the command line."""
    root.mkdir()
    project = Project(root)
    command = f"{sys.executable} {SUITES} {suites}"
    for worse in ("", " --worse"):
        project.write(
            "scoregate.toml",
            f'[[commands]]\nname = "suites"\nrun = "{command}{worse}"\n\n'
            "[suites.support-bot]\nmax_drop = 0.05\nmin_score = { tone = 0.7 }\n",
        )
        project.commit()
        outcome = project.scoregate(
            "run", *(["--baseline", "base", "-m", "stricter <b>retrieval</b>"] if worse else [])
        )
        if not worse:
            shutil.move(outcome.out, root / "base")
    assert (outcome.out / "report.html").is_file(), outcome.output
    return outcome.out / "report.html"


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a bot that got worse, conversations, and repeats."""
    return run_of(tmp_path_factory.mktemp("page") / "app", "bot")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of suites in which every text would like to be markup."""
    return run_of(tmp_path_factory.mktemp("page") / "hostile", "hostile")
