"""`scoregate judge` and `scoregate config`, as child processes."""

from __future__ import annotations

import json
import subprocess

import pytest
from tests.integration.store.conftest import Project
from tests.integration.store.test_commands import HOSTILE, on_a_terminal

from scoregate.client import Client

PROMPT = "Is it helpful?\n{{input}}\n{{output}}"


def add(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    outcome = project.scoregate("judge", "add", *words)
    assert outcome.returncode == 0, outcome.stderr
    return outcome


def run_output(project: Project, *words: str) -> str:
    outcome = project.scoregate(*words)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def edit(project: Project, old: str, new: str) -> None:
    path = project.file("judges/helpfulness.toml")
    path.write_text(path.read_text().replace(old, new))


def test_a_judge_is_added_edited_shown_tagged_and_compared(project: Project) -> None:
    added = add(project, "helpfulness", "--prompt", PROMPT, "--description", "for support")
    assert added.stdout == "helpfulness 0.0: written to .scoregate/judges/helpfulness.toml\n"
    assert "helpfulness: prod: not set -> 0.0" in run_output(project, "judge", "tag", "helpfulness")
    edit(project, "Is it helpful?", "Does it help?")
    (row,) = run_output(project, "judge", "ls").splitlines()[1:]
    assert row.split()[:6] == ["helpfulness", "prompt,", "binary", "0.0", "0.1", "prod"]
    output = run_output(project, "judge", "show", "helpfulness", "latest")
    assert "Does it help?\n{{input}}\n" in output
    assert "Is it helpful?" in run_output(project, "judge", "show", "helpfulness")
    assert run_output(project, "judge", "show", "helpfulness").count("  helpfulness 0.") == 2
    difference = run_output(project, "judge", "diff", "helpfulness").splitlines()
    assert difference[0].startswith("--- helpfulness 0.0 [prod]")
    assert [line for line in difference[2:] if line[0] in "+-"] == ["-Is it helpful?", "+Does it help?"]
    assert "prod: 0.0 -> 0.1" in run_output(project, "judge", "tag", "helpfulness", "prod", "0.1")
    assert run_output(project, "judge", "diff", "helpfulness").splitlines()[1].startswith("+++ helpfulness 0.1 [prod]")
    assert "are equal" in run_output(project, "judge", "diff", "helpfulness", "0.1", "latest")
    assert "prod: 0.1 -> not set" in run_output(project, "judge", "tag", "helpfulness", "--remove")


def test_an_unwritable_edit_is_shown(project: Project) -> None:
    add(project, "helpfulness", "--prompt", PROMPT)
    edit(project, "Is it helpful?", "Does it help?")
    # Root can write everywhere, but not without a lock.
    (project.root / "sitecustomize.py").write_text(
        "import errno, fcntl, os\n"
        "def refuse(file, operation): raise OSError(errno.EROFS, os.strerror(errno.EROFS))\n"
        "fcntl.flock = refuse\n"
    )
    output = project.scoregate("judge", "diff", "helpfulness", PYTHONPATH=str(project.root)).stdout
    assert [line for line in output.splitlines()[2:] if line[0] in "+-"] == ["-Is it helpful?", "+Does it help?"]
    assert 'version = "0.0"' in project.file("judges/helpfulness.toml").read_text()


def test_judges_of_every_kind_are_added(project: Project) -> None:
    (project.root / "prompt.txt").write_text("Which tone?\n{{output}}\n")
    add(project, "tone", "--prompt-file", "prompt.txt", "--score-type", "categorical", "--category", "kind=1",
        "--category", "odd")  # fmt: skip
    add(project, "stars", "--prompt", "x", "--score-type", "numeric", "--min", "1", "--max", "5", "--model", "m")
    (project.root / "mine.py").write_text(
        "from scoregate.judges import BinaryResponse, Judge\nclass Short(Judge[BinaryResponse]):\n"
        "    def score(self, data): return BinaryResponse(value=True)\n"
    )
    assert add(project, "short", "--code", "mine:Short").stdout.startswith("short 0.0")
    content = {each["name"]: each for each in json.loads(run_output(project, "judge", "ls", "--json"))}
    assert content["tone"]["prompt"] == "Which tone?\n{{output}}\n"
    assert content["tone"]["categories"][0] == {"value": "kind", "description": "", "score": 1.0}
    assert (content["stars"]["min_score"], content["stars"]["max_score"], content["stars"]["model"]) == (1, 5, "m")
    assert (content["short"]["kind"], content["short"]["target"]) == ("code", "mine:Short")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "x"], "exactly one of --prompt, --prompt-file and --code"),
        (["add", "x", "--prompt", "a", "--code", "b:C"], "exactly one of"),
        (["add", "x", "--prompt-file", "missing.txt"], "cannot read missing.txt"),
        (["add", "x", "--code", "mine:Nope"], "cannot be loaded"),
        (["add", "x", "--prompt", "a", "--score-type", "categorical", "--category", "a=b"], "a number from 0 to 1"),
        (["add", "x", "--prompt", "a", "--score-type", "numeric"], "needs a min_score and a max_score"),
        (["add", "helpfulness", "--prompt", "a"], "there is a judge 'helpfulness' already"),
        (["show", "nope"], "Judges not found: nope"),
        (["show", "helpfulness", "9.9"], "has no version 9.9"),
        (["diff", "helpfulness", "beta"], "has no tag 'beta'"),
        (["tag", "helpfulness", "prod", "9.9"], "has no version 9.9"),
        (["tag", "helpfulness", "prod", "0.0", "--remove"], "--remove takes no version"),
    ],
)
def test_invalid_usage_fails(project: Project, words: list[str], message: str) -> None:
    add(project, "helpfulness", "--prompt", PROMPT)
    outcome = project.scoregate("judge", *words)
    assert outcome.returncode == 2, outcome.stdout
    assert message in outcome.stderr


