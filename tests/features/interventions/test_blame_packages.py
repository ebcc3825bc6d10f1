"""A package that made cases fail: `explain_regressions` where scoregate makes the environment of the suites."""

from __future__ import annotations

import zipfile
from typing import Any

import pytest
from tests.features.interventions.bot import BOT, PROMPT, write_bot
from tests.integration.host.conftest import Project
from tests.integration.host.own_wheel import installed_from_wheel
from tests.integration.host.test_bases import keep_run

__all__ = ["installed_from_wheel"]
pytestmark = pytest.mark.usefixtures("installed_from_wheel")
SETTINGS = 'install = "requirements"\nmin_pass_rate = 0\nfail_on_regression = true\nexplain_regressions = "auto"\n'
CHANGED = PROMPT.replace("weather", "weather today")
ASKS_PACKAGE = """
import demo_dep

answer = (lambda answer: lambda question: answer(question) if demo_dep.IS_GOOD else "no idea")(answer)
"""


def write_wheel(project: Project, version: str, *, is_good: bool) -> str:
    """A version of a package, in a folder of the project."""
    name = f"wheels/demo_dep-{version}-py3-none-any.whl"
    (project.root / "wheels").mkdir(exist_ok=True)
    with zipfile.ZipFile(project.root / name, "w") as file:
        file.writestr("demo_dep.py", f"IS_GOOD = {is_good}\n")
        files = {
            "METADATA": f"Metadata-Version: 2.1\nName: demo-dep\nVersion: {version}\n",
            "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "RECORD": "",
        }
        for part, content in files.items():
            file.writestr(f"demo_dep-{version}.dist-info/{part}", content)
    return f"./{name}\n"


def find_cause(
    project: Project, *, is_old_kept: bool = True, prompt: str = CHANGED, packages: str = "requirements.txt"
) -> dict[str, Any]:
    """The cause of the drop after a change of the version of a package, and of a rule."""
    old, new = write_wheel(project, "1.0", is_good=True), write_wheel(project, "2.0", is_good=False)
    project.write("requirements.txt", f"-r {packages}\n")
    project.write(packages, f"# First.\n\n{old}" if packages != "requirements.txt" else old)
    write_bot(project, SETTINGS)
    project.write("evals/bot.py", BOT + ASKS_PACKAGE)
    project.commit()
    ran = project.scoregate("run")
    assert ran.exit_code == 0, ran.output
    base = keep_run(project, "base")
    project.write(packages, f"# Second.\n\n{new}" if packages != "requirements.txt" else new)
    project.write("evals/prompt.md", prompt)
    if not is_old_kept:
        (project.root / old.strip()).unlink()
    ran = project.scoregate("run", "--baseline", str(base))
    assert ran.exit_code == 3, ran.output  # with other packages, the base can't run here to confirm
    trees = ran.output.count("$ uv venv ")  # once for the change, and once for each state of the file
    assert trees == 2 if packages == "requirements.txt" else trees <= 4
    found: dict[str, Any] = ran.result["sections"]["interventions"]
    return found


def test_the_version_of_a_package_is_a_hunk(project: Project) -> None:
    found = find_cause(project)
    assert found["changes"] == [{"file": "requirements.txt", "first": 1, "last": 1}], found
    assert (found["restored"], found["is_only"], found["not_reverted"]) == (2, True, [])


def test_a_package_that_cannot_be_installed_any_more_stays(project: Project) -> None:
    found = find_cause(project, is_old_kept=False)
    assert (found["changes"], found["not_reverted"]) == ([], ["requirements.txt"]), found
    assert found["reason"] == "the cases still fail with all of it reverted"


def test_if_nothing_else_differs_it_is_not_said_that_anything_was_reverted(project: Project) -> None:
    project.write("wheels/.gitignore", "*\n")
    found = find_cause(project, is_old_kept=False, prompt=PROMPT)
    assert (found["reason"], found["not_reverted"]) == ("no file that can be reverted differs", ["requirements.txt"])
    assert found["trials"] == 0


def test_lists_of_packages_in_a_folder_have_hunks_too(project: Project) -> None:
    found = find_cause(project, packages="requirements/evals.txt")
    assert found["changes"] == [{"file": "requirements/evals.txt", "first": 3, "last": 3}], found
