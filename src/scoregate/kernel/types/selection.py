"""Which cases of a project a command runs."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from scoregate.errors import UsageError
from scoregate.kernel.types.event_values import SuitePart
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.types.suite import Case


class CaseLabels(NamedTuple):
    """The names by which a case can be chosen."""

    hash: str
    name: str = ""
    tags: tuple[str, ...] = ()


class CaseInput(NamedTuple):
    """The input of one trial: the fields of `CaseResult` that don't depend on an output."""

    suite: int
    hash: str
    tags: tuple[str, ...]
    input: Any
    name: str = ""


@dataclass(frozen=True)
class CaseChoice:
    """Which cases to take.

    Attributes:
        keyword: an expression over the suite's label, the case's name and hash, and its tags; empty takes all.
        named: ids of suites, each with the name or hash of a case; an empty case takes all of the suite. Without any,
            all suites are taken.
        sample: the number of cases in the random sample of each suite; None takes all.
        seed: the seed of the sample.
    """

    keyword: str = ""
    named: tuple[tuple[str, str], ...] = ()
    sample: int | None = None
    seed: int = 0

    @cached_property
    def _matches(self) -> Matches:

        return parse_keywords(self.keyword)

    def takes_suite(self, suite: str) -> bool:
        """Whether any case of the suite may be taken."""
        return not self.named or any(suite == name for name, _ in self.named)

    def takes_case(self, suite: str, case: CaseLabels, label: str = "") -> bool:
        """Whether name and expression take a case.

        Args:
            suite: the id of the suite.
            case: the case.
            label: the id with the parameters of the suite's variant; without it, the id.
        """
        if self.named and not any(suite == name and each in ("", case.hash, case.name) for name, each in self.named):
            return False
        return not self.keyword or self._matches((label or suite, case.hash, case.name, *case.tags))

    def draw_sample(self, cases: Sequence[CaseLabels]) -> set[str]:
        """The hashes of a random sample, in which every set of tags has its share.

        A case's place in the order depends only on the seed and its hash, so a case that is added to a suite replaces
        at most one other.
        """
        if self.sample is None or self.sample >= len(cases):
            return {case.hash for case in cases}
        strata: dict[tuple[str, ...], list[CaseLabels]] = {}
        for case in sorted(cases, key=lambda case: self._rank(case.hash)):
            strata.setdefault(tuple(sorted(set(case.tags))), []).append(case)
        shares = {tags: self.sample * len(members) / len(cases) for tags, members in strata.items()}
        counts = {tags: int(share) for tags, share in shares.items()}
        # Equal rests are taken in the order of digests, so that the order of the cases doesn't matter.
        by_rest = sorted(strata, key=lambda tags: (counts[tags] - shares[tags], self._rank("\0".join(tags))))
        for tags in by_rest[: self.sample - sum(counts.values())]:
            counts[tags] += 1
        return {case.hash for tags, members in strata.items() for case in members[: counts[tags]]}

    def _rank(self, text: str) -> bytes:
        content = f"{self.seed}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(content, digest_size=8).digest()


class PartChoice(NamedTuple):
    """The suites of a process that one shard runs, and the parts of them.

    Attributes:
        take: the numbers of the parts, from 1, and the number of parts in all, by the id of a suite.
        leave: the ids of suites that other shards run.
        others: whether suites that are in neither run.
    """

    take: Mapping[str, tuple[tuple[int, ...], int]] = {}
    leave: tuple[str, ...] = ()
    others: bool = True

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> PartChoice:
        """Parse the JSON object that the host writes.

        Raises:
            KeyError, TypeError, ValueError: it is not valid.
        """
        take = {str(suite): (tuple(map(int, numbers)), int(of)) for suite, (numbers, of) in dict(data["take"]).items()}
        return cls(take, tuple(map(str, data["leave"])), data["others"] is True)

    def takes_suite(self, suite: str) -> bool:
        """Whether any case of the suite runs."""
        return suite in self.take or (self.others and suite not in self.leave)

    def take_cases(self, suite: str, cases: Sequence[Case]) -> tuple[Sequence[Case], SuitePart | None]:
        """The cases of a suite that run, and which part of it they are; None for the whole suite.

        The cases are dealt out in the order of digests of their hashes. So parts differ by at most one case, and the
        part of a case doesn't depend on the order of the cases.
        """
        numbers, of = self.take.get(suite, ((1,), 1))
        if of == 1:
            return cases, None
        hashes = sorted({case.hash for case in cases}, key=lambda each: (_digest(suite, each), each))
        part_of = {each: index % of + 1 for index, each in enumerate(hashes)}
        chosen = [case for case in cases if part_of[case.hash] in numbers]
        repeats = (f"{case.hash}\0{case.repeats}" for case in sorted(cases, key=lambda case: case.hash))
        return chosen, SuitePart(numbers, of, len(cases), _digest(suite, *repeats).hex())


