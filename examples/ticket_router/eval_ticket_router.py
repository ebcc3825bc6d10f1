"""Evals of the ticket router: tickets as customers write them, and where a colleague would have put them."""

import json
from dataclasses import dataclass
from pathlib import Path

from router import Route, Ticket, receive

from scoregate.testing.evaluators import BaseAssertions, BaseIsEquals
from scoregate.testing.models import Assertion, BaseTestCase
from scoregate.testing.run import run_test_suite

TICKETS = Path(__file__).parent / "tickets.jsonl"


@dataclass
class TestCase(BaseTestCase):
    """A ticket with its right queue and priority."""

    name: str
    subject: str
    body: str
    queue: str
    priority: str

    def hash(self) -> str:
        return self.name


class IsEquals(BaseIsEquals[TestCase, Route]):
    """Whether the ticket lands in the right queue."""

    id = "is-equals"

    def test_case_mapper(self, test_case: TestCase) -> str:
        return test_case.queue

    def output_mapper(self, output: Route) -> str:
        return output.queue


class Triage(BaseAssertions[TestCase, Route]):
    """The priority must be right; that one queue stands out is welcome."""

    id = "triage"

    def evaluate_assertions(self, test_case: TestCase, output: Route) -> list[Assertion]:
        heaviest = sorted(output.weights.values(), reverse=True)[:2]
        return [
            Assertion(
                criterion=f"the priority is {test_case.priority}",
                passed=output.priority == test_case.priority,
                required=True,
            ),
            Assertion(
                criterion="the best queue weighs more than the second",
                passed=len(heaviest) < 2 or heaviest[0] > heaviest[1],
                required=False,
            ),
        ]


def load_cases() -> list[TestCase]:
    """One ticket a line."""
    return [TestCase(**json.loads(line)) for line in TICKETS.read_text(encoding="utf-8").splitlines()]


async def route(test_case: TestCase) -> Route:
    """Hand the ticket to the router, as the mailbox does."""
    return await receive(Ticket(test_case.subject, test_case.body))


run_test_suite(
    id="ticket-router",
    test_cases=load_cases(),
    fn=route,
    evaluators=[IsEquals(), Triage()],
    max_test_case_concurrency=10,
)
