"""People's words on judges beside what these can say, as far as the last run knows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregate.ci.archive import RUN_FILE, RUN_FOLDER, read_head
from scoregate.cli.listing import say
from scoregate.cli.options import project_root, settings_of
from scoregate.core.override import EvaluationOverride
from scoregate.core.parts import Choice
from scoregate.errors import RecordError, UsageError
from scoregate.store import Override

_MOST_TOLD = 20


def check_overrides(evaluator: str, said: Sequence[EvaluationOverride | Override]) -> None:
    """Hold corrections of a judge against its choices; those of scores that are none of them are only noted, since
    they are of a judge that had others.

    Raises:
        UsageError: some say what the judge cannot.
    """
    from scoregate.review.choosing import is_choice, told

    choices = _choices(evaluator)
    if not choices:
        return
    if wrong := list(_wrong(evaluator, said, choices)):
        more = [f"and {len(wrong) - _MOST_TOLD} more"] if len(wrong) > _MOST_TOLD else []
        raise UsageError("\n".join([*wrong[:_MOST_TOLD], *more]), advice="Nothing was written.")
    if others := [each.original_score for each in said if not is_choice(each.original_score, choices)]:
        shown = ", ".join(f"{score:g}" for score in dict.fromkeys(others[:_MOST_TOLD]))
        say(f"note: in the last run {evaluator} chooses among {told(choices)}; corrected are also scores of {shown}")


def _wrong(evaluator: str, said: Sequence[EvaluationOverride | Override], choices: Sequence[Choice]) -> Iterator[str]:
    from scoregate.review.choosing import chosen_score, is_choice

    for number, each in enumerate(said, 1):
        if is_choice(each.original_score, choices):
            try:
                chosen_score(each.override_score, each.original_score, choices, evaluator=evaluator)
            except UsageError as error:
                yield f"number {number}: {error.message}" if len(said) > 1 else error.message


def _choices(evaluator: str) -> tuple[Choice, ...]:
    from scoregate.review.choosing import choices_known

    root = project_root()
    try:
        head = read_head(root / settings_of(root, {}).out / RUN_FOLDER / RUN_FILE)
    except RecordError:
        return ()
    return choices_known(evaluator, (suite.evaluators for suite in head.suites))
