"""Results of other tools and outputs of suites that once gave a wrong verdict, in the container."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.e2e.container.conftest import OWNER, Action, change_owner
from tests.integration.host.conftest import Project

BORDERS = Path(__file__).parents[1] / "hostile" / "borders"
# For each suite or command, what makes the run unmeasurable; empty if it is measured.
EXPECTED = {
    "object": "every case has an error",
    "field": "",
    "pattern": "every case has an error",
    "nothing": "",
    "pytest": "",
    "flaky": "",
    "missing": "cases are missing, as after a crash",
    "suite-error": "1 of 2 cases (50.0%)",
    "cached": "read all 2 answers of http://127.0.0.1/chat from its cache",
    "keys": "the key 'right' occurs twice",
}


def test_each_has_its_verdict(action: Action, project: Project) -> None:
    shutil.copytree(BORDERS, project.root / "borders")
    shutil.move(project.root / "borders/scoregate.toml", project.root)
    project.write("evals/borders.py", (project.root / "borders/suites.py").read_text(encoding="utf-8"))
    project.commit()
    change_owner(project.root, OWNER)
    outcome = action.run(project.root, {})
    found = json.loads((project.root / "scoregate-out/result.json").read_text(encoding="utf-8"))
    problems = [each for each in found["findings"] if each["conclusion"] != "passed"]
    reasons = dict.fromkeys((suite["label"] for suite in found["suites"] if suite["label"] in EXPECTED), "")
    for each in problems:
        name = each["suite"] or each["value"].partition(":")[0]
        reasons[name] = each["value"]
    assert outcome.exit_code == 3, outcome.log
    assert reasons.keys() == EXPECTED.keys(), outcome.log
    for name, reason in EXPECTED.items():
        assert reason in reasons[name], (name, reasons[name])
        assert bool(reason) is bool(reasons[name]), (name, reasons[name])
    assert {each["conclusion"] for each in problems} == {"unmeasurable"}
