"""Two outputs against each other, in both orders, so that neither wins by its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scoregate.judging.judge import judge
from scoregate.judging.templates import Template, rendered

if TYPE_CHECKING:
    from scoregate.models import Model

FIRST, SECOND, EQUAL = "First", "Second", "Equal"
CHOICES = (FIRST, SECOND, EQUAL)
_MIRRORED = {FIRST: SECOND, SECOND: FIRST, EQUAL: EQUAL}
_SCORES = {FIRST: 0.0, EQUAL: 0.5, SECOND: 1.0}


@dataclass(frozen=True, slots=True)
class Battle:
    """How a battle ended: the challenger's score (1 won, 0.5 tie, 0 lost), and a reason and a prompt for each order."""

    score: float
    reasons: tuple[str, ...]
    prompts: tuple[str, ...] = ()


async def battle(
    model: Model,
    baseline: str,
    challenger: str,
    *,
    criteria: str,
    input_text: str | None = None,
    examples: Sequence[Mapping[str, str]] = (),
) -> Battle:
    """Ask which output is better, with either one first; where the answers disagree it is a tie.

    Outputs that are the same, to the letter, are a tie without a question.

    Args:
        criteria: what makes an output better. input_text: what both answer. examples: as of `rendered`.

    Raises:
        ModelError: there is no answer. MissingExtra: a package is not installed.
    """
    if baseline == challenger:
        return Battle(_SCORES[EQUAL], ("the outputs are the same",))
    told = []
    for first, second in ((baseline, challenger), (challenger, baseline)):
        blocks = {"input": input_text, "first output": first, "second output": second}
        prompt = rendered(Template.BATTLE, blocks, examples=examples, words={"criteria": criteria})
        told.append(await judge(model, prompt, CHOICES))
    straight, mirrored = told[0].choice, _MIRRORED[told[1].choice]
    score = _SCORES[straight if straight == mirrored else EQUAL]
    return Battle(score, tuple(each.reason for each in told), tuple(each.prompt for each in told))
