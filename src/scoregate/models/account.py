"""Who pays for a call: the case that runs here, and the run with its budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from scoregate.core.evaluation import Usage
from scoregate.core.metering import Meter, meter_here, meter_of_suite
from scoregate.errors import BudgetSpent
from scoregate.models.budget import Purse, purse_of
from scoregate.models.prices import priced
from scoregate.models.surroundings import Surroundings, surroundings


def surroundings_here() -> Surroundings:
    """What the environment says: within a suite what it said at its first call, since that is asked at every one."""
    suite = meter_of_suite()
    if suite is None:
        return surroundings()
    if not isinstance(suite.memo, Surroundings):
        suite.memo = surroundings()
    return suite.memo


@dataclass(frozen=True, slots=True)
class Account:
    """The case's meter, what the environment says, and the run's purse where it has a budget."""

    meter: Meter
    around: Surroundings
    purse: Purse | None

    @classmethod
    def here(cls) -> Account:
        """That of whatever runs here; outside of all suites a meter that nobody reads."""
        around = surroundings_here()
        return cls(meter_here(), around, purse_of(around))

    def priced(self, usage: Usage | None, *, provider: str, model: str) -> Usage:
        """What an answer used, with its cost; nothing but the name where the server did not tell."""
        if usage is None:
            return Usage(model=model)
        return priced(usage, provider=provider, model=model, prices=self.around.prices)

    def charge(self, usage: Usage) -> None:
        """Count it to the case and to the run."""
        self.meter.add(usage)
        if self.purse is not None:
            self.purse.spend(usage)

    def within_budget(self) -> AbstractContextManager[None]:
        """Around a call.

        Raises:
            BudgetSpent: the run may not spend what a call takes.
        """
        return nullcontext() if self.purse is None else self._reserved(self.purse)

    @contextmanager
    def _reserved(self, purse: Purse) -> Iterator[None]:
        try:
            purse.check(self.around)
        except BudgetSpent:
            self.meter.stop()
            raise
        try:
            yield
        finally:
            purse.over()
