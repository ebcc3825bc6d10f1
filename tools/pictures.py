"""Make the pictures of the documentation: `python -m tools.pictures [NAME]...`, without names all of them.

They show real runs: of the examples in this repository, and of a small suite with battles. Needs chromium, the
extra `dev`, and fonts: `apt-get install fonts-noto-color-emoji fonts-liberation`.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text
from tests.fakes.github import GitHub, events
from tests.features.interventions.bot import write_bot
from tests.integration.host.conftest import Project
from tests.integration.jobs.world import World
from tools import browser, diagrams, edit_loop, skill_pictures, team_pictures

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BIN = Path(sys.executable).parent
COLUMNS = 104
FONTS = ("Noto Color Emoji", "Liberation Sans", "Liberation Mono")
# Earlier values of the bot's cut-off, oldest first: the line of earlier runs in the report.
HISTORY = (45, 68, 52, 64, 60)
# 2026-01-01, of the page of a history.
FIRST_DAY = 1_767_225_600.0
CAUSE_SETTINGS = 'min_pass_rate = 0\nfail_on_regression = true\nexplain_regressions = "auto"\n'
# The last line of the bot makes its answers follow one more rule.
POLITE = """
answer = (lambda answer: lambda question: answer(question) + (" please" if "polite" in prompt else ""))(answer)
"""
BATTLE = """
from dataclasses import dataclass

from scoregate.testing.evaluators import BaseManualBattle
from scoregate.testing.models import BaseTestCase
from scoregate.testing.run import run_test_suite

OLD = "Returns are possible within 30 days of delivery, provided the goods are unused. See our terms, section 4."
NEW = "Yes. Within 30 days you can return it for a refund or store credit; a plain box will do."
QUESTIONS = ["May I return a lamp without its box?", "May I return a tent without its bag?"]


@dataclass
class Question(BaseTestCase):
    text: str

    def hash(self):
        return self.text


class BetterAnswer(BaseManualBattle[Question, str]):
    id = "better-answer"
    criteria = "The better answer is complete, in few words."

    def output_mapper(self, output):
        return output

    def baseline_mapper(self, test_case):
        return OLD


run_test_suite(
    id="support-bot", test_cases=[Question(text) for text in QUESTIONS], fn=lambda _: NEW, evaluators=[BetterAnswer()]
)
"""


def main() -> None:
    """Make the named pictures."""
    names = sys.argv[1:] or list(PICTURES)
    fonts = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=True).stdout
    if missing := [font for font in FONTS if font not in fonts]:
        sys.exit(f"without these fonts, signs are missing in the pictures: {', '.join(missing)}")
    for name in names:
        PICTURES[name](DOCS / name)
        print(DOCS / name)


def run(folder: Path, *arguments: str, columns: int = COLUMNS, **environment: str) -> str:
    """Run scoregate in a folder and return its output, with colours."""
    dropped = ("SCOREGATE_", "GITHUB_", "CI", "NO_COLOR", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    path = os.pathsep.join([str(BIN), kept["PATH"]])
    settings = {"PATH": path, "COLUMNS": str(columns), "FORCE_COLOR": "1", **environment}
    command = ["scoregate", *arguments]
    done = subprocess.run(command, cwd=folder, env={**kept, **settings}, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


@cache
def project() -> Path:
    """A repository with the examples, a few earlier runs, and a run of the change."""
    folder = Path(tempfile.mkdtemp(prefix="scoregate-pictures-"))
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("base-run", "__pycache__"))
    suites = ", ".join(f'"examples/{name}"' for name in ("support_bot", "ticket_router", "order_extractor"))
    settings = f'paths = [{suites}]\n\n[suites."*"]\nmin_pass_rate = 0.85\n'
    (folder / "scoregate.toml").write_text(settings, encoding="utf-8")
    (folder / ".gitignore").write_text("__pycache__/\nruns/\nscoregate-out/\n", encoding="utf-8")
    _git(folder, "init", "--quiet", "--initial-branch=main")
    config, base = folder / "examples/support_bot/config_base.toml", "none"
    for number, cut_off in enumerate(HISTORY):
        text = re.sub(r"(?m)^minimum_score = .*", f"minimum_score = {cut_off}", config.read_text(encoding="utf-8"))
        config.write_text(text, encoding="utf-8")
        _commit(folder, f"Set the cut-off to {cut_off}")
        run(folder, "run", "--baseline", base, "--out", f"runs/{number}", EXAMPLES_REVISION="base")
        base = f"runs/{number}"
    _git(folder, "checkout", "--quiet", "-b", "stricter-retrieval")
    (folder / "NOTES.md").write_text("The bot guesses less.\n", encoding="utf-8")
    _commit(folder, "Guess less")
    shutil.copytree(folder / base, folder / "runs" / "main")
    return folder


def _commit(folder: Path, message: str) -> None:
    _git(folder, "add", "--all")
    _git(folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "-m", message)


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


@cache
def change() -> str:
    """Run the suites of the change, compared with the base, and return what the terminal shows."""
    return run(project(), "run", "--baseline", "runs/main")


def session(picture: Path) -> None:
    """A terminal: the examples, compared with their base. Of the failing cases it shows the first two."""
    lines = change().splitlines()
    plain = [Text.from_ansi(line).plain for line in lines]
    start = next(number for number, line in enumerate(plain) if "newly failing cases" in line)
    third = [number for number, line in enumerate(plain) if number > start and line.startswith("✗ ")][2]
    end = next(number for number, line in enumerate(plain) if number > third and not line)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS + 2, file=nowhere)
        console.print(Text.assemble(("$ ", "bold green"), ("scoregate run", "bold")))
        for line in [*lines[:third], "  \x1b[2m⋮\x1b[0m", *lines[end:]]:
            console.print(Text.from_ansi(line))
    picture.write_text(console.export_svg(title="scoregate", theme=MONOKAI, unique_id="session"), encoding="utf-8")


def comment(picture: Path) -> None:
    """The comment on a pull request, with GitHub's own Markdown parser."""
    change()
    _picture_comment(project(), picture)


