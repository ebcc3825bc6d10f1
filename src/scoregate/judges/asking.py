"""A prompt judge asks its model about one example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scoregate.errors import JudgmentValidationError
from scoregate.judges.responses import BinaryResponse, Response
from scoregate.judges.result import NO, YES
from scoregate.judges.version import JudgeVersion
from scoregate.judging import filled, judge, rate, text_of
from scoregate.judging.answers import either, on_scale, one_of
from scoregate.judging.templates import digest, system_version

OUTPUT, TRACE = "output", "trace"
RESERVED = frozenset({OUTPUT, TRACE})
_NONE = object()


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged.

    `example` is what code judges get, `fields` are the values that prompts ask for by name. `output` is what the agent
    returned and `trace` what it did, as text of a bearable length; prompts may ask for them as `{{output}}` and
    `{{trace}}` where no field has that name, and are shown them at the end where they do not.
    """

    example: Any
    fields: Mapping[str, Any] = field(default_factory=dict)
    output: Any = _NONE
    trace: str | None = None

    def blocks(self) -> dict[str, Any]:
        """All that a prompt may ask for: the agent's part, and the fields, which go before."""
        return {**self.agents(), **self.fields}

    def agents(self) -> dict[str, Any]:
        """What the agent left, as far as it ran."""
        given = {OUTPUT: self.output, TRACE: self.trace}
        return {name: value for name, value in given.items() if value is not _NONE and value is not None}


class _Answer(Response):
    value: float | str


async def asked(version: JudgeVersion, subject: Subject) -> tuple[Response, str]:
    """The model's answer, and what it was asked.

    Raises:
        ModelError: there is none. MissingExtra: a package is not installed.
        JudgmentValidationError: the prompt asks for what this example does not have.
    """
    from scoregate.models import get_model

    model, prompt = get_model(version.model), question(version, subject)
    if version.score_type == "numeric":
        low, high = version.scale
        rating = await rate(model, prompt, low=low, high=high)
        return _Answer(value=rating.value, reason=rating.reason), prompt
    told = await judge(model, prompt, _choices(version))
    if version.score_type == "binary":
        return BinaryResponse(value=told.choice == YES, reason=told.reason), prompt
    return _Answer(value=told.choice, reason=told.reason), prompt


def question(version: JudgeVersion, subject: Subject) -> str:
    """The prompt of a judge with an example's values between fences, and with the answers it may get.

    Raises:
        JudgmentValidationError: it asks for what this example does not have.
    """
    there, wanted = subject.blocks(), version.placeholders
    if missing := [name for name in wanted if name not in there]:
        raise JudgmentValidationError(
            f"Judge {version.label!r:.60} asks for {_named(missing)}, which this example does not have",
            advice="Give the agent's output or trace, or change the prompt." if RESERVED & {*missing} else "",
        )
    blocks = {name: text_of(there[name]) for name in wanted}
    more = {f"the agent's {name}": text_of(value) for name, value in _unasked(version, subject)}
    return f"{filled(version.prompt or '', blocks, more=more)}\n\n{answers(version)}"


def _unasked(version: JudgeVersion, subject: Subject) -> Iterator[tuple[str, Any]]:
    """The trace, which has the output in it, where nothing in the prompt asks for it; the output where that is all."""
    agents = subject.agents()
    for name in (TRACE, OUTPUT):
        if name in agents:
            if name not in version.placeholders or name in subject.fields:
                yield name, agents[name]
            return


def answers(version: JudgeVersion) -> str:
    """What may be answered, in words."""
    if version.score_type == "numeric":
        return on_scale(*version.scale)
    if version.score_type == "binary":
        return either(YES, NO)
    return one_of({category.value: category.description for category in version.categories})


def prompt_version(version: JudgeVersion) -> str:
    """A digest of all that is asked besides the example."""
    return digest(system_version(), version.prompt or "", answers(version))


def incompatible(version: JudgeVersion, fields: frozenset[str] | set[str]) -> list[str]:
    """The placeholders of a judge that no field of a dataset fills, and no agent."""
    return [name for name in version.placeholders if name not in fields | RESERVED]


def _choices(version: JudgeVersion) -> list[str]:
    return [YES, NO] if version.score_type == "binary" else [category.value for category in version.categories]


def _named(names: list[str]) -> str:
    return ", ".join(f"{{{{{name:.60}}}}}" for name in names[:5])
