"""What suites under accounts of their own can still do."""

from __future__ import annotations

import json

from tests.e2e.container.conftest import OWNER, Action, Runner, change_owner
from tests.integration.host.conftest import Project, Ran, suite

FIRST = """
import os, pathlib, sqlite3, subprocess, tempfile
pathlib.Path('shared').mkdir()
pathlib.Path('shared/plain.txt').write_text('first')
handle, name = tempfile.mkstemp(dir='shared')
os.close(handle); os.replace(name, 'shared/private.txt')
connection = sqlite3.connect('shared/cache.db')
connection.execute('create table t (x)'); connection.commit(); connection.close()
pathlib.Path('existing.txt').write_text('changed')
os.replace('existing.txt', 'renamed.txt')
subprocess.run(['git', 'checkout', '-q', '-b', 'made-by-a-suite'], check=True)
subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'by a suite'], check=True)
pathlib.Path.home().joinpath('.cache').mkdir()
pathlib.Path(os.environ['RUNNER_TEMP'], 'of-the-suite.txt').write_text('x')
"""
SECOND = """
import json, os, pathlib, sqlite3, subprocess
for name in ('plain.txt', 'private.txt'):
    with open(f'shared/{name}', 'a') as file:
        file.write(' and second')
connection = sqlite3.connect('shared/cache.db')
connection.execute('insert into t values (1)'); connection.commit(); connection.close()
os.unlink('renamed.txt')
branch = subprocess.run(['git', 'branch', '--show-current'], capture_output=True, text=True, check=True).stdout
print('found', json.dumps([branch.strip(), os.getuid(), sorted(os.listdir(pathlib.Path.home()))]))
"""


def test_suites_share_the_workspace_as_one_user(action: Action, project: Project, github_runner: Runner) -> None:
    project.write("evals/a_first.py", suite(FIRST).replace("'demo'", "'first'"))
    project.write("evals/b_second.py", suite(SECOND).replace("'demo'", "'second'"))
    project.write("existing.txt", "before")
    project.write("requirements.txt", "iniconfig>=2\n")
    project.commit()
    change_owner(project.root, OWNER)
    result = action.run(project.root, {"max-suites": "1"})
    assert result.exit_code == 0, result.log
    outcome = Ran(0, "", project.root / "scoregate-out")
    assert not [notice for notice in outcome.run["notices"] if "discarded" in notice or "put back" in notice]
    line = next(line for line in result.log.splitlines() if "| found" in line)
    branch, user, home = json.loads(line.partition("| found ")[2])
    assert (branch, home) == ("made-by-a-suite", [])
    assert user > 200_000
    assert (project.root / "shared" / "plain.txt").read_text() == "first and second"
    assert (project.root / "shared" / "private.txt").read_text() == " and second"
    assert github_runner.owners == {OWNER}
    assert {(path.lstat().st_uid, path.lstat().st_gid) for path in project.root.rglob("*")} == {(OWNER, OWNER)}
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (project.root / "shared").iterdir()}
    assert modes == {"plain.txt": 0o644, "private.txt": 0o600, "cache.db": 0o644}
    assert (project.root / "shared").stat().st_mode & 0o7777 == 0o755
