"""Turns: how many at once, who is next, and what a refusal does."""

from __future__ import annotations

import time
from concurrent.futures import Future

from scoregate.models.rate_limit import Limiter, Turn


def entered(limiter: Limiter, count: int) -> tuple[list[Turn], list[Future[Turn]]]:
    given = [limiter.enter() for _ in range(count)]
    return [turn for turn in given if isinstance(turn, Turn)], [turn for turn in given if isinstance(turn, Future)]


def test_no_more_than_so_many_are_under_way_and_the_first_to_wait_is_next() -> None:
    limiter = Limiter(3)
    turns, waiting = entered(limiter, 5)
    assert (len(turns), len(waiting)) == (3, 2)
    limiter.leave(turns[0])
    assert [future.done() for future in waiting] == [True, False]


def test_a_refusal_halves_once_for_all_that_were_under_way_together() -> None:
    limiter = Limiter(8)
    turns, _ = entered(limiter, 8)
    for turn in turns:
        limiter.refuse(turn, {}, 0.0)
    assert len(entered(limiter, 8)[0]) == 4


def test_a_second_refusal_halves_again_and_one_is_always_left() -> None:
    limiter = Limiter(4)
    for expected in (2, 1, 1):
        (turn, *others), _ = entered(limiter, 1)
        limiter.refuse(turn, {}, 0.0)
        assert others == []
        turns, waiting = entered(limiter, 6)
        assert len(turns) == expected
        for future in waiting:
            limiter.give_up(future)
        for each in turns:
            limiter.leave(each, answered=False)


def test_answers_win_back_what_refusals_took() -> None:
    limiter = Limiter(8)
    (turn, *_), _ = entered(limiter, 1)
    limiter.refuse(turn, {}, 0.0)
    widths = []
    for _ in range(4):
        turns, waiting = entered(limiter, 8)
        for future in waiting:
            limiter.give_up(future)
        widths.append(len(turns))
        for each in turns:
            limiter.leave(each)
    assert widths == sorted(widths)
    assert widths[0] == 4
    assert 5 <= widths[-1] <= 8


def test_everybody_is_held_back_for_as_long_as_the_server_says() -> None:
    limiter = Limiter(4)
    (turn, *_), _ = entered(limiter, 1)
    limiter.refuse(turn, {}, 0.2)
    refused = time.monotonic()
    later, again = limiter.enter(), limiter.enter(again=True)
    assert isinstance(later, Future)
    assert isinstance(again, Future)
    first = again.result(timeout=2)
    assert time.monotonic() - refused >= 0.2
    assert first.number < later.result(timeout=2).number


def test_who_no_longer_waits_takes_no_turn() -> None:
    limiter = Limiter(1)
    (turn, *_), (gone, next_one) = entered(limiter, 3)
    limiter.give_up(gone)
    limiter.leave(turn)
    assert next_one.done()


def test_a_turn_that_came_too_late_is_given_back() -> None:
    limiter = Limiter(1)
    (turn, *_), (gone, next_one) = entered(limiter, 3)
    limiter.leave(turn)
    assert gone.done()
    limiter.give_up(gone)
    assert next_one.done()


def test_without_a_word_from_the_server_the_pause_doubles() -> None:
    now = [100.0]
    limiter = Limiter(1, clock=lambda: now[0])
    waits = []
    for _ in range(3):
        turn = limiter.enter()
        assert isinstance(turn, Turn)
        limiter.refuse(turn, {}, None)
        waits.append(round(limiter.held_until - now[0], 3))
        now[0] = limiter.held_until
    assert waits == [0.25, 0.5, 1.0]
