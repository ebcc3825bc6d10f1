"""A hostile suite in the container: none of its attempts succeeds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.e2e.container.conftest import OWNER, TOKEN, Action, Runner, change_owner
from tests.integration.host.conftest import Project, Ran, suite

HOSTILE = Path(__file__).parents[1] / "hostile"
SECRETS = (TOKEN, "dummy-runtime-token", "hidden-in-host")
MINE = "pathlib.Path('attacker-user').write_text(str(os.getuid()))"


@pytest.fixture
def hostile(project: Project) -> Project:
    project.write("evals/a_attacker.py", suite(f"import os, pathlib\n{MINE}").replace("'demo'", "'attacker'"))
    with (project.root / "evals/a_attacker.py").open("a") as file:
        file.write((HOSTILE / "attacker.py").read_text())
    victim = suite((HOSTILE / "victim.py").read_text(), fn="answer", bad=2, max_test_case_concurrency="1")
    project.write("evals/b_victim.py", victim.replace("'demo'", "'victim'"))
    project.write("evals/c_later.py", suite((HOSTILE / "later.py").read_text()).replace("'demo'", "'later'"))
    shutil.copytree(HOSTILE, project.root / "hostile", ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    project.commit()
    change_owner(project.root, OWNER)
    return project


@pytest.fixture
def few_processes(action: Action, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container with 600 processes at most, which a suite uses up sooner than the 2048 of the default."""
    settings = Path(os.environ[action.settings]).read_text(encoding="utf-8")
    assert settings.count("[containers]\n") == 1
    path = tmp_path / "containers.conf"
    path.write_text(settings.replace("[containers]\n", "[containers]\npids_limit = 600\n"), encoding="utf-8")
    monkeypatch.setenv(action.settings, str(path))


@pytest.mark.usefixtures("few_processes")
def test_nothing_that_a_hostile_suite_tries_succeeds(action: Action, hostile: Project, github_runner: Runner) -> None:
    root = hostile.root
    result = action.run(
        root, {"max-suites": "2", "min-pass-rate": "1"}, {"SCOREGATE_GITHUB_TOKEN": "hidden-in-host", "API_HOST": "x"}
    )
    subprocess.run(["rm", "-rf", root / "deep"], check=True)
    log = [json.loads(line) for line in (root / "hostile-log.jsonl").read_text().splitlines()]
    later = json.loads((root / "later.json").read_text())
    outcome = Ran(result.exit_code, result.log, root / "scoregate-out")
    who = set((root / "ran-by").read_text().split()) if (root / "ran-by").exists() else set()
    checks = {
        "every attempt was made": len(log)
        == (HOSTILE / "reading.py").read_text().count("\n@attempt(")
        + sum((HOSTILE / name).read_text().count("\n@attempt(") for name in ("writing.py", "host.py")),
        "its daemons ran": (root / "beat").stat().st_size > 0,
        "the gate failed": result.exit_code == 1,
        "outputs": result.outputs.get("conclusion") == "failed" and int(result.outputs["failed-gates"]) >= 1,
        "summary": "2" in result.summary and "victim" in result.summary and "HOSTILE" not in result.summary,
        "record": _failed(outcome, "victim") == 2,
        "junit": _failed_cases(outcome.out / "junit.xml") >= {"bad 0", "bad 1"},
        "reports": all("planted" not in path.read_text(errors="replace") for path in outcome.out.glob("*.*")),
        "no planted files": not (outcome.out / "planted.txt").exists() and not outcome.out.is_symlink(),
        "GITHUB_ENV": github_runner.written("set_env") == "",
        "GITHUB_PATH": github_runner.written("add_path") == "",
        "GITHUB_STATE": github_runner.written("save_state") == "",
        "no other command files": github_runner.names
        == ["add_path", "save_state", "set_env", "set_output", "step_summary"],
        "commands": all(command.split()[0] in ("error", "warning", "notice") for command in result.commands),
        "annotations": all(each.message != "passed" for each in result.annotations),
        "no secret": not any(secret in text for secret in SECRETS for text in (result.log, *_texts(root))),
        "nobody who matters ran planted code": all(int(each) > 200_000 for each in who),
        "nothing of it outlived it": later["alive"] == [] and not later["beats"],
        "nothing in the home of the next": later["home"] == [],
        "no shared memory": "hostile" not in later and "full" not in later,
        "owner": {path.lstat().st_uid for path in root.rglob("*")} == {OWNER},
        "group": {path.lstat().st_gid for path in root.rglob("*")} == {OWNER},
        "no setuid file": not any(path.lstat().st_mode & 0o6000 for path in root.rglob("*") if path.is_file()),
    }
    for name, held in checks.items():
        log.append({"goal": "seen from outside", "attempt": name, "outcome": "held" if held else "BROKEN"})
    for line in log:
        print(f"{line['goal']}: {line['attempt']}: {line['outcome']} ({line.get('seconds', 0)} s)")
    broken = [line for line in log if line["outcome"].startswith("BROKEN")]
    print(f"{len(log)} attempts, {len(log) - len(broken)} held, {len(broken)} broken")
    assert broken == []


def _failed(ran: Ran, name: str) -> int:
    return int(next(each for each in ran.run["suites"] if each["id"] == name)["statuses"]["failed"])


def _failed_cases(path: Path) -> set[str]:
    cases = ET.parse(path).getroot().iter("testcase")
    return {case.get("name", "") for case in cases if case.find("failure") is not None}


def _texts(root: Path) -> list[str]:
    return [path.read_text(errors="replace") for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
