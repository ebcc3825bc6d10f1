"""Answers to commands in the comment: they stay when the report changes, are few, and can't be forged by a report."""

from __future__ import annotations

from scoregate.kernel.job.publish.answers import LONGEST_BLOCK, add_answer, find_answers


def test_newest_answers_stay_and_strangers_share_one_place() -> None:
    block = ""
    for number in range(5):
        block = add_answer(block, f"writer {number}", is_writer=True)
        block = add_answer(block, f"other {number}\n\n```toml\nx = 1\n```", is_writer=False)
    texts = [line for line in block.splitlines() if line.startswith(("writer", "other"))]
    assert texts == ["other 4", "writer 4", "writer 3", "writer 2"]
    assert block.count("```") == 2


def test_only_an_answer_block_is_found() -> None:
    block = add_answer("", "an answer", is_writer=True)
    assert find_answers(f"a report\n\n{block}\n") == block
    assert find_answers(f"a report\r\n\r\n{block}".replace("\n", "\r\n")).count("an answer") == 1
    assert find_answers("a report") == ""
    assert find_answers(block.removesuffix("<!-- scoregate:answers end -->")) == ""
    assert find_answers(block.replace("an answer", "x" * LONGEST_BLOCK)) == ""


def test_long_answers_replace_older_ones() -> None:
    block = ""
    for number in range(4):
        block = add_answer(block, f"{number} " * 1_200, is_writer=True)
        assert len(block) <= LONGEST_BLOCK
    assert "3 " in block
    assert "1 1" not in block
