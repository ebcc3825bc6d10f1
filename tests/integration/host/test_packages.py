"""Suites in packages and in folders of services are run with the imports of their own project."""

from __future__ import annotations

import os

from tests.integration.host.conftest import Project

CALL = "from scoregate.testing.run import run_test_suite\n"
SAME = """
from scoregate.testing.models import BaseTestEvaluator, Evaluation, Threshold


class Same(BaseTestEvaluator):
    id = "same"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(float(output == "right"), Threshold(gte=1))
"""


def run(suite: str, answer: str) -> str:
    cases = "test_cases=[{'x': 1}], test_case_hash=['x']"
    return f"run_test_suite(id='{suite}', {cases}, fn=lambda _: {answer}, evaluators=[Same()])\n"


def service(name: str) -> dict[str, str]:
    check = f"__file__.endswith('services/{name}/evals/shared.py')"
    return {
        f"services/{name}/evals/__init__.py": "",
        f"services/{name}/evals/shared.py": f"ANSWER = 'right' if {check} else 'wrong'\n",
        f"services/{name}/evals/hours.py": f"from app import Same\nfrom .shared import ANSWER\n{CALL}"
        + run(name, "ANSWER"),
        f"services/{name}/src/app.py": SAME,
    }


def test_every_layout_imports_its_own_modules(project: Project) -> None:
    files = {
        # A package whose `__init__.py` is the suite, imports from itself, and is imported by its own module.
        "test_suites/__init__.py": "",
        "test_suites/hours/__init__.py": f"from .same import Same\n{CALL}ANSWER = 'right'\nfrom .late import ANSWERS\n"
        + run("package", "ANSWERS[0]"),
        "test_suites/hours/same.py": SAME,
        "test_suites/hours/late.py": "from . import ANSWER\n\nANSWERS = [ANSWER]\n",
        # A module that only starts its suite as `__main__`.
        "test_suites/days/suite.py": f"from ..hours.same import Same\n{CALL}if __name__ == '__main__':\n    "
        + run("module", "'right'"),
        # Services whose packages have the name of one in the root.
        "evals/__init__.py": "",
        "evals/shared.py": "ANSWER = 'wrong'\n",
        **service("x"),
        **service("y"),
        # Relative imports that may fail: the file stays a script, and imports from its own folder.
        "evals/plain.py": "try:\n    from .near import Same\nexcept ImportError:\n    from near import Same\n"
        f"import near\n{CALL}" + run("plain", "'right'"),
        "evals/near.py": SAME,
    }
    for name, text in files.items():
        project.write(name, text)
    project.write("scoregate.toml", 'paths = ["test_suites", "evals", "services"]\n')
    outcome = project.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    suites = {each["id"]: each["statuses"]["passed"] for each in outcome.run["suites"]}
    assert suites == dict.fromkeys(("package", "module", "x", "y", "plain"), 1)
    commands = {each["name"]: each["command"][1:] for each in outcome.run["scripts"]}
    assert commands["test_suites/days/suite.py"] == ["-m", "test_suites.days.suite"]
    assert commands["evals/plain.py"] == ["evals/plain.py"]
    assert commands["services/x/evals/hours.py"][-2:] == ["services/x", "evals.hours"]


def test_the_base_imports_the_modules_that_the_run_imports(project: Project) -> None:
    project.write("prompts.py", "NAME = 'root'\n")
    project.write("services/x/prompts.py", "NAME = 'service'\n")
    project.write("services/x/evals/same.py", SAME)
    answer = "__import__('prompts').NAME.replace('service', 'right')"
    project.write("services/x/evals/hours.py", f"from same import Same\n{CALL}" + run("x", answer))
    project.write("lib/prompts.py", "NAME = 'right'\n")
    project.write("evals/plain.py", f"from services.x.evals.same import Same\n{CALL}" + run("plain", answer))
    project.commit()
    named = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), "lib")))
    for environ, plain in (({}, 0.0), ({"PYTHONPATH": named}, 1.0)):
        outcome = project.scoregate("run", "--baseline", "rerun:HEAD", **environ)
        scores = {each["suite"]: [each["base"], each["mean"]] for each in outcome.result["rows"]}
        assert scores == {"x": [1.0, 1.0], "plain": [plain, plain]}, outcome.output


def test_a_safe_import_path_keeps_user_folders(project: Project) -> None:
    for name, text in service("x").items():
        project.write(name, text)
    project.write("named/own.py", "ANSWER = 'right'\n")
    project.write(
        "services/x/evals/hours.py",
        f"from app import Same\nfrom .shared import ANSWER\nimport own\n{CALL}" + run("x", "own.ANSWER"),
    )
    named = os.pathsep.join(filter(None, (str(project.root / "named"), os.environ.get("PYTHONPATH"))))
    for environ in ({}, {"PYTHONSAFEPATH": "1"}):
        outcome = project.scoregate("run", "--baseline", "none", PYTHONPATH=named, **environ)
        assert outcome.exit_code == 0, outcome.output
