"""A project of one's own in which suites of Autoblocks' SDKs run under `scoregate exec`."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

from tests.integration.foreign import spies
from tests.integration.host.conftest import Project, Ran

DOCUMENTS = Path(__file__).parents[2] / "contract/documents"
# A user's own preload: what takes up to a second takes a hundredth of it, and what the SDK posts is written down before
# it is sent.
_WATCH = """
const fs = require('fs');
const { setTimeout: wait, fetch: send } = globalThis;
globalThis.setTimeout = (done, ms, ...rest) => wait(done, ms > 1000 ? ms : ms / 100, ...rest);
globalThis.fetch = (input, init) => {
  if (String(input).endsWith('/evals')) fs.appendFileSync(process.env.POSTED, `${init.body}\\n`);
  return send(input, init);
};
"""


@dataclass
class Bench:
    """Runs commands; `environ` is what the user's shell has besides."""

    project: Project
    environ: dict[str, str] = field(default_factory=dict)

    @classmethod
    def new(cls, folder: Path, environ: Mapping[str, str]) -> Bench:
        root = folder / "a project"
        root.mkdir()
        bench = cls(Project(root), {**spies.spy_environment(folder), **environ, "POSTED": str(folder / "posted")})
        (folder / "posted").touch()
        watch = folder / "watch.cjs"
        watch.write_text(_WATCH)
        bench.environ["NODE_OPTIONS"] += f' --require "{watch}"'
        bench.project.write(".gitignore", "node_modules\nscoregate-out\n")
        return bench

    def exec(self, *words: str | Path, **environ: str) -> Ran:
        """`scoregate exec` with these words."""
        return self.scoregate("exec", *words, **environ)

    def scoregate(self, *words: str | Path, **environ: str) -> Ran:
        """Any command of scoregate, in this process: the spy of Python's start is for suites."""
        with patch.dict(os.environ, PYTHONPATH=self.environ["PYTHONPATH"]):
            return self.project.scoregate(*map(str, words), **{**self.environ, **environ})

    @property
    def posted(self) -> dict[tuple[str, str], float]:
        """What the SDK for JavaScript computed, by case and evaluator."""
        lines = map(json.loads, Path(self.environ["POSTED"]).read_text().splitlines())
        return {(each["testCaseHash"], each["evaluatorExternalId"]): each["score"] for each in lines}

    @property
    def hosts(self) -> set[str]:
        """What was asked for or connected to, by the suites."""
        return set(Path(self.environ["SPY"]).read_text().split())


def junit_scores(ran: Ran) -> dict[str, list[float]]:
    """By evaluator, sorted, as `junit.xml` has them: with three decimals."""
    results: defaultdict[str, list[float]] = defaultdict(list)
    for each in ElementTree.parse(ran.out / "junit.xml").iter("property"):
        if (name := each.attrib["name"]).startswith("score."):
            results[name.removeprefix("score.")].append(float(each.attrib["value"]))
    return {name: sorted(scores) for name, scores in results.items()}


def rows(ran: Ran) -> dict[str, dict[str, Any]]:
    """The rows of `result.json`, by evaluator."""
    return {row["evaluator"]: row for row in ran.result["rows"]}


def means(ran: Ran) -> dict[str, float]:
    """The table of `comment.md`, by evaluator: with three decimals."""
    row = re.compile(r"\| <code>[^<]+</code> · <code>([^<]+)</code> \| ([\d.]+) ")
    return {name: float(score) for name, score in row.findall(ran.comment)}
