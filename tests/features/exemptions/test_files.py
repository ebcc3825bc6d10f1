"""`accepted.toml` and `quarantine.toml`: every problem has its file and line, and disables the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.errors import SettingsError
from scoregate.features.exemptions.entries.files import (
    LARGEST_FILE,
    MOST_ENTRIES,
    ExemptionFiles,
    parse_files,
    read_files,
)
from scoregate.kernel.types.exemptions import AcceptedRegression, QuarantinedCases

ENTRY = '[[accepted]]\nsuite = "s"\nevaluator = "e"\nuntil = 2026-12-31\nreason = "r"\nby = "ana"\nat_most = 0.05\n'
FLAKY = '[[quarantine]]\ncase = "c"\nowner = "bo"\nreason = "r"\nuntil = 2026-12-31\n'


def problems(accepted: str, quarantine: str = "") -> str:
    with pytest.raises(SettingsError) as exc_info:
        parse_files(accepted.encode(), quarantine.encode())
    return exc_info.value.message


def test_entries_are_read_with_their_lines() -> None:
    case = ENTRY.replace("evaluator = ", "case = ").replace("at_most = 0.05", "")
    text = f'# the parser\n{ENTRY}issue = "#12"\n\n{case}'
    found = parse_files(text.encode(), f"{FLAKY}\n{FLAKY}tags = ['slow']\nsuite = 's*'\n".encode())
    assert found.accepted == (
        AcceptedRegression("s", "2026-12-31", "r", "ana", "e", at_most=0.05, issue="#12"),
        AcceptedRegression("s", "2026-12-31", "r", "ana", case="e"),
    )
    assert [each.place for each in found.accepted] == [".scoregate/accepted.toml:2", ".scoregate/accepted.toml:11"]
    flaky = QuarantinedCases("bo", "r", "2026-12-31", "*", "c")
    assert found.quarantined == (flaky, QuarantinedCases("bo", "r", "2026-12-31", "s*", "c", ("slow",)))
    assert parse_files(b"\xef\xbb\xbf" + ENTRY.encode(), None, where=" of the base").accepted[0].place == (
        ".scoregate/accepted.toml:1 of the base"
    )
    assert parse_files(None, b"") == ExemptionFiles()


def test_every_problem_has_its_line() -> None:
    for old, new, message in (
        ('reason = "r"\n', "", "accepted.toml:1: `reason` is missing: why the regression is accepted"),
        ('by = "ana"\n', "", ":1: `by` is missing: who accepts it"),
        ("until = 2026-12-31\n", "", ":1: `until` is missing: the last day of the entry, such as until = 2026-12-31"),
        (
            "2026-12-31",
            '"2026-12-31"',
            ":4: `until` must be a date without quotes, such as 2026-12-31, not '",
        ),
        ("2026-12-31", "2026-12-31T00:00:00Z", ":4: `until` must be a date without quotes"),
        ("0.05", "5", ":7: `at_most` must be a number above 0 and at most 1, not 5"),
        ("0.05", "0", ":7: `at_most` must be a number above 0"),
        ("0.05", "nan", ":7: `at_most` must be a number above 0"),
        ("0.05", "true", ":7: `at_most` must be a number above 0"),
        ("at_most = 0.05\n", "", ":1: `at_most` is missing: the largest accepted drop"),
        ('evaluator = "e"\n', "", ":1: `evaluator` is missing: a glob of scorers"),
        ('"s"', '" "', ":2: `suite` must be a text of 1 to 500 characters, not ' '"),
        ('"s"', '["s"]', ":2: `suite` must be a text"),
        ('"r"', f'"{"r" * 501}"', ":5: `reason` must be a text of 1 to 500 characters"),
        ("by =", "buy =", ":6: unknown field 'buy'; known: at_most, by, case, evaluator, issue, reason, suite, until"),
        ("[[accepted]]", "[[acepted]]", ":1: unknown key 'acepted'; entries are tables [[accepted]]"),
        ("[[accepted]]", "[accepted]", ":1: accepted must be a list of tables: [[accepted]]"),
        ("[[accepted]]", "[[accepted]", "accepted.toml is not valid TOML"),
        ('evaluator = "e"', 'case = "c"', ":7: `at_most` doesn't apply to a `case`; use one entry for each"),
        ('suite = "s"', 'suite = "s"\ncase = "c"', ":4: `evaluator` doesn't apply to a `case`"),
    ):
        assert message in problems(ENTRY.replace(old, new, 1))
    for old, new, message in (
        ('case = "c"\n', "", "quarantine.toml:1: `case` or `tags` is missing: a glob of names of cases, or a list"),
        ('owner = "bo"\n', "", "quarantine.toml:1: `owner` is missing: who makes the cases stable again"),
        ('case = "c"', "tags = []", "quarantine.toml:2: `tags` must be a list of 1 to 50 texts, not []"),
        ('case = "c"', 'tags = "slow"', "quarantine.toml:2: `tags` must be a list"),
        ('case = "c"', 'case = "c"\nstable_runs = 1', ":3: `stable_runs` must be a whole number from 2 to 1000, not 1"),
        ('owner = "bo"', 'owner = "bo"\nby = "bo"', "quarantine.toml:4: unknown field 'by'"),
    ):
        assert message in problems("", FLAKY.replace(old, new, 1))


def test_files_and_lists_of_problems_are_bounded() -> None:
    assert "larger than 1,000,000 bytes" in problems("#" * (LARGEST_FILE + 1))
    assert f"{MOST_ENTRIES + 1:,} entries, at most 1,000 are possible" in problems(
        "[[accepted]]\n" * (MOST_ENTRIES + 1)
    )
    many = problems("[[accepted]]\n" * 5)
    assert many.count("\n") == 10
    assert many.endswith("… and 20 more")
    assert "not valid TOML" in problems("a = " + "[" * 100_000)
    with pytest.raises(SettingsError, match="not valid TOML"):
        parse_files(b"\xff", None)


def test_a_file_outside_the_project_is_not_read(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside.toml"
    (project / ".git").mkdir(parents=True)
    outside.write_text(ENTRY)
    assert read_files(project) == ExemptionFiles()
    folder = project / ".scoregate"
    folder.mkdir()
    (folder / "accepted.toml").symlink_to(outside)
    with pytest.raises(SettingsError, match=r"accepted.toml can't be read: it is a link to a place outside"):
        read_files(project)
    (folder / "accepted.toml").unlink()
    (folder / "accepted.toml").mkdir()
    with pytest.raises(SettingsError, match="it is not a regular file"):
        read_files(project)
