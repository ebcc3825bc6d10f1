"""What the terminal shows of failing cases and of errors, so that a developer finds the line to change."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from tests.integration.host.conftest import Project, suite

import scoregate
from scoregate.kernel.report.cases import split_expected
from scoregate.kernel.report.console_text import mark_differences
from scoregate.kernel.types.frames import find_user_frames

ANSWER = """
import json


def answer(case):
    if "good" in case.input:
        return case.input
    return "something entirely different" if "1" in case.input else look_up(case)


def look_up(case):
    return json.loads("{" * 3)
"""


def test_a_failing_case_and_an_error_lead_to_their_lines(project: Project) -> None:
    project.write("evals/eval_demo.py", suite(ANSWER, fn="answer", good=1, bad=4))
    project.write("evals/eval_broken.py", "from scoregate.testing.run import run_test_suite\n\nrun_test_suite(\n")
    outcome = project.scoregate("run", "--baseline", "none")
    lines = [line.rstrip() for line in outcome.output.splitlines()]
    offset = lines.index("✗ bad 1  demo")
    assert lines[offset + 1 : offset + 3] == [
        "    output    something entirely different",
        "    expected  something else",
    ]
    assert lines[offset + 3].startswith("    is-equals  0  needs ≥ 1  ")
    error = next(offset for offset, line in enumerate(lines) if line.startswith("! demo: JSONDecodeError: "))
    assert '(in 3 trials, first in "bad ' in " ".join(line.strip() for line in lines[error : error + 2])
    error += next(offset for offset, line in enumerate(lines[error:]) if line.startswith("    at ")) - 1
    number = suite(ANSWER).splitlines().index('    return json.loads("{" * 3)') + 1
    assert lines[error + 2] == f'    at evals/eval_demo.py:{number}: return json.loads("{{" * 3)'
    assert "look_up(case)" in lines[error + 1]
    assert "scoregate/engine" not in outcome.output
    assert "json/decoder.py" not in outcome.output
    assert "! A script failed: evals/eval_broken.py:3: Python 3." in outcome.output
    hidden = project.scoregate("run", "--baseline", "none", SCOREGATE_SHOW_OUTPUTS="none")
    assert "output    something entirely different" not in hidden.output


def test_expected_output_is_separated_from_the_input() -> None:
    cases = (
        ({"input": "a", "expected": "b"}, ("a", "b")),
        ({"question": "a", "ideal": "b", "tags": []}, ("a", "b")),
        ({"input": "a", "context": "c", "expected_output": "b"}, ("a", "b")),
        ({"x": 1, "y": 2}, ({"x": 1, "y": 2}, None)),
        ({"input": "a"}, ("a", None)),
        ({"input": "a", "metadata": {"document": "d"}}, ("a", None)),
        ({"metadata": {"document": "d"}}, (None, None)),
        ("a", ("a", None)),
        (None, (None, None)),
    )
    for value, parts in cases:
        assert split_expected(value) == parts


def test_different_words_are_marked() -> None:
    marked = mark_differences("We open at nine.", "We open at ten.")
    spans = {text: [content.plain[span.start : span.end] for span in content.spans] for text, content in marked.items()}
    assert spans == {"We open at nine.": ["nine"], "We open at ten.": ["ten"]}
    assert mark_differences("same", "same") == mark_differences("abc def", "12 34 5") == {}
    console = Console(force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(marked["We open at ten."])
    assert "\x1b[1;4mten\x1b[0m" in capture.get()


def test_user_frames_are_preferred_and_hostile_text_is_escaped() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/p/evals/a.py", line 3, in f\n    g()\n    ~^^\n'
        '  File "/p/.venv/lib/python3.12/site-packages/openai/x.py", line 9, in g\n    raise E\n'
        "E: no\n"
    )
    assert [frame.describe("/p") for frame in find_user_frames(text)] == ["evals/a.py:3: g()"]
    generated = '  File "<string>", line 8, in __init__\n'
    assert find_user_frames(text + generated) == find_user_frames(text)
    assert [frame.describe("/p") for frame in find_user_frames(generated)] == ["<string>:8"]
    library = '  File "/usr/lib/python3.12/json/x.py", line 9, in g\n    raise E\n'
    assert [frame.describe("/p") for frame in find_user_frames(library)] == ["/usr/lib/python3.12/json/x.py:9: raise E"]
    own = f'  File "{Path(scoregate.__file__).parent}/scorers/pairs.py", line 9, in g\n    raise E\n'
    assert find_user_frames(text + own) == find_user_frames(text)
    assert find_user_frames('  File "' * 5_000 + "\n" * 5_000) == []
