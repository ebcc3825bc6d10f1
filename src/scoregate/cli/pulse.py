"""The line below the table of running suites: that it lives, how far it is, what may be left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic

from rich.spinner import Spinner
from rich.text import Text

from scoregate.ci.report import numbers
from scoregate.cli.standings import Standing, Standings, clock
from scoregate.core.case import Status

_SOONEST_S, _FEWEST = 5.0, 3
_EDGE = 4  # room for what the terminal itself writes when a key is pressed, such as ^C


def pulse(standings: Standings, started: float, *, width: int, plain: bool = False) -> Text:
    """`⠹ 42 s · 120 of 400 cases · 12 failed · about 1 m 5 s left · script 3 of 8`, from the left as much as fits.

    Args:
        started: when, by the monotonic clock. plain: in ASCII alone.
    """
    now = monotonic()
    spinner = Spinner("line" if plain else "dots")
    frame = spinner.frames[int(1000 * now / spinner.interval) % len(spinner.frames)]
    line = Text().append(frame, "cyan").append(f" {clock(now - started)}", "default")
    for told, style in _parts(standings, now):
        if line.cell_len + 3 + len(told) > width - _EDGE:
            break
        line.append(" - " if plain else " · ", "dim").append(told, style)
    return line


def _parts(standings: Standings, now: float) -> Iterator[tuple[str, str]]:
    every = list(standings)
    if not every:
        yield _waiting(standings), "dim"
        return
    yield _done(every), "default"
    if failed := _count(every, Status.FAILED):
        yield f"{failed:,} failed", "red"
    if errors := _count(every, Status.ERRORED):
        yield numbers.count(errors, "error"), "yellow"
    if standings.ended == standings.launches:
        yield "comparing", "dim"
    elif left := _left(every, standings, now):
        yield f"about {clock(left)} left", "default"
    if standings.launches > 1:
        yield f"{standings.ended} of {standings.launches} scripts", "dim"


def _waiting(standings: Standings) -> str:
    running = standings.began - standings.ended
    return f"{numbers.count(running, 'script')} running, no suite heard of yet" if running else "preparing"


def _done(every: Sequence[Standing]) -> str:
    done = sum(each.tally.done for each in every)
    planned = [each.tally.planned for each in every]
    known = [count for count in planned if count is not None]
    if len(known) < len(planned) or sum(known) <= done:
        return numbers.count(done, "case")
    return f"{done:,} of {numbers.count(sum(known), 'case')}"


def _count(every: Sequence[Standing], status: Status) -> int:
    return sum(each.tally.states.get(status, 0) for each in every)


def _left(every: Sequence[Standing], standings: Standings, now: float) -> float | None:
    """Seconds, once every script runs and every suite has told how many cases it has and done a few of them."""
    running = [each for each in every if not each.tally.finished]
    if not running or standings.began < standings.launches:
        return None
    longest = 0.0
    for each in running:
        tally, so_far = each.tally, now - each.started
        if tally.planned is None or tally.done < _FEWEST or so_far < _SOONEST_S:
            return None
        longest = max(longest, so_far / tally.done * max(tally.planned - tally.done, 0))
    return longest