def skill_comment(picture: Path) -> None:
    """The comment on a pull request that changes a skill."""
    folder = Path(tempfile.mkdtemp(prefix="scoregate-pictures-"))
    skill_pictures.write_project(folder, ROOT)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _commit(folder, "Add the skill")
    run(folder, "run", "--baseline", "none", "--out", "runs/main")
    skill_pictures.write_skill(folder, skill_pictures.KNOWN_NOW)
    _git(folder, "checkout", "--quiet", "-b", "shorter-skill")
    _commit(folder, "Shorten the skill")
    run(folder, "run", "--baseline", "runs/main")
    _picture_comment(folder, picture)


def cause(picture: Path) -> None:
    """The comment on a pull request that edits three places, with the one that made cases fail."""
    folder = Path(tempfile.mkdtemp(prefix="scoregate-pictures-"))
    bot = folder / "support_bot"
    shutil.copytree(ROOT / "examples" / "support_bot", bot, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "scoregate.toml").write_text(CAUSE_SETTINGS, encoding="utf-8")
    (folder / ".gitignore").write_text("__pycache__/\nruns/\nscoregate-out/\n", encoding="utf-8")
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _commit(folder, "Add the bot")
    run(folder, "run", "--baseline", "none", "--out", "runs/main")
    text = (bot / "faq.toml").read_text(encoding="utf-8")
    text = re.sub(r'(?ms)^\[\[entry\]\]\ntopic = "refund-time".*?(?=^\[\[entry\]\])', "", text)
    text = text.replace('topic = "showroom"\n', 'topic = "showroom"\n# in Kendal\n')
    (bot / "faq.toml").write_text(text, encoding="utf-8")
    with (bot / "bot.py").open("a", encoding="utf-8") as code:
        code.write("# The end.\n")
    _git(folder, "checkout", "--quiet", "-b", "shorter-faq")
    _commit(folder, "Shorten the answers")
    run(folder, "run", "--baseline", "runs/main")
    _picture_comment(folder, picture)


def mutation(picture: Path) -> None:
    """What `scoregate mutate` found in a prompt of five rules."""
    folder = Path(tempfile.mkdtemp(prefix="scoregate-pictures-"))
    write_bot(Project(folder))
    run(folder, "mutate")
    with browser.browser_page(width=1000, height=760, scale=1.2) as page:
        page.goto((folder / "scoregate-out" / "mutate" / "mutation.html").as_uri())
        page.screenshot(path=picture)


