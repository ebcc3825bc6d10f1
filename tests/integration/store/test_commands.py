"""The commands for people's words, as child processes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest
from tests.integration.store.conftest import Project, environment

HOSTILE = "\x1b[2J\x1b]0;title\x07\u202etxt\n::error::x\r\x9b31m"


def add(project: Project, output: str, score: str = "1", *words: str) -> None:
    outcome = project.scoregate(
        "overrides", "add", "accuracy", "--original", "1", "--score", score, "--output", output, *words
    )
    assert outcome.returncode == 0, outcome.stderr


def table(project: Project, name: str, rows: list[str]) -> str:
    path = project.root / name
    path.write_text("\n".join(["original_score,override_score,input,output,by", *rows, ""]))
    return name


def test_an_override_is_added_and_signed_by_the_git_user(project: Project) -> None:
    add(project, "Paris", "0.5", "--input", "Capital of France?", "--comment", "too short")
    outcome = project.scoregate("overrides", "list")
    assert outcome.returncode == 0
    for text in ("accuracy", "1", "0.5", "Capital of France?", "Paris", "too short", "Ada"):
        assert text in outcome.stdout
    (item,) = json.loads(project.scoregate("overrides", "list", "acc*", "--json").stdout)
    assert item["by"] == "Ada"
    assert item["comments"] == [{"field_id": "", "quoted_text": "", "comment_text": "too short"}]


def test_the_store_is_at_the_root_of_the_tree(project: Project) -> None:
    inner = Project(project.root / "deep" / "down")
    inner.root.mkdir(parents=True)
    add(inner, "Paris")
    assert project.file("overrides/accuracy.jsonl").exists()


@pytest.mark.parametrize("name", ["words.csv", "words.jsonl"])
def test_an_export_is_imported_line_for_line(project: Project, name: str) -> None:
    add(project, HOSTILE, "0", "--input", "=1+1")
    add(project, "- a list\n- of two", "1", "--comment", "'quoted'", "--by", "Bob")
    assert project.scoregate("overrides", "export", "accuracy", name).returncode == 0
    outcome = project.scoregate("overrides", "import", "other/judge", name)
    assert outcome.returncode == 0, outcome.stderr
    assert "2 added, 0 changed, 0 unchanged" in outcome.stdout
    lines = [project.file(f"overrides/{file}.jsonl").read_bytes() for file in ("accuracy", "other%2fjudge")]
    assert lines[0] == lines[1]
    second = project.scoregate("overrides", "import", "other/judge", name)
    assert "0 added, 0 changed, 2 unchanged" in second.stdout


def test_json_lines_pass_through_pipes(project: Project) -> None:
    add(project, HOSTILE)
    out = project.scoregate("overrides", "export", "accuracy").stdout
    assert project.scoregate("overrides", "import", "copy", "-", text=out.encode()).returncode == 0
    assert project.file("overrides/copy.jsonl").read_text() == out


def test_a_spreadsheet_correction_changes_the_store(project: Project) -> None:
    add(project, "Pariss", "0")
    project.scoregate("overrides", "export", "accuracy", "a.csv")
    path = project.root / "a.csv"
    path.write_text(path.read_text().replace("Pariss", "Paris"))
    outcome = project.scoregate("overrides", "import", "accuracy", "a.csv")
    assert "0 added, 1 changed, 0 unchanged" in outcome.stdout
    assert len(json.loads(project.scoregate("overrides", "list", "--json").stdout)) == 1


def test_an_invalid_row_imports_nothing(project: Project) -> None:
    name = table(project, "a.csv", ["0,1,Hi,Hello,", "0,two,Hi,Ho,"])
    outcome = project.scoregate("overrides", "import", "accuracy", name)
    assert outcome.returncode == 2
    assert "a.csv, row 3: column override_score: must be a valid number" in outcome.stderr
    assert not project.file("overrides").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["import", "accuracy", "a.xlsx"], "neither JSON lines nor CSV"),
        (["import", "accuracy", "missing.csv"], "cannot read missing.csv"),
        (["export", "accuracy", "no/such/folder.csv"], "cannot write no/such"),
        (["export", "nobody"], "there are no overrides for 'nobody'"),
        (["list", "nobody*"], "no overrides for a scorer 'nobody*'"),
        (["add", "accuracy", "--original", "0", "--score", "2", "--output", "x"], "--score"),
    ],
)
def test_invalid_usage_fails(project: Project, words: list[str], message: str) -> None:
    add(project, "Paris")
    outcome = project.scoregate("overrides", *words)
    assert outcome.returncode == 2, outcome.stdout
    assert message in outcome.stderr


def ids(project: Project, kind: str = "overrides") -> list[str]:
    return [item["id"] for item in json.loads(project.scoregate(kind, "list", "--json").stdout)]


def test_a_mistake_is_removed_by_the_id_that_list_shows(project: Project) -> None:
    for output in ("Paris", "London", "Rome"):
        add(project, output)
    (first, second, third) = ids(project)
    assert second in project.scoregate("overrides", "list").stdout
    outcome = project.scoregate("overrides", "remove", "accuracy", second, first[:8])
    assert (outcome.returncode, "2 removed" in outcome.stdout) == (0, True)
    assert ids(project) == [third]
    assert project.scoregate("overrides", "remove", "accuracy", third).returncode == 0
    assert not project.file("overrides/accuracy.jsonl").exists()


def test_a_wrong_verdict_is_removed(project: Project) -> None:
    arguments = ("--case", "c1", "--baseline", "a", "--challenger", "b", "--winner", "tie")
    project.scoregate("verdicts", "add", "battle", *arguments)
    assert project.scoregate("verdicts", "remove", "battle", *ids(project, "verdicts")).returncode == 0
    assert ids(project, "verdicts") == []


@pytest.mark.parametrize(
    ("invalid", "message"),
    [("nobody", "no id begins with it"), ("", "no id begins with it"), ("x-", "2 ids begin with")],
)
def test_an_ambiguous_id_removes_nothing(project: Project, invalid: str, message: str) -> None:
    lines = [{"original_score": 1, "override_score": 0, "id": f"x-{n}"} for n in ("one", "two")]
    text = "\n".join(map(json.dumps, lines)).encode()
    assert project.scoregate("overrides", "import", "accuracy", "-", text=text).returncode == 0
    outcome = project.scoregate("overrides", "remove", "accuracy", "x-one", invalid)
    assert outcome.returncode == 2
    assert message in outcome.stderr
    assert ids(project) == ["x-one", "x-two"]


def test_verdicts_are_added_listed_and_exchanged(project: Project) -> None:
    arguments = ("--case", "c1", "--baseline", "", "--challenger", HOSTILE, "--winner", "challenger")
    assert project.scoregate("verdicts", "add", "battle", *arguments).returncode == 0
    assert project.scoregate("verdicts", "export", "battle", "v.csv").returncode == 0
    assert "1 added" in project.scoregate("verdicts", "import", "copy", "v.csv").stdout
    assert project.file("verdicts/copy.jsonl").read_bytes() == project.file("verdicts/battle.jsonl").read_bytes()
    (item, _) = json.loads(project.scoregate("verdicts", "list", "--json").stdout)
    assert (item["case"], item["challenger"], item["winner"], item["by"]) == ("c1", HOSTILE, "challenger", "Ada")
    assert "challenger" in project.scoregate("verdicts", "list").stdout


def test_hostile_text_is_escaped(project: Project) -> None:
    evaluator = "acc\x1b[31muracy"
    project.scoregate("overrides", "add", evaluator, "--original", "1", "--score", "0", "--output", HOSTILE)
    commands = [["overrides", *words] for words in (["list"], ["list", "--json"], ["export", evaluator])]
    for output in on_a_terminal(project, commands):
        assert "::error::x" in output
        assert_harmless(output)


def assert_harmless(output: str) -> None:
    """What a terminal is sent has nothing that it or a runner of jobs obeys."""
    for sequence in ("\x1b[2J", "\x1b]0;", "\x1b[31m", "\u202e", "\x9b"):
        assert sequence not in output
    assert not [line for line in output.splitlines() if line.startswith("::")]


_COMMANDS = """
import json, sys
from scoregate.cli.main import run_cli

