"""Plain English in everything that people read: expressions that we don't use, and what to write instead.

README, pages, changelog and templates are read whole; of Python its docstrings, comments and texts. To use one of the
expressions as an example, put it into backticks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTEAD = {
    r"\b(is|are|was|were|be|been) told\b|\btold (so|of|apart|by|as|on|in|with)\b": "is reported, shown, listed",
    r"(?<!\bto )\btells?\b(?! apart)": "reports, shows, lists",
    r"\b(is|was|are|were) said\b|\bsa(id|ys) so\b": "is reported",
    r"\bhears?\b|\bheard\b": "receives, collects",
    r"\b(is|are) led to\b|\bled here\b": "is redirected to",
    r"\bheld (against|to)\b|\bholds? [^.]{0,30} against\b": "is compared with",
    r"\bwhat becomes of\b|\bwhat (it|this) comes to\b": "the result of",
    r"\bof no use\b": "unused, dummy",
    r"\bunasked\b": "unless you ask",
    r"\b(some|no)body\b": "name the user, the caller, the process",
    r"\bwho (is|has|reads|looks|wants)\b(?![^.]*\?)": "rewrite with a subject: people who, users that",
    r"\bmisspelt\b": "misspelled",
    r"\bstands? (in|for|beside|between|where|there|at)\b": "is in, is next to, means",
    r"\btaken (out|in|up) (of|by)\b": "removed from, included",
    r"\bthe word\b|\blast word\b": "the value, the message",
    r"\bamong (it|them) (is|are)\b": "including",
    r"\b(thereof|therein|whereof|hitherto|whatsoever|henceforth)\b": "plain English",
    r"\bours\b": "scoregate's",
    r"\brooms?\b": "package, module",
    r"\bbeside\b": "next to, besides, with",
}
ANY = re.compile("|".join(f"(?P<g{at}>{pattern})" for at, pattern in enumerate(INSTEAD)), re.IGNORECASE)
# Texts that are sent to models. They stay as they are: a change would change fingerprints and cache keys.
PROMPTS = {
    "src/scoregate/grading/judge.py": 1,
    "src/scoregate/metrics/goal.py": 1,
    "src/scoregate/testing/evaluators/llm_judges.py": 1,
}
READ = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "action.yml", "composite")
FOLDERS = (".github", "benchmarks", "docs", "examples", "src")
WHOLE = {".md", ".j2", ".txt", ".html", ".yml", ".yaml", ".toml"}
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"(?:^|\s)#\s(.*)$", re.MULTILINE)


def files() -> list[Path]:
    found = [ROOT / name for name in READ if (ROOT / name).is_file()]
    for folder in ("composite", *FOLDERS):
        found += [
            path
            for path in (ROOT / folder).rglob("*")
            if path.suffix in {*WHOLE, ".py"} and path.parent.name != "prompts"
        ]
    return sorted(found)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The parts of a file that people read, with their first lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in WHOLE:
        yield 1, text
        return
    for number, line in enumerate(text.splitlines(), 1):
        if "#" in line and (comment := COMMENT.search(line)):
            yield number, comment[1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def places(text: str) -> Iterator[tuple[int, str, str]]:
    """Line offset, expression and replacement for each finding in a text."""
    plain = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for match in ANY.finditer(plain):
        instead = list(INSTEAD.values())[int((match.lastgroup or "g0")[1:])]
        yield plain.count("\n", 0, match.start()), " ".join(match[0].split()), instead


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The reason is told in the comment.", ["is told"]),
        ("Shows a page.\nNobody reads it.", ["Nobody"]),
        ("`is told` is in backticks, and a test set is shown.", []),
        ("```\nnobody\n```\nThe host stands in CI.", ["stands in"]),
        ("What is shown to people who have no account.", []),
    ],
)
def test_findings_are_found(text: str, found: list[str]) -> None:
    assert [expression for _, expression, _ in places(text)] == found


def test_docstrings_and_messages_are_read(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text('"""Told."""\nnobody = 1  # for nobody\nraise ValueError(f"heard {nobody} twice")\n')
    assert [number for number, text in prose(file) for _ in places(text)] == [2, 3]


def test_texts_are_plain_english() -> None:
    lines: dict[str, list[str]] = {}
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        for start, text in prose(path):
            for offset, expression, instead in places(text):
                lines.setdefault(name, []).append(f"{name}:{start + offset}: “{expression}”: write {instead}")
    wrong = [line for name, found in lines.items() if len(found) != PROMPTS.get(name, 0) for line in found]
    assert wrong == [], "\n".join(wrong)
