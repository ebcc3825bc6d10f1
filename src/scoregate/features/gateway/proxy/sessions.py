"""Sessions: each launched suite has a token of its own, and counts of its calls."""

from __future__ import annotations

import secrets
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.runs.model_calls import CallTotals
from scoregate.kernel.types.usage import sum_usage

TOKEN_PREFIX = "sk-scoregate-"
_MOST_DURATIONS = 10_000
_MOST_CASES = 1_000_000
_MOST_PROBLEMS = 20
_MOST_USAGES = 100
_MOST_SUITES = 1_000
_MOST_GROUPS = 1_000
_OTHERS, _NO_PROVIDER = "(others)", "(no provider)"
_WITHOUT_PROVIDER = ("missing_key", "unknown_provider")
_NO_CALLS = Usage(cached=True, calls=0)


class CallOrigin(NamedTuple):
    """What a call belongs to: the case, the trial, the evaluator that made it, and the suite; empty if unknown.

    The suite is named by its id, or by its event log.
    """

    case: str = ""
    repeat: int = 0
    evaluator: str = ""
    suite: str = ""

    @property
    def trial(self) -> str:
        """The case and its trial as one text; empty if the case is unknown."""
        return f"{self.case}#{self.repeat + 1}" if self.case else ""


class CallGroup(NamedTuple):
    """The calls that are counted together."""

    suite: str
    evaluator: str
    provider: str
    model: str


@dataclass(slots=True)
class CallCounts(CallTotals):
    """Counts of a group of calls. Durations are in seconds, for at most 10,000 calls."""

    durations_s: list[float] = field(default_factory=list)

    def add_duration(self, duration_s: float) -> None:
        """Count the duration of an answered call."""
        if len(self.durations_s) < _MOST_DURATIONS:
            self.durations_s.append(duration_s)

    def quantile_ms(self, share: float) -> float | None:
        """A quantile of the durations in milliseconds; None without any."""
        ordered = sorted(self.durations_s)
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000, 1) if ordered else None


def _add_answer(known: Usage | None, usage: Usage) -> Usage | None:
    """The answers of a further call, in any order of calls; None once an answer has no id."""
    if known is None or usage.answer is None:
        return None
    number = blake2b(usage.answer.encode(), digest_size=8).hexdigest()
    return _join_answers(known, Usage(answer=number, cached=usage.cached))


def _join_answers(one: Usage, other: Usage) -> Usage:
    # A sum, since the calls of threads arrive in any order.
    number = int(one.answer or "0", 16) + int(other.answer or "0", 16)
    return replace(_NO_CALLS, answer=f"{number % 2**64:016x}", cached=one.cached and other.cached)


