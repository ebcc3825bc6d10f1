"""Where reports print the parts of a feature's section."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from rich.console import Console
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_run

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.report import console
from scoregate.kernel.report.build_view import build_view
from scoregate.kernel.types.runs.policy import Policy
from scoregate.kernel.types.slots import PRINTED_AT, Place, Section, check_parts

TEMPLATES = {
    "comment": ("templates/comment.md.j2",),
    "page": ("html/templates/top.html.j2", "html/templates/bottom.html.j2"),
}


@pytest.mark.parametrize("part", TEMPLATES)
def test_templates_print_sections_at_the_places_that_are_allowed(part: str) -> None:
    folder = files("scoregate.kernel.report")
    text = "".join(folder.joinpath(name).read_text("utf-8") for name in TEMPLATES[part])
    calls = re.findall(rf"sections_at\(([^)]*)\) if section\.{part} %}}\n{{% include", text)
    places = [place for call in calls for place in re.findall(r'"(\w+)"', call)]
    assert sorted(places) == sorted(PRINTED_AT[part])


@pytest.mark.parametrize("place", Place)
def test_sentences_and_lines_are_printed_or_refused(place: Place) -> None:
    def print_lines(*_: Any) -> list[str]:
        return ["a line of the feature"]

    run = make_run(ExampleSuite("bot", [Trial("a", [Score("accuracy", 1)])]))
    comparison = compare(run, None)
    verdict = evaluate_gates(comparison, Policy())
    for part, value, text in (
        ("sentences", ("A sentence of the feature.",), "A sentence of the feature."),
        ("terminal", print_lines, "a line of the feature"),
    ):
        section = replace(Section("cats", place), **{part: value})
        view = build_view(comparison, verdict, CONTEXT, [section])
        screen = Console(width=200)
        with screen.capture() as capture:
            for line in console.render(view):
                screen.print(line)
        assert (text in capture.get()) == (place in PRINTED_AT[part]), part
        if place in PRINTED_AT[part]:
            assert check_parts(section) is section
        else:
            with pytest.raises(ValueError, match=f"`{part}`, which no report prints at {place}"):
                check_parts(section)
