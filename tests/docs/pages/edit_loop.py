"""The guide to the edit loop: its watch ends after the first run."""

from __future__ import annotations

from importlib.util import find_spec

from tests.docs.page import Block
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


def watch(project: Project, block: Block) -> str:
    """Start the command of the block, and end it once it waits for changes."""
    if find_spec("watchfiles") is None:
        return ""
    outcome = project.run(["env", "--unset=CI", "bash", "-ec", _SCRIPT.format(command=block.text.strip())])
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    return outcome.stdout
