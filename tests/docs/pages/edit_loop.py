"""The edit loop: it goes on with the files of the pages before, and its watch ends after the first run."""

from __future__ import annotations

from importlib.util import find_spec

from tests.docs.page import Block, read_blocks
from tests.docs.project import Project

_SCRIPT = """
{command} > watch.log 2>&1 &
watch=$!
until grep --quiet "Waiting for changes" watch.log; do kill -0 $watch; sleep 0.1; done
kill -TERM $watch
wait $watch && code=0 || code=$?
cat watch.log
exit $code
"""
_FILES = ("bot.py", "evals/bot.csv", "evals/eval_bot.py")


def prepare(project: Project) -> None:
    """Run the suite of the pages before: the bot fails eight cases."""
    write_files(project)
    outcome = project.run(["scoregate", "run"])
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr


def write_files(project: Project) -> None:
    """Write the files of the pages before, as they are at their ends."""
    for page in ("quickstart.md", "evaluate.md"):
        for block in read_blocks(project.page.with_name(page)):
            if block.path in _FILES:
                project.write(block.path, block.content)


def repair(project: Project, block: Block) -> str:
    """Repair the bot as a reader does, and run the command of the block."""
    repair_bot(project)
    outcome = project.run(["bash", "-ec", block.text])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


def repair_bot(project: Project) -> None:
    """Put the answer about opening hours back."""
    bots = [each for each in read_blocks(project.page.with_name("quickstart.md")) if each.path == "bot.py"]
    before, after = (next(line for line in bot.content.splitlines() if '"open"' in line) for bot in bots)
    project.write("bot.py", bots[1].content.replace(after, before))


def watch(project: Project, block: Block) -> str:
    """Start the command of the block, and end it once it waits for changes."""
    if find_spec("watchfiles") is None:
        return ""
    outcome = project.run(["env", "--unset=CI", "bash", "-ec", _SCRIPT.format(command=block.text.strip())])
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    return outcome.stdout