def mutation_comment(picture: Path) -> None:
    """The comment of `scoregate mutate` on a pull request that adds a rule which no case checks."""
    with GitHub.start() as github, tempfile.TemporaryDirectory() as folder:
        world = World.new(github, Path(folder), "acme/support-bot")
        write_bot(world.project, 'paths = ["evals/eval_bot.py"]\nmin_pass_rate = 0\nfail_on_regression = true\n')
        world.commit()
        world.branch()
        with (world.project.root / "evals/bot.py").open("a", encoding="utf-8") as code:
            code.write(POLITE)
        with (world.project.root / "evals/prompt.md").open("a", encoding="utf-8") as prompt:
            prompt.write("- Be polite, also to customers who aren't.\n")
        world.commit()
        pull = world.open_pull_request()
        world.job(events.pull_request(pull), "mutate")
        (comment,) = pull.comments
        browser.save_picture(browser.make_box("github-actions", comment.body), picture)


def _picture_comment(folder: Path, picture: Path) -> None:
    markdown = (folder / "scoregate-out" / "comment.md").read_text(encoding="utf-8")
    browser.save_picture(browser.make_box("github-actions", markdown), picture)


def report(picture: Path) -> None:
    """The top of the HTML report."""
    change()
    with browser.browser_page(width=1250, height=1010, scale=1.2) as page:
        page.goto((project() / "scoregate-out" / "report.html").as_uri())
        page.wait_for_selector("html[data-ready=all]", state="attached")
        page.screenshot(path=picture)


def history(picture: Path) -> None:
    """The page of a history: the earlier runs of the examples, as if there was one every second day for months."""
    folder, source = project(), random.Random(1)
    for day in range(0, 240, 2):
        near = min(day // 48 + source.choice((0, 0, 0, 1)), len(HISTORY) - 1)
        target = folder / "history" / f"{day:03}"
        shutil.copytree(folder / "runs" / str(near), target)
        head = json.loads((target / "run" / "run.json").read_text(encoding="utf-8"))
        started = FIRST_DAY + day * 86_400
        head |= {"id": f"day-{day}", "started": started, "finished": started + 60}
        for suite in head["suites"]:
            for evaluator in suite["evaluators"].values():
                evaluator["fingerprint"] = {**(evaluator["fingerprint"] or {}), "version": "1" if day < 100 else "2"}
        (target / "run" / "run.json").write_text(json.dumps(head), encoding="utf-8")
    run(folder, "history", "import", "history", "--project", "acme/bot")
    page_options = ("--since", "2026-01-01", "--output", "history.html", "--project", "acme/bot")
    run(folder, "history", "page", *page_options)
    with browser.browser_page(width=1100, height=860, scale=1.2) as page:
        page.goto((folder / "history.html").as_uri())
        # The other suites don't depend on the cut-off, so that their lines are flat.
        page.locator("figure.trend", has_not_text="support-bot").evaluate_all(
            "all => all.forEach(each => each.remove())"
        )
        page.screenshot(path=picture)


def review(picture: Path) -> None:
    """The page on which people judge battles."""
    folder = Path(tempfile.mkdtemp(prefix="scoregate-pictures-"))
    (folder / "evals").mkdir()
    (folder / "evals" / "eval_battle.py").write_text(BATTLE, encoding="utf-8")
    _git(folder, "init", "--quiet")
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    # Everything waits for people, so that the run is unmeasurable until they have judged.
    command = ["scoregate", "run", "--baseline", "none", "-m", "shorter answers", "--quiet"]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    command = ["scoregate", "review", "--no-open", "--by", "Ada"]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        try:
            with browser.browser_page(width=920, height=560, scale=1.5) as page:
                page.goto(address)
                page.get_by_text("Left is better").wait_for()
                page.screenshot(path=picture)
        finally:
            server.send_signal(signal.SIGINT)


PICTURES: dict[str, Callable[[Path], None]] = {
    "images/session.svg": session,
    "images/edit_loop.svg": edit_loop.edit_loop,
    "images/comment.png": comment,
    "images/skill_comment.png": skill_comment,
    "images/cause.png": cause,
    "images/mutation.png": mutation,
    "images/mutation_comment.png": mutation_comment,
    "images/report.png": report,
    "images/history.png": history,
    "images/review.png": review,
    "images/command.png": team_pictures.command,
    "images/affected.png": team_pictures.affected,
    "images/accepted.png": team_pictures.accepted,
    "images/drift.png": team_pictures.drift,
    "images/alert.png": team_pictures.alert,
    "images/cost.svg": team_pictures.cost,
    **diagrams.DIAGRAMS,
}

if __name__ == "__main__":
    main()