class SuiteSession:
    """The calls of one launched suite.

    Args:
        suite: the name of the launch.
        is_base: whether it belongs to a baseline that is run again.
    """

    def __init__(self, suite: str, *, is_base: bool = False) -> None:
        self.suite, self.is_base, self.number = suite, is_base, 0
        self.token = TOKEN_PREFIX + secrets.token_urlsafe(32)
        self.counts: dict[CallGroup, CallCounts] = {}
        self.problems: dict[str, str] = {}
        self._lock = threading.Lock()
        self._questions: defaultdict[int, int] = defaultdict(int)
        self._failures: defaultdict[int, int] = defaultdict(int)
        self._unnamed: dict[str, Usage | None] = {}
        self._usages: defaultdict[CallOrigin, list[Usage]] = defaultdict(list)

    def find_counts(self, evaluator: str, provider: str, model: str) -> CallCounts:
        """The counts of the calls of a model by an evaluator; after 1,000 of these, all others are counted together."""
        group = CallGroup(self.suite, evaluator, provider, model)
        if group not in self.counts and len(self.counts) >= _MOST_GROUPS:
            group = CallGroup(self.suite, "", _OTHERS, _OTHERS)
        return self.counts.setdefault(group, CallCounts())

    def list_counts(self) -> tuple[CallCounts, ...]:
        """All counts so far. Any thread can ask."""
        return tuple(self.counts.values())

    def number_question(self, trial: str, question: str) -> int:
        """Count a question, and return how often this trial asked it before."""
        key = hash((trial, question))  # 64 bits: a quarter of the memory of the texts
        with self._lock:
            number = self._questions[key]
            self._questions[key] = number + 1
            return number

    def settle_question(self, trial: str, question: str, counts: CallCounts, *, has_failed: bool) -> None:
        """Keep that a question has no answer yet, or count its earlier failures as recovered."""
        key = hash((trial, question))
        with self._lock:
            if has_failed:
                self._failures[key] += 1
            else:
                counts.recovered += self._failures.pop(key, 0)

    def add_usage(self, origin: CallOrigin, usage: Usage) -> None:
        """Count the usage of a call, until `take_usage` reads it."""
        with self._lock:
            if not origin.case and (origin.suite in self._unnamed or len(self._unnamed) < _MOST_SUITES):
                self._unnamed[origin.suite] = _add_answer(self._unnamed.get(origin.suite, _NO_CALLS), usage)
            usages = self._usages[origin if len(self._usages) < _MOST_CASES else CallOrigin()]
            usages.append(usage)
            if len(usages) > _MOST_USAGES and not origin.case:  # the calls of no case can be many
                total = sum_usage(usages)
                usages[:] = [total] if total is not None else []

    def take_usage(self, *origins: CallOrigin) -> Usage | None:
        """Return the usage of the calls of some origins, and forget it."""
        with self._lock:
            return sum_usage([usage for origin in origins for usage in self._usages.pop(origin, ())])

    def stored_answers(self, *suites: str) -> Usage | None:
        """The usage, without amounts, of an output that was made from some of the calls of no case so far.

        If each of these was answered from a store, so was the output. None if there was no call, or an answer is new.

        Args:
            suites: the names that the calls may have for the suite.
        """
        with self._lock:
            usages = [self._unnamed[name] for name in suites if name in self._unnamed]
        joined: Usage | None = _NO_CALLS
        for usage in usages:
            joined = None if joined is None or usage is None else _join_answers(joined, usage)
        return joined if usages and joined is not None and joined.answer else None

    def take_rest(self) -> dict[str, Usage]:
        """Return the usage of all calls that are left by the name of their suite, and forget it."""
        by_suite: defaultdict[str, list[Usage]] = defaultdict(list)
        with self._lock:
            for origin, usages in self._usages.items():
                by_suite[origin.suite] += usages
            self._usages.clear()
        sums = {name: sum_usage(usages) for name, usages in by_suite.items()}
        return {name: total for name, total in sums.items() if total is not None}

    def report_problem(self, message: str, code: str = "") -> None:
        """Keep a problem for the report, each message once, at most 20 with each code.

        Args:
            message: what is wrong.
            code: the code of the error that the client got; empty if it got none.
        """
        if sum(code == known for known in self.problems.values()) < _MOST_PROBLEMS:
            self.problems.setdefault(message, code)

    def report_refusal(self, message: str, code: str) -> None:
        """Keep a refusal for the report. A call of a provider without a key, or of an unknown one, counts as failed."""
        self.report_problem(message, code)
        if code in _WITHOUT_PROVIDER:
            counts = self.find_counts("", _NO_PROVIDER, "")
            counts.calls += 1
            counts.failed += 1


class Sessions:
    """The sessions of a run by token. A token is random, so looking it up reveals nothing about others."""

    def __init__(self) -> None:
        self.opened = 0
        self._by_token: dict[str, SuiteSession] = {}
        self._ended: list[SuiteSession] = []

    def open(self, suite: str, *, is_base: bool = False) -> SuiteSession:
        """Open a session with a new token."""
        session = SuiteSession(suite, is_base=is_base)
        session.number, self.opened = self.opened, self.opened + 1
        self._by_token[session.token] = session
        return session

    def close(self, session: SuiteSession) -> None:
        """End a session; its token is refused from now on."""
        self._by_token.pop(session.token, None)
        self._ended.append(session)

    def find(self, token: str) -> SuiteSession | None:
        """The session with a token."""
        return self._by_token.get(token)

    def list_from(self, first: int) -> list[SuiteSession]:
        """The sessions, without the `first` ones that were opened."""
        return [session for session in self if session.number >= first]

    def __iter__(self) -> Iterator[SuiteSession]:
        return iter((*self._ended, *self._by_token.values()))  # a copy, as suites start and end meanwhile


def sum_counts(sessions: Iterable[SuiteSession]) -> dict[CallGroup, CallCounts]:
    """The counts of all sessions by group, in order of suite, evaluator and model."""
    merged: defaultdict[CallGroup, CallCounts] = defaultdict(CallCounts)
    for session in sessions:
        for group, counts in tuple(session.counts.items()):
            total = merged[group]
            for name in CallCounts.__dataclass_fields__:
                if name == "durations_s":
                    total.durations_s.extend(counts.durations_s[: _MOST_DURATIONS - len(total.durations_s)])
                else:
                    setattr(total, name, getattr(total, name) + getattr(counts, name))
    return dict(sorted(merged.items()))
