"""The frames of the user's own code in the text of a traceback."""

from __future__ import annotations

import os

import scoregate
from scoregate.kernel.types.frames import Frame, find_user_frames

OWN = os.path.dirname(scoregate.__file__)  # noqa: PTH120


def traceback(*places: tuple[str, int, str]) -> str:
    lines = ["Traceback (most recent call last):"]
    for file, line, code in places:
        lines.append(f'  File "{file}", line {line}, in run')
        lines += [f"    {code}"] if code else []
    return "\n".join([*lines, "ValueError: no", ""])


def test_the_last_frames_are_the_users() -> None:
    text = traceback(
        ("/p/evals/a.py", 1, "a()"),
        ("/p/evals/b.py", 22, "b()"),
        ("/v/lib/python3.11/site-packages/httpx/_client.py", 3, "c()"),
        ("/p/evals/c.py", 4, ""),
        ("/usr/lib/python3.11/json/__init__.py", 5, "d()"),
        (f"{OWN}/engine/run.py", 6, "e()"),
        ("/p/evals/d.py", 7, "d" * 161),
    )
    frames = [Frame("/p/evals/b.py", 22, "b()"), Frame("/p/evals/c.py", 4, ""), Frame("/p/evals/d.py", 7, "d" * 160)]
    assert find_user_frames(text) == frames
    assert find_user_frames(text, most=1) == frames[-1:]
    assert find_user_frames(text, most=9) == [Frame("/p/evals/a.py", 1, "a()"), *frames]


def test_generated_code_counts_only_alone() -> None:
    generated, own = ("<string>", 3, ""), ("/p/a.py", 1, "a()")
    assert find_user_frames(traceback(own, generated)) == [Frame(*own)]
    assert find_user_frames(traceback(generated)) == [Frame(*generated)]
    for name in ("<stdin>", "<ipython-input-1>"):
        assert find_user_frames(traceback(own, (name, 3, ""))) == [Frame(*own), Frame(name, 3, "")]
    assert find_user_frames(traceback(own, ("<frozen importlib>", 3, ""))) == [Frame(*own)]


def test_without_code_of_the_user_the_last_frame_of_a_library_is_shown() -> None:
    library = ("/v/lib/python3.11/site-packages/httpx/a.py", 3, "c()")
    debian = ("/usr/lib/python3/dist-packages/yaml/a.py", 4, "d()")
    assert find_user_frames(traceback(library, debian)) == [Frame(*debian)]
    assert find_user_frames(traceback(debian, library)) == [Frame(*library)]
    for own in (
        f"{OWN}/a.py",
        "/v/lib/python3.11/site-packages/scoregate/a.py",
        "/usr/lib/python3/dist-packages/scoregate/a.py",
    ):
        assert find_user_frames(traceback(library, (own, 1, "x()"))) == []
    assert find_user_frames("ValueError: no") == []


def test_only_whole_frames_are_read() -> None:
    assert find_user_frames(' File "/p/a.py", line 1\n') == []
    assert find_user_frames(f'  File "/{"x" * 1_000}", line 1\n') == []
    assert find_user_frames('  File "/p/a.py", line 1234567890, in x\n') == []
    assert find_user_frames('  File "/p/a.py", line 7\n    x = (\n        ^\nSyntaxError') == [
        Frame("/p/a.py", 7, "x = (")
    ]


def test_a_frame_is_described_with_a_relative_path() -> None:
    frame = Frame("/p/evals/a.py", 7, "a()")
    assert frame.describe("/p") == frame.describe("/p/") == "evals/a.py:7: a()"
    assert frame.describe("/p/ev") == "/p/evals/a.py:7: a()"
    assert Frame("/p/a.py", 7, "").describe("/p") == "a.py:7"
