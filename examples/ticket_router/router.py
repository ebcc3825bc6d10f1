"""Sorts incoming tickets into queues by weighted keywords."""

import asyncio
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Ticket:
    """What the customer wrote."""

    subject: str
    body: str


@dataclass(frozen=True)
class Rules:
    """Keywords with their weights for each queue, and keywords for each priority."""

    fallback: str
    minimum_weight: int
    subject_factor: int
    priorities: dict[str, list[str]]
    queues: dict[str, dict[str, int]]


@dataclass(frozen=True)
class Route:
    """Where a ticket goes, how soon, and what each queue weighed."""

    queue: str
    priority: str
    weights: dict[str, int]


def load_rules() -> Rules:
    """The rules under review, or those of the revision that EXAMPLES_REVISION names."""
    revision = os.environ.get("EXAMPLES_REVISION")
    path = HERE / (f"config_{revision}.toml" if revision else "config.toml")
    return Rules(**tomllib.loads(path.read_text(encoding="utf-8")))


async def receive(ticket: Ticket) -> Route:
    """Route one ticket; the rules are read anew each time, so that editing them needs no restart."""
    rules = await asyncio.to_thread(load_rules)
    return route(ticket, rules)


def route(ticket: Ticket, rules: Rules) -> Route:
    """The heaviest queue, or the fallback when none is heavy enough; a tie goes to the first in the file."""
    weights = {queue: weigh(ticket, keywords, rules.subject_factor) for queue, keywords in rules.queues.items()}
    heaviest = max(weights, key=weights.__getitem__)
    return Route(
        queue=heaviest if weights[heaviest] >= rules.minimum_weight else rules.fallback,
        priority=prioritise(ticket, rules.priorities),
        weights={queue: weight for queue, weight in weights.items() if weight > 0},
    )


def weigh(ticket: Ticket, keywords: dict[str, int], subject_factor: int) -> int:
    """The total weight of the keywords that occur; each counts once in the subject and once in the body."""
    in_subject = sum(weight for keyword, weight in keywords.items() if occurs(keyword, ticket.subject))
    in_body = sum(weight for keyword, weight in keywords.items() if occurs(keyword, ticket.body))
    return in_subject * subject_factor + in_body


def prioritise(ticket: Ticket, priorities: dict[str, list[str]]) -> str:
    """The first priority one of whose keywords occurs."""
    text = f"{ticket.subject}\n{ticket.body}"
    matching = (level for level, keywords in priorities.items() if any(occurs(keyword, text) for keyword in keywords))
    return next(matching, "normal")


def occurs(keyword: str, text: str) -> bool:
    """Whether a word of the text begins with the keyword, in any case."""
    return re.search(rf"\b{re.escape(keyword)}", text, re.IGNORECASE) is not None
