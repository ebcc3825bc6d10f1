"""Suites in JavaScript in the container, whose image has no Node.js."""

from __future__ import annotations

from tests.e2e.container.conftest import OWNER, Action, change_owner
from tests.integration.host.conftest import Project, Ran, suite
from tests.integration.host.javascript import write_package, write_suite

# What a machine with a certificate authority of its own sets for every program.
CERTIFICATES = {"NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt"}


def test_node_and_packages_are_installed_for_suites_only(action: Action, project: Project) -> None:
    write_suite(project, command='[[commands]]\nname = "titles"\nrun = ["sh", "run.sh"]\ncwd = "web"\n')
    (project.root / "evals").rename(project.root / "web")
    write_package(project, "web", engines={"node": "^22.13.0"})
    project.write(
        "web/run.sh", "set -e\nid -u > who.txt\nnpx demo-dep\necho cached > node_modules/.cache\nnode titles.mjs\n"
    )
    project.write("evals/demo.py", suite("import shutil\nprint('sees', shutil.which('npm'))"))
    project.write("requirements.txt", "iniconfig>=2\n")
    change_owner(project.root, OWNER)
    result = action.run(project.root, env=CERTIFICATES)
    assert result.exit_code == 0, result.log
    assert "installed from PyPI" in result.log
    assert "engines.node of web/package.json asks for ^22.13.0" in result.log
    assert "environment made from requirements.txt" in result.log
    assert "| runs on v22." in result.log
    assert "| demo-dep runs" in result.log
    assert "| sees /tmp/" in result.log
    outcome = Ran(0, "", project.root / "scoregate-out")
    assert {each["id"]: each["statuses"]["passed"] for each in outcome.run["suites"]} == {"demo": 3, "titles": 3}
    # The owner's, although another user installed them, and a third one ran the suite.
    assert int((project.root / "web" / "who.txt").read_text()) > 200_000
    assert {path.lstat().st_uid for path in project.root.rglob("*")} == {OWNER}
