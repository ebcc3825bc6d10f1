"""The grammar of commands in comments: any text is a command within limits, or refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.features.comments.grammar import LONGEST_COMMAND, HelpCommand, is_command, parse_command
from scoregate.features.comments.rerun import RerunCommand
from scoregate.features.comments.run import MOST_REPEATS, MOST_SUITES, RunCommand
from scoregate.features.exemptions.accept_command import LONGEST_REASON, AcceptCommand
from scoregate.features.steps import load_all_steps
from scoregate.kernel.job.comment_command import CommandRefused

TODAY = "2026-11-23"
KINDS = [kind for step in load_all_steps() for kind in step.comment_commands]
PARTS = """
    run rerun-failed accept help until because 2026-12-31 2020-01-01 repeats=3 repeats=-1 repeats= x-* @abc1234
    a/b@abc1234 at_most=0.1 at_most=. issue=#3 $(id) `id` ; ' " [[a]] --config -x = @ ünï \x00 \u202e
"""
WORDS = st.lists(st.sampled_from([*PARTS.split(), "x" * 200, "@" + "g" * 40]), max_size=60)
TEXTS = st.one_of(st.text(), WORDS.map(" ".join), WORDS.map("\n".join)).map(lambda text: f"/scoregate {text}")


def parse_or_refuse(text: str) -> object:
    try:
        return parse_command(text, KINDS, today=TODAY)
    except CommandRefused as refused:
        return refused


@given(TEXTS)
def test_every_text_is_a_bounded_command_or_refused(text: str) -> None:
    command = parse_or_refuse(text)
    if isinstance(command, RunCommand):
        assert len(command.suites) <= MOST_SUITES
        assert command.repeats is None or 1 <= command.repeats <= MOST_REPEATS
        assert re.fullmatch(r"([0-9a-f]{7,64})?", command.commit)
        assert not re.search(r"[\s,;$`'\"\\(){}<>|&\[\]@=]", "".join(command.suites))
        assert not any(suite.startswith(("-", "[", "{")) for suite in command.suites)
    elif isinstance(command, AcceptCommand):
        assert command.until >= TODAY
        assert 1 <= len(command.reason) <= LONGEST_REASON
        assert command.at_most is None or 0 < command.at_most <= 1
    elif isinstance(command, CommandRefused):
        assert len(str(command)) < 1_000
        assert command.message.isprintable()
    else:
        assert isinstance(command, HelpCommand | RerunCommand)


def test_commands_have_arguments() -> None:
    for text, command in {
        "/scoregate": HelpCommand(),
        "/scoregate help": HelpCommand(),
        "/scoregate\thelp\r\n\r\nthanks": HelpCommand(),
        "/scoregate rerun-failed": RerunCommand(),
        "/scoregate run": RunCommand(),
        "/scoregate run @ABC1234 support-* evals/a.py::b repeats=5": RunCommand(
            ("support-*", "evals/a.py::b"), 5, "abc1234"
        ),
        "/scoregate accept support is-* until 2026-11-23 because the new  prompt": AcceptCommand(
            "support", "is-*", TODAY, "the new prompt"
        ),
        "/scoregate accept * x until 2026-12-31 at_most=0.05 issue=#12 because because": AcceptCommand(
            "*", "x", "2026-12-31", "because", 0.05, "#12"
        ),
    }.items():
        assert parse_command(text, KINDS, today=TODAY) == command, text


def test_refusals_have_reasons() -> None:
    for text, reason in {
        "run now@x": "is not a glob",
        "run a,b": "is not a glob",
        "run [a]": "is not a glob",
        "run --config": "is not a glob",
        "run @abc1234 @abc1235": "@SHA is given twice",
        "run @abc": "is not a value for @SHA",
        "run repeats=two": "is not a value for repeats",
        "run repeats=0": "from 1 to",
        "run " + "a " * 21: "at most 20",
        "help me": "'me' is not an argument",
        "rerun-failed all": "'all' is not an argument",
        "accept demo x until 2026-12-31": "a reason",
        "accept demo x until 2026-12-31 because": "1 to 500",
        "accept demo until 2026-12-31 because x": "are missing",
        "accept demo contains yes until 2026-12-31 because x": "For a space or another character in a name, write ?",
        "accept demo x until tomorrow because x": "is not a day",
        "accept demo x until 2026-02-30 because x": "is not a day",
        "accept demo x until 2026-11-22 because x": "is over",
        "accept demo x until 2026-12-31 at_most=2 because x": "at most 1",
        "accept demo x until 2026-12-31 at_most=1.2.3 because x": "at most 1",
        "accept demo x until 2026-12-31 by=bo because x": "is not an argument",
        "Run": "there is no command 'Run'",
        "run \u202e": "invisible",
        "run\n/scoregate run": "one command",
        "run " + "a" * LONGEST_COMMAND: "has 1,015 characters",
    }.items():
        with pytest.raises(CommandRefused, match=re.escape(reason)):
            parse_command(f"/scoregate {text}", KINDS, today=TODAY)


def test_only_the_beginning_of_a_comment_is_a_command() -> None:
    assert all(map(is_command, ("/scoregate", "/scoregate run", "/scoregate\nrun")))
    assert not any(map(is_command, ("", "scoregate run", " /scoregate run", "/scoregates", "> /scoregate run")))