def test_an_invalid_document_has_file_and_line(project: Project) -> None:
    add(project, "helpfulness", "--prompt", PROMPT)
    edit(project, 'score_type = "binary"', 'score_type = "yes"')
    outcome = project.scoregate("judge", "ls")
    assert outcome.returncode == 2
    assert ".scoregate/judges/helpfulness.toml:4: score_type: must be" in outcome.stderr


def test_hostile_text_is_escaped(project: Project) -> None:
    judges = Client(store=project.root).judges
    judges.create("j", f"{HOSTILE}\n::error::x", f"m{HOSTILE}", "categorical", HOSTILE, categories=[HOSTILE, "b"])
    judges.update("j", prompt=f"{HOSTILE}!")
    commands = (["ls"], ["ls", "--json"], ["show", "j"], ["diff", "j", "0.0", "latest"])
    for output in on_a_terminal(project, [["judge", *words] for words in commands]):
        assert output
        for sequence in ("\x1b[2J", "\x1b]0;", "\u202e", "\x9b"):
            assert sequence not in output


def test_prompts_print_no_ci_commands(project: Project) -> None:
    add(project, "j", "--prompt", "::error::x\n::set-output name=a::b")
    outcome = project.scoregate("judge", "show", "j", GITHUB_ACTIONS="true")
    assert outcome.returncode == 0
    assert not [line for line in outcome.stdout.splitlines() if line.startswith("::")]


def test_configs_are_added_listed_shown_and_removed(project: Project) -> None:
    client = Client(store=project.root)
    client.datasets.create("golden-set", examples=[{"input": "Hi"}])
    add(project, "helpfulness", "--prompt", PROMPT)
    arguments = ("config", "add", "nightly", "--dataset", "golden-set", "--judge", "helpfulness")
    assert run_output(project, *arguments) == "nightly: written to .scoregate/configs/nightly.toml\n"
    assert run_output(project, "config", "ls").splitlines()[1].split()[:3] == ["nightly", "golden-set", "helpfulness"]
    (item,) = json.loads(run_output(project, "config", "ls", "--json"))
    assert item["dataset_id"] == client.datasets.get("golden-set").dataset_id
    assert "judge helpfulness 0.0, binary" in run_output(project, "config", "show", item["id"])
    assert json.loads(run_output(project, "config", "show", "nightly", "--json")) == [item]
    assert run_output(project, "config", "rm", "nightly") == "nightly: removed\n"
    assert run_output(project, "config", "ls") == "There are no test configs.\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "n", "--dataset", "golden-set", "--judge", "nope"], "Judges not found: nope"),
        (["add", "n", "--dataset", "nope", "--judge", "picky"], "Dataset not found: nope"),
        (["add", "n", "--dataset", "golden-set", "--judge", "picky"], "asks for {{context}}"),
        (["add", "n", "--dataset", "golden-set"], "--judge"),
        (["show", "n"], "there is no test config 'n'"),
        (["rm", "n"], "there is no test config 'n'\n`scoregate config add` creates one."),
    ],
)
def test_an_invalid_config_is_refused(project: Project, words: list[str], message: str) -> None:
    Client(store=project.root).datasets.create("golden-set", examples=[{"input": "Hi"}])
    add(project, "picky", "--prompt", "{{context}}")
    outcome = project.scoregate("config", *words)
    assert outcome.returncode == 2, outcome.stdout
    assert message in outcome.stderr