for words in json.loads(sys.argv[1]):
    assert run_cli(words) == 0
    print(end="\\0", flush=True)
"""


def on_a_terminal(project: Project, commands: list[list[str]]) -> list[str]:
    """What a person's terminal is sent by commands, in one process."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMANDS, json.dumps(commands)],
        cwd=project.root,
        env=environment(TERM="xterm-256color", COLUMNS="160"),
        stdout=theirs,
        stderr=theirs,
        stdin=theirs,
    )
    os.close(theirs)
    sent = b""
    try:
        while chunk := os.read(ours, 65536):
            sent += chunk
    except OSError:  # Linux's error after the other end is closed
        pass
    os.close(ours)
    assert process.wait(timeout=90) == 0, sent.decode()
    *outputs, rest = sent.decode().split("\0")
    assert (len(outputs), rest) == (len(commands), "")
    return outputs


def import_scores(project: Project, right: int, wrong: int, found: int = 0) -> None:
    rows = [f"1,1,Hi,right {n}," for n in range(right)] + [f"1,0,Hi,wrong {n}," for n in range(wrong)]
    rows += [f"0,0,Hi,found {n}," for n in range(found)]
    assert project.scoregate("overrides", "import", "accuracy", table(project, "a.csv", rows)).returncode == 0


def test_agreement_shows_figures_and_the_table_behind_them(project: Project) -> None:
    import_scores(project, 9, 3)
    outcome = project.scoregate("agreement")
    assert outcome.returncode == 0
    for text in ("accuracy", "12", "0.750 [0.468, 0.911]", "0.000, too few for an interval", "judge \\ people"):
        assert text in outcome.stdout
    (row,) = json.loads(project.scoregate("agreement", "--json").stdout)
    assert (row["n"], row["matching"], row["accuracy"], row["conclusion"]) == (12, 9, 0.75, None)
    assert row["confusion"] == [
        {"judge": 1.0, "person": 0.0, "count": 3},
        {"judge": 1.0, "person": 1.0, "count": 9},
    ]


