"""The templates of the page, in an environment where every string is shown as text."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment, Template
from markupsafe import Markup

from scoregate.ci.report.compiled import environment
from scoregate.ci.report.html import forest, latency, scatter, sparkline
from scoregate.ci.report.html.entries import Kind
from scoregate.ci.report.text import excerpt
from scoregate.ci.report.text import name as one_name

_TEMPLATES = Path(__file__).with_name("templates")
_LONGEST = 20_000
_SIGNS = {
    "passed": "pass",
    "failed": "fail",
    "unmeasurable": "warn",
    "errored": "warn",
    "not comparable": "warn",
    "worse": "down",
    "better": "up",
    "new": "new",
    "removed": "gone",
    "uncertain": "warn",
    "held": "same",
    "scored": "same",
    "unscored": "same",
}
KINDS = {
    Kind.NEWLY_FAILING: "newly failing",
    Kind.WORSE: "worse",
    Kind.FAILING: "failing",
    Kind.BETTER: "better",
    Kind.NEW: "new",
    Kind.SAME: "same",
    Kind.REMOVED: "removed",
}


@cache
def template(name: str) -> Template:
    """A template; what it prints is made visible and escaped."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    made = environment(_TEMPLATES, _finalize)
    made.filters |= {"own": Markup, "sign": _SIGNS.__getitem__, "kind": KINDS.__getitem__, "name": one_name}
    made.filters |= {"address": urlencode, "shown": _shown, "listed": ", ".join, "max": max}
    made.globals |= {"forest_plot": forest, "scatter_plot": scatter, "latency_plot": latency, "spark_plot": sparkline}
    return made


def _finalize(value: object) -> object:
    if isinstance(value, Markup | int | float):
        return value
    if isinstance(value, str):
        return excerpt(value, _LONGEST)
    raise TypeError(f"a {type(value).__name__} cannot be printed in a page")


def _shown(text: str | tuple[str, int]) -> str:
    """A text of a trial; where it was shortened, with a sentence that says so."""
    if isinstance(text, str):
        return text
    return f"{text[0]}\n… shortened: the first {len(text[0]):,} of {text[1]:,} characters"
