"""`scoregate testset`, as child processes."""

from __future__ import annotations

import json

from tests.integration.store.conftest import Project

TABLE = "prompt_content;category;topic;behavior;notes\nWhen?;Support;Hours;Answers;x\nWhere?;Support;Place;Answers;y\n"


def run_testset(project: Project, *words: str) -> str:
    outcome = project.scoregate("testset", *words)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_a_table_is_imported_listed_shown_and_exported(project: Project) -> None:
    (project.root / "hours.csv").write_text(TABLE)
    printed = run_testset(project, "import", "hours.csv", "--name", "Opening Hours", "--description", "ours")
    assert " ".join(printed.split()) == (
        "hours.csv:1: there is no column 'notes' of tests; it is left out"
        " opening-hours: Single-Turn, 2 tests; cells were separated by semicolons, in"
        " .scoregate/test_sets/opening-hours/tests.jsonl"
    )
    line = run_testset(project, "ls").splitlines()[1]
    assert line.split() == ["opening-hours", "Opening", "Hours", "Single-Turn", "2"]
    (fields,) = json.loads(run_testset(project, "ls", "--json"))
    assert (fields["description"], fields["topics"]) == ("ours", ["Hours", "Place"])
    output = run_testset(project, "show", "opening hours", "--limit", "1")
    assert "When?" in output
    assert "Opening Hours: Single-Turn, 1 of 2 tests" in output
    tests = json.loads(run_testset(project, "show", "opening-hours", "--json"))[0]["tests"]
    assert [each["prompt"]["content"] for each in tests] == ["When?", "Where?"]
    for kind in ("csv", "jsonl", "json"):
        printed = run_testset(project, "export", "opening-hours", f"out.{kind}")
        assert printed == f"opening-hours: 2 tests written to out.{kind}\n"
        before = project.file("test_sets/opening-hours/tests.jsonl").read_bytes()
        run_testset(project, "import", f"out.{kind}", "--id", "opening-hours", "--name", "Opening Hours")
        assert project.file("test_sets/opening-hours/tests.jsonl").read_bytes() == before, "ids and all come back"
    (fields,) = json.loads(run_testset(project, "ls", "--json"))
    assert fields["description"] == "ours"


def test_an_unknown_set_is_an_error_with_similar_names(project: Project) -> None:
    (project.root / "hours.csv").write_text(TABLE)
    messages = ["there is no test set 'ours'\n`scoregate testset import` creates one."]
    messages += ["there is no test set 'ours'\nDid you mean 'hours'?", "there is no test set 'x'\nThere are: 'hours'"]
    outcomes = [project.scoregate("testset", "show", "ours")]
    run_testset(project, "import", "hours.csv")
    outcomes += [project.scoregate("testset", "show", "ours"), project.scoregate("testset", "export", "x", "x.csv")]
    assert [outcome.stderr for outcome in outcomes] == [f"error: {message}\n" for message in messages]


def test_hostile_text_is_escaped(project: Project) -> None:
    (project.root / "x.csv").write_text("prompt_content,category,topic,behavior\n\x1b[2J\u202eq,\x1b]0;c,t,b\n")
    run_testset(project, "import", "x.csv")
    for arguments in (("ls",), ("show", "x"), ("show", "x", "--json")):
        assert not {"\x1b", "\u202e"} & set(run_testset(project, *arguments))


def test_invalid_tables_import_nothing(project: Project) -> None:
    (project.root / "bad.csv").write_text("prompt_content,category,topic,behavior\nq,,t,b\n")
    outcome = project.scoregate("testset", "import", "bad.csv")
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert "bad.csv:2: column category: is empty" in outcome.stderr
    for arguments in (("import", "none.csv"), ("import", "bad.txt"), ("show", "none"), ("export", "none", "x.csv")):
        (project.root / "bad.txt").touch()
        outcome = project.scoregate("testset", *arguments)
        assert (outcome.returncode, "Traceback" in outcome.stderr) == (2, False), arguments
    assert run_testset(project, "ls") == "There are no test sets.\n"


def test_branches_that_add_tests_merge_and_a_conflict_is_reported(project: Project) -> None:
    (project.root / "x.jsonl").write_text('{"id": "1", "category": "c", "behavior": "b", "prompt": {"content": "q"}}\n')
    run_testset(project, "import", "x.jsonl")
    project.commit()
    tests = project.file("test_sets/x/tests.jsonl")
    base = tests.read_text()

    def branch(name: str, text: str) -> None:
        project.git("checkout", "--quiet", "-b", name, "main")
        tests.write_text(text)
        project.commit()

    branch("one", base + base.replace('"1"', '"2"'))
    branch("two", base + base.replace('"1"', '"3"'))
    project.git("merge", "--quiet", "one")
    assert len(json.loads(run_testset(project, "show", "x", "--json"))[0]["tests"]) == 3
    branch("three", base.replace('"q"', '"three"'))
    branch("four", base.replace('"q"', '"four"'))
    project.git("merge", "--quiet", "three")
    outcome = project.scoregate("testset", "show", "x")
    assert outcome.returncode == 2
    assert "x/tests.jsonl:2: differs from" in outcome.stderr
    assert "keep the line that is right" in outcome.stderr
