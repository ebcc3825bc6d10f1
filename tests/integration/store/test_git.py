"""What git does with the store: merges of two branches, and reported conflicts."""

from __future__ import annotations

from tests.integration.store.conftest import Project


def add(project: Project, output: str, score: str = "1", by: str = "Ada") -> None:
    arguments = ("--original", "0", "--score", score, "--output", output, "--by", by)
    outcome = project.scoregate("overrides", "add", "accuracy", *arguments)
    assert outcome.returncode == 0, outcome.stderr


def make_branches(project: Project, ours: str, theirs: str) -> None:
    """A branch with one change, the other checked out with another."""
    for branch, output in (("theirs", theirs), ("ours", ours)):
        project.git("checkout", "--quiet", "-B", branch, "main")
        add(project, output)
        project.commit()


def exported_values(project: Project) -> list[str]:
    outcome = project.scoregate("overrides", "list", "--json")
    assert outcome.returncode == 0, outcome.stderr
    return sorted(line.split('"value": "')[1].split('"')[0] for line in outcome.stdout.splitlines())


def test_a_diff_has_a_line_per_record(project: Project) -> None:
    for output in "abc":
        add(project, output)
    project.commit()
    add(project, "d")
    changed = project.git("diff", "--numstat").stdout.split()
    assert changed == ["1", "0", ".scoregate/overrides/accuracy.jsonl"]
    tracked = project.git("ls-files").stdout.split()
    assert tracked == [
        ".scoregate/.gitattributes",
        ".scoregate/.gitignore",
        ".scoregate/overrides/accuracy.jsonl",
        ".scoregate/version",
    ]
    assert project.git("status", "--porcelain").stdout == " M .scoregate/overrides/accuracy.jsonl\n"


def test_two_branches_that_create_the_store_merge(project: Project) -> None:
    make_branches(project, "a", "b")
    project.git("merge", "--quiet", "theirs")
    assert exported_values(project) == ["a", "b"]


def test_branches_that_add_records_merge_and_are_sorted_later(project: Project) -> None:
    for output in ("a", "b", "c"):
        add(project, output)
    project.commit()
    make_branches(project, "d", "e")
    project.git("merge", "--quiet", "theirs")
    assert exported_values(project) == ["a", "b", "c", "d", "e"]
    add(project, "f")
    lines = project.file("overrides/accuracy.jsonl").read_text().splitlines()
    ids = [line.split('"id": "')[1].split('"')[0] for line in lines]
    assert ids == sorted(ids)


def test_an_equal_record_is_stored_once(project: Project) -> None:
    make_branches(project, "a", "a")
    project.git("merge", "--quiet", "theirs")
    assert exported_values(project) == ["a"]


def test_contradictory_records_are_reported(project: Project) -> None:
    add(project, "a")
    project.commit()
    for branch, score in (("theirs", "0.25"), ("ours", "0.75")):
        project.git("checkout", "--quiet", "-B", branch, "main")
        add(project, "a", score)
        project.commit()
    project.git("merge", "--quiet", "theirs")
    outcome = project.scoregate("overrides", "list")
    assert outcome.returncode == 2
    assert "accuracy.jsonl:2: differs from .scoregate/overrides/accuracy.jsonl:1" in outcome.stderr
    assert "keep the line that is right" in outcome.stderr


def test_merge_conflicts_have_file_and_line(project: Project) -> None:
    """As where a host merges without our attributes, or people have taken them away."""
    add(project, "x")
    project.file(".gitattributes").write_text("")
    project.commit()
    for branch, score in (("theirs", "0.25"), ("ours", "0.75")):
        project.git("checkout", "--quiet", "-B", branch, "main")
        add(project, "x", score)
        project.commit()
    assert project.git("merge", "--quiet", "theirs", check=False).returncode == 1
    before = project.file("overrides/accuracy.jsonl").read_text()
    for arguments in (["list"], ["add", "accuracy", "--original", "0", "--score", "1", "--output", "z"]):
        outcome = project.scoregate("overrides", *arguments)
        assert outcome.returncode == 2
        for number in (1, 3, 5):
            assert f"accuracy.jsonl:{number}: git left a merge conflict here" in outcome.stderr
        assert "Keep the lines of both sides" in outcome.stderr
    assert project.file("overrides/accuracy.jsonl").read_text() == before