@pytest.mark.parametrize(
    ("wrong", "limit", "code", "text"),
    [
        (0, "0.75", 0, ""),
        (0, "0.8", 3, "note: accuracy (chosen by people): not shown to be above min_agreement 0.8"),
        (10, "0.75", 1, "failed: accuracy (chosen by people): below min_agreement 0.75"),
    ],
)
def test_agreement_is_a_gate(project: Project, wrong: int, limit: str, code: int, text: str) -> None:
    import_scores(project, 20, wrong, 20 - wrong)
    for outcome in (
        project.scoregate("agreement", "--min-agreement", limit),
        project.scoregate("agreement", "acc*", "--min-agreement", limit, "--json"),
        project.scoregate("agreement", SCOREGATE_MIN_AGREEMENT=limit),
    ):
        assert outcome.returncode == code, outcome.stderr
    assert text in outcome.stdout
    if text:
        assert f"(SCOREGATE_MIN_AGREEMENT): in 40 reviews it finds {20 - wrong} of 20 failures" in outcome.stdout
    (row,) = json.loads(project.scoregate("agreement", "--json", "--min-agreement", limit).stdout)
    levels = {0: "holds", 1: "below", 3: "too_few"}
    assert (row["conclusion"], row["check"]["n"], row["check"]["next"]) == (levels[code], 40, 80)


def test_too_few_overrides_for_a_minimum_are_unmeasurable(project: Project) -> None:
    import_scores(project, 1, 3)
    (project.root / "scoregate.toml").write_text("min_agreement = 0.9\n")
    outcome = project.scoregate("agreement")
    assert outcome.returncode == 3
    assert "note: accuracy (chosen by people): 4 of 10 required overrides" in outcome.stdout
    assert project.scoregate("agreement", "--min-overrides", "4").returncode == 1
    (project.root / "scoregate.toml").write_text("")
    assert project.scoregate("agreement").returncode == 0


def test_no_overrides_for_a_minimum_are_unmeasurable(project: Project) -> None:
    outcome = project.scoregate("agreement", "--min-agreement", "0.9")
    assert (outcome.returncode, outcome.stdout) == (3, "There are no overrides, so no agreement can be measured.\n")
    assert project.scoregate("agreement").returncode == 0
    import_scores(project, 1, 0)
    assert project.scoregate("agreement", "nobody").returncode == 2


def test_many_scores_are_no_table(project: Project) -> None:
    rows = [f"{n / 20},{n / 20 + 0.025},Hi,text {n}," for n in range(12)]
    project.scoregate("overrides", "import", "accuracy", table(project, "a.csv", rows))
    assert (
        "accuracy (chosen by people): 24 different scores, too many for a table"
        in project.scoregate("agreement").stdout
    )


def test_an_invalid_limit_is_refused(project: Project) -> None:
    outcome = project.scoregate("agreement", "--min-agreement", "2")
    assert outcome.returncode == 2
    assert "--min-agreement: min_agreement = 2.0: must be at most 1" in outcome.stderr