def _digest(*texts: str) -> bytes:
    content = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=8).digest()


CasesBySuite = Mapping[str, Sequence[str]]


class Node(NamedTuple):
    """A part of a file, as `FILE::SUITE::CASE` names it; an empty suite or case takes all."""

    path: str
    suite: str = ""
    case: str = ""

    def __str__(self) -> str:
        """The name as it is written on the command line."""
        return "::".join(filter(None, self))

    def holds_source(self, path: str) -> bool:
        """Whether it names this file, or a folder above it."""
        return path == self.path or path.startswith(f"{self.path}/")


@record
class CaseSelection:
    """The cases that one command runs. Only the command line sets it.

    Attributes:
        keyword: an expression over suites, cases and tags.
        nodes: the named parts of files.
        failed: the hashes of the cases to run, by launch and suite; an empty list takes a whole suite, an empty mapping
            a whole launch. None takes all.
        first: the cases that run before the others, in the same form.
        sample: the number of cases in the random sample of each suite.
        seed: the seed of the sample.
        max_failures: the number of failing cases at which the run stops.
        max_cases: the number of the first cases of each suite, if the command line sets it on a developer's machine.
        paths: the files and folders that the command line names on a developer's machine, without nodes.
        sources: the sources that a changed file affects under `--watch`; None takes all.
    """

    keyword: str = ""
    nodes: tuple[Node, ...] = ()
    failed: Mapping[str, CasesBySuite] | None = field(default=None, hash=False)  # a mapping has no hash
    first: Mapping[str, CasesBySuite] = field(default_factory=dict, hash=False)
    sample: int | None = None
    seed: int = 0
    max_failures: int | None = None
    max_cases: int | None = None
    paths: tuple[str, ...] = ()
    sources: tuple[str, ...] | None = None

    @property
    def description(self) -> str:
        """The options that leave out cases, as they are written; empty if the run is whole."""
        return " ".join(self._options())

    @property
    def has_paths_only(self) -> bool:
        """Whether it names files and folders, and all of their cases run."""
        return bool(self.paths) and self.description == " ".join(map(shlex.quote, self.paths))

    def _options(self) -> Iterator[str]:
        if self.sources is None or self.nodes:
            yield from map(shlex.quote, (*self.paths, *map(str, self.expected_nodes)))
        else:
            yield from map(shlex.quote, self.sources)
        if self.keyword:
            yield f"-k {shlex.quote(self.keyword)}"
        if self.failed is not None:
            yield "--last-failed"
        if self.sample is not None:
            yield f"--sample {self.sample} --seed {self.seed}"
        if self.max_cases is not None:
            yield f"--max-cases {self.max_cases}"

    @property
    def is_filter(self) -> bool:
        """Whether it depends on the names of suites and cases."""
        return bool(self.keyword or self.nodes or self.failed is not None)

    def takes_launch(self, path: str, name: str) -> bool:
        """Whether anything of a launch runs.

        Args:
            path: the path of the source.
            name: the name of the launch.
        """
        is_affected = self.sources is None or path in self.sources
        return is_affected and (self.failed is None or name in self.failed)

    @property
    def expected_nodes(self) -> tuple[Node, ...]:
        """The nodes of which a case has to run."""
        if self.sources is None:
            return self.nodes
        return tuple(node for node in self.nodes if any(map(node.holds_source, self.sources)))

    def choice(self, path: str) -> CaseChoice:
        """The choice within a source.

        Args:
            path: the path of the source.
        """
        own = [node for node in self.nodes if node.holds_source(path)]
        # If the file itself is named, too, a case of it limits nothing.
        named = () if any(not node.suite for node in own) else tuple((node.suite, node.case) for node in own)
        return CaseChoice(self.keyword, named, self.sample, self.seed)

    def takes_case(self, path: str, name: str, suite: str, case: CaseLabels, label: str = "") -> bool:
        """Whether a case of a launch runs.

        Args:
            path: the path of the source.
            name: the name of the launch.
            suite: the id of the suite.
            case: the case.
            label: the id with the parameters of the suite's variant; without it, the id.
        """
        if self.failed is not None:
            suites = self.failed.get(name, {})
            if suites and (suite not in suites or (suites[suite] and case.hash not in suites[suite])):
                return False
        return self.choice(path).takes_case(suite, case, label)

    def environment(self, path: str, name: str) -> dict[str, str]:
        """The variables that limit the process of a launch to the selection."""
        choice = self.choice(path)
        data: dict[str, object] = {"keyword": choice.keyword} if choice.keyword else {}
        data |= {"named": choice.named} if choice.named else {}
        data |= {} if choice.sample is None else {"sample": choice.sample, "seed": choice.seed}
        data |= {"first": self.first[name]} if self.first.get(name) else {}
        variables = {"SCOREGATE_SELECTION": json.dumps(data)} if data else {}
        if self.failed is not None and self.failed.get(name):
            variables["SCOREGATE_OVERRIDES_TESTS_AND_HASHES"] = json.dumps(self.failed[name])
        return variables


