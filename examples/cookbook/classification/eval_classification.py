"""Evals of the triage: what its errors cost, how often it is right, and how many urgent requests it finds.

`slices = ["channel"]` in the settings splits the scores by a column of the cases.
"""

from triage import LATER, SOON, URGENT, classify

from scoregate import evaluate
from scoregate.scorers import scorer

# What it costs to call a request of the first class one of the second.
COSTS = {
    (URGENT, LATER): 10,
    (URGENT, SOON): 4,
    (SOON, LATER): 2,
    (SOON, URGENT): 1,
    (LATER, URGENT): 1,
    (LATER, SOON): 0.5,
}


@scorer(scale=(0, 10), threshold=2, higher_is_better=False)
def cost(output: str, expected: str) -> dict[str, object]:
    """The cost of the answer, from 0 to 10. A case passes at a cost of 2 or less."""
    reason = "" if output == expected else f"{expected} was called {output}"
    return {"score": COSTS.get((expected, output), 0), "reason": reason}


def accuracy(output: str, expected: str) -> float:
    """1 for the right class. It is a number and no bool, so that a cheap error doesn't fail its case."""
    return float(output == expected)


def urgent_recall(output: str, expected: str) -> bool | None:
    """Whether an urgent request is found; other requests have no score."""
    return output == URGENT if expected == URGENT else None


evaluate("repair-triage", data="requests.csv", task=classify, scorers=[cost, accuracy, urgent_recall])
