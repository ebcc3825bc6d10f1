"""Tables and JSON that commands print."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click
import pytest
from click.testing import CliRunner

from scoregate.cli.text_output import CommandGroup, print_json, print_table

HOSTILE = "\x1b[2J\u202etxt\n::error::x"


def test_numbers_align_right_and_text_left(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "rows"), [("a", 5), ("longer", "1,234")], numbers=(1,))
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "name     rows",
        "a           5",
        "longer  1,234",
    ]


def test_cells_and_headings_are_cut_and_have_no_control_codes(capsys: pytest.CaptureFixture[str]) -> None:
    print_table((HOSTILE,), [("x" * 61,), (HOSTILE,)])
    heading, long, hostile = (line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert heading == hostile == r"\u202etxt ::error::x"
    assert long == "x" * 59 + "…"


def test_without_rows_a_message_or_headings_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name",), [], nothing="There are none.")
    print_table(("name",), [])
    assert capsys.readouterr().out == "There are none.\nname\n"


def test_json_has_one_ascii_line_per_item(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"at": datetime(2026, 1, 2, tzinfo=UTC)}, HOSTILE])
    out = capsys.readouterr().out
    assert json.loads(out) == [{"at": "2026-01-02T00:00:00+00:00"}, HOSTILE]
    assert len(out.splitlines()) == 2
    assert out.isascii()


@pytest.mark.parametrize("name", ["ls", "list", "rm", "remove"])
def test_a_subcommand_has_a_short_and_a_long_name(name: str) -> None:
    group = CommandGroup("dataset")
    group.add_command(click.Command(name, callback=lambda: click.echo("done")))
    other = {"ls": "list", "list": "ls", "rm": "remove", "remove": "rm"}[name]
    assert CliRunner().invoke(group, [other]).output == "done\n"
    assert CliRunner().invoke(group, ["show"]).exit_code == 2
    assert other not in CliRunner().invoke(group, ["--help"]).output.split()
