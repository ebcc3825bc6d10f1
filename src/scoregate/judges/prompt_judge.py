"""Prompt judges: a question with placeholders, and the model's answer as a grade."""

from __future__ import annotations

from collections.abc import Collection

from scoregate.errors import JudgmentValidationError
from scoregate.grading.grade import Grade
from scoregate.grading.judge import ask_choice, ask_number
from scoregate.grading.prompts import (
    describe_choices,
    describe_pair,
    describe_range,
    digest_texts,
    fill_prompt,
    system_prompt_version,
)
from scoregate.grading.subject import Subject
from scoregate.judges.result import NO, YES, to_grade
from scoregate.judges.versions import JudgeVersion
from scoregate.kernel.types.json_io import to_text

OUTPUT, TRACE = "output", "trace"
RESERVED_NAMES = frozenset({OUTPUT, TRACE})


async def grade_by_prompt(version: JudgeVersion, subject: Subject) -> Grade:
    """Ask the model of a prompt judge about a subject.

    Raises:
        ModelError: the model gives no answer.
        MissingExtra: a package is not installed.
        JudgmentValidationError: the subject lacks a field of the prompt.
    """
    from scoregate.models import get_model

    model, prompt = get_model(version.model), _render_prompt(version, subject)
    if version.score_type == "numeric":
        low, high = version.scale
        answer = await ask_number(model, prompt, low=low, high=high)
    else:
        binary = version.score_type == "binary"
        names = [YES, NO] if binary else [category.value for category in version.categories]
        answer = await ask_choice(model, prompt, names)
    return to_grade(version, answer.value, answer.reason, prompt=prompt)


def _render_prompt(version: JudgeVersion, subject: Subject) -> str:
    """The prompt with the values of a subject as blocks, and the possible answers."""
    agent = {name: value for name, value in ((OUTPUT, subject.output), (TRACE, subject.trace)) if value is not None}
    values = {**agent, **subject.fields}
    names = version.placeholders
    if missing := [name for name in names if name not in values]:
        fields = ", ".join(f"{{{{{name:.60}}}}}" for name in missing[:5])
        raise JudgmentValidationError(
            f"Judge {version.label!r:.60} asks for {fields}, which this example does not have",
            advice="Give the agent's output or trace, or change the prompt." if RESERVED_NAMES & {*missing} else "",
        )
    blocks = {name: to_text(values[name]) for name in names}
    # The trace contains the output, so one of the two is enough.
    name = TRACE if TRACE in agent else OUTPUT
    is_shown = name in names and name not in subject.fields
    more = {f"the agent's {name}": to_text(agent[name])} if name in agent and not is_shown else {}
    return f"{fill_prompt(version.prompt or '', blocks, more=more)}\n\n{_answer_sentence(version)}"


def _answer_sentence(version: JudgeVersion) -> str:
    if version.score_type == "numeric":
        return describe_range(*version.scale)
    if version.score_type == "binary":
        return describe_pair(YES, NO)
    return describe_choices({category.value: category.description for category in version.categories})


def prompt_version(version: JudgeVersion) -> str:
    """A digest of the question without the example."""
    return digest_texts(system_prompt_version(), version.prompt or "", _answer_sentence(version))


def missing_fields(version: JudgeVersion, fields: Collection[str]) -> list[str]:
    """The placeholders of a judge that neither a field of a dataset nor an agent fills."""
    return [name for name in version.placeholders if name not in fields and name not in RESERVED_NAMES]