WHOLE = CaseSelection()


Matches = Callable[[Iterable[str]], bool]
LONGEST_EXPRESSION = 2_000
_DEEPEST = 50
_TOKENS = re.compile(r"""\s*(?:([()])|"([^"]*)"|'([^']*)'|([^\s()"']+))""")
_ADVICE = "Write words with `and`, `or`, `not` and parentheses, such as 'hours and not weekend'."
_QUOTE_ADVICE = """ A name with spaces needs quotes of its own: -k '"opening night"'."""


def parse_keywords(text: str) -> Matches:
    """Parse an expression.

    A word matches if any of the names contains it, in any case. A word in quotes may have spaces.

    Args:
        text: the expression, at most 2,000 characters.

    Returns:
        A function that returns whether the names of a case match.

    Raises:
        UsageError: the expression isn't valid.
    """
    if len(text) > LONGEST_EXPRESSION:
        raise UsageError(f"the expression of -k has {len(text):,} characters, more than {LONGEST_EXPRESSION:,}")
    parser = _Parser(text)
    matches = parser.parse_or(0)
    if parser.token:
        raise parser.make_error("expected the end", advice=_ADVICE + _QUOTE_ADVICE)

    def match_names(names: Iterable[str]) -> bool:
        lowered = [name.casefold() for name in names]
        return matches(lowered)

    return match_names


class _Parser:
    """Parses by recursive descent; `token` is the next token, empty at the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self.token = ""
        self.is_quoted = False
        self._advance()

    def make_error(self, problem: str, *, advice: str = _ADVICE) -> UsageError:
        """An error that shows the expression and the token at which it isn't valid."""
        mistake = f"not {self.token!r:.60}" if self.token else "but it ends"
        return UsageError(f"-k {self._text!r:.200}: {problem}, {mistake}", advice=advice)

    def _advance(self) -> None:
        rest = self._text[self._position :]
        match = _TOKENS.match(rest)
        if match is None:
            if rest.strip():
                self.token = rest.strip()
                raise self.make_error("a quote is not closed")
            self.token = ""
            return
        bracket, double, single, word = match.groups()
        quoted = double if double is not None else single
        self.is_quoted = quoted is not None
        self.token = quoted if quoted is not None else bracket or word
        self._position += match.end()
        if not self.token:
            raise self.make_error("a word is empty")

    def _accept(self, token: str) -> bool:
        if self.is_quoted or self.token != token:  # a quoted word is never an operator
            return False
        self._advance()
        return True

    def parse_or(self, depth: int) -> Matches:
        terms = [self._parse_and(depth)]
        while self._accept("or"):
            terms.append(self._parse_and(depth))
        return lambda names: any(term(names) for term in terms)

    def _parse_and(self, depth: int) -> Matches:
        terms = [self._parse_not(depth)]
        while self._accept("and"):
            terms.append(self._parse_not(depth))
        return lambda names: all(term(names) for term in terms)

    def _parse_not(self, depth: int) -> Matches:
        if depth > _DEEPEST:
            raise self.make_error(f"it is nested deeper than {_DEEPEST} levels")
        if self._accept("not"):
            term = self._parse_not(depth + 1)
            return lambda names: not term(names)
        if self._accept("("):
            term = self.parse_or(depth + 1)
            if not self._accept(")"):
                raise self.make_error("expected a closing parenthesis")
            return term
        if not self.token or (not self.is_quoted and self.token in ("and", "or", ")")):
            raise self.make_error("expected a word")
        word = self.token.casefold()
        self._advance()
        return lambda names: any(word in name for name in names)
