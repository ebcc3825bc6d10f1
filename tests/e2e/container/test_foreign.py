"""Suites of Autoblocks' own SDK, unmodified, in the container."""

from __future__ import annotations

import pytest
from tests.contract.examples import examples
from tests.e2e.container.conftest import OWNER, Action, change_owner
from tests.integration.foreign.bench import DOCUMENTS
from tests.integration.foreign.suites import PYTHON
from tests.integration.host.conftest import Project, Ran

EXAMPLES = {example.name: example.source for example in examples(DOCUMENTS / "evaluators.txt")}


def test_they_are_found_and_recorded(action: Action, project: Project) -> None:
    project.write("requirements.txt", "autoblocksai==0.0.137\nhttpx<0.29\n")
    project.write("evals/equals.py", EXAMPLES["BaseIsEquals"].replace('"my-test-suite"', '"equals"'))
    project.write("evals/rules.py", EXAMPLES["BaseAssertions"].replace('"my-test-suite"', '"rules"'))
    # Its judges have no model here: the test checks that its platform is found, and that it is scoregate's.
    project.write("evals/calls.py", PYTHON.replace("a suite/of #1?", "platform"))
    change_owner(project.root, OWNER)
    result = action.run(project.root, {"min-pass-rate": "0", "max-error-rate": "1"}, env={"AUTOBLOCKS_API_KEY": "real"})
    outcome = Ran(result.exit_code, result.log, project.root / "scoregate-out")
    suites = {suite["id"]: suite for suite in outcome.run["suites"]}
    assert suites.keys() == {"equals", "rules", "platform"}, result.log
    assert [suites[name]["means"] for name in ("equals", "rules")] == [
        {"same-answer": pytest.approx(2 / 3)},
        {"rules": 0.5},
    ]
    assert suites["platform"]["reviews"] == ["look"]
    assert suites["platform"]["complete"]
    assert not (project.root / ".scoregate").exists()
    assert {path.lstat().st_uid for path in project.root.rglob("*")} == {OWNER}
