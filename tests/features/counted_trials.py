"""A suite whose cases fail in chosen trials of the base or of a change, each in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.integration.host.conftest import Project, Ran, suite
from tests.integration.host.test_bases import keep_run

# The nth call for a case in a tree fails if its rule says so; each trial is a process of its own.
BODY = """
import json, pathlib

RULES = json.loads(pathlib.Path(__file__).with_name("rules.json").read_text())
COUNTS = pathlib.Path(RULES["counts"])


def fn(case):
    file = COUNTS / (RULES["side"] + " " + case.input)
    n = len(file.read_text()) if file.exists() else 0
    file.write_text("x" * (n + 1))
    return "wrong" if eval(RULES["fails"].get(case.input, "False"), {"n": n}) else case.input
"""
LIMIT = "min_pass_rate = 0\nfail_on_regression = true\n"


class Change:
    """A change of a suite of some cases, and the run of its base."""

    def __init__(self, project: Project, settings: str = LIMIT, *, cases: int = 20, is_committed: bool = True) -> None:
        self.project, self.is_committed = project, is_committed
        self.counts = project.root.parent / f"{project.root.name}-counts"
        self.counts.mkdir()
        project.write("scoregate.toml", settings)
        project.write(".gitignore", "scoregate-out/\n")
        project.write("evals/demo.py", suite(BODY, fn="fn", good=cases))

    def run_base(self, **fails: str) -> None:
        """Run the base, where these cases fail by their rules."""
        self.write("base", fails)
        if self.is_committed:
            self.project.commit("base")
        self.project.scoregate("run")
        self.base = keep_run(self.project, "base")

    def run(self, *flags: str, **fails: str) -> Ran:
        """Run the change, where these cases fail by their rules."""
        self.write("head", fails)
        return self.project.scoregate("run", "--baseline", str(self.base), *flags)

    def write(self, side: str, fails: Mapping[str, str]) -> None:
        """Write the rules of a side."""
        rules = {name.replace("_", " "): rule for name, rule in fails.items()}
        text = json.dumps({"side": side, "counts": str(self.counts), "fails": rules})
        self.project.write("evals/rules.json", text)
