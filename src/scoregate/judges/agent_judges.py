"""`client.agent_judges`: prompt judges with the arguments of judgeval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from scoregate.errors import JudgmentValidationError
from scoregate.judges.client import JudgesFactory
from scoregate.judges.versions import JudgeVersion
from scoregate.store.judges import ScoreType, VersionNumber

ReasoningLevel: TypeAlias = Literal["lite", "normal", "high"]


@dataclass(frozen=True, slots=True)
class AgentJudge:
    """A version of a prompt judge.

    Attributes:
        judge_id: the judge's id.
        name: the judge's name.
        prompt: the question, with its placeholders.
        model: the model's name; None is the project's model.
        score_type: "binary", "categorical" or "numeric".
        description: the description of the judge for people.
        judge_description: the same.
        categories: the `name` and the `description` of each category of a categorical judge.
        min_score: the lowest score of a numeric judge.
        max_score: the highest score of a numeric judge.
        major_version: the first number of the version.
        minor_version: the second number of the version.
        reasoning_level: None; the model decides.
    """

    judge_id: str
    name: str
    prompt: str
    model: str | None
    score_type: ScoreType
    description: str | None = None
    judge_description: str | None = None
    categories: list[dict[str, str]] | None = None
    min_score: float | None = None
    max_score: float | None = None
    major_version: int | None = None
    minor_version: int | None = None
    reasoning_level: ReasoningLevel | None = None


@dataclass(frozen=True, slots=True)
class AgentJudges:
    """Creates and updates prompt judges. `client.judges` does the same and more.

    Both methods raise StoreError if a file cannot be written.
    """

    judges: JudgesFactory

    def create(
        self,
        *,
        name: str,
        prompt: str,
        score_type: ScoreType,
        model: str | None = None,
        reasoning_level: ReasoningLevel | None = None,  # noqa: ARG002
        description: str | None = None,
        judge_description: str | None = None,
        categories: Iterable[Mapping[str, Any]] | None = None,
        min_score: float | None = None,
        max_score: float | None = None,
    ) -> AgentJudge:
        """Create a judge; its first version is 0.0.

        Args:
            name: its name.
            prompt: the question; `{{field}}` is replaced by a field of the example.
            score_type: "binary" (Yes or No), "categorical" or "numeric".
            model: "provider/name", or a name of OpenAI's; None is the project's.
            reasoning_level: accepted and ignored; the model decides.
            description: a description for people.
            judge_description: the same; it counts if both are given.
            categories: dicts with the `name` and the `description` of a category (categorical judges only).
            min_score: the lowest score; 0 if not given (numeric judges only).
            max_score: the highest score; 1 if not given (numeric judges only).

        Raises:
            JudgmentConflictError: there is a judge with this name.
            JudgmentValidationError: an argument is not valid.
        """
        if score_type == "numeric":
            min_score, max_score = 0 if min_score is None else min_score, 1 if max_score is None else max_score
        version = self.judges.create(
            name,
            prompt,
            model,
            score_type,
            judge_description or description or "",
            categories=_parse_categories(categories),
            min_score=min_score,
            max_score=max_score,
        )
        return _to_agent_judge(version)

    def update(
        self,
        *,
        judge_id: str,
        prompt: str | None = None,
        model: str | None = None,
        reasoning_level: ReasoningLevel | None = None,  # noqa: ARG002
        score_type: ScoreType | None = None,
        description: str | None = None,
        judge_description: str | None = None,
        categories: Iterable[Mapping[str, Any]] | None = None,
        min_score: float | None = None,
        max_score: float | None = None,
        source_major_version: int | None = None,
        source_minor_version: int | None = None,
        target_major_version: int | None = None,
        target_minor_version: int | None = None,
    ) -> AgentJudge:
        """Create the next version of a judge; see `JudgesFactory.update`. No tag moves.

        Args:
            judge_id: the judge's id, or its name.
            prompt: see `create`, like all arguments without a text here.
            model: see `create`.
            reasoning_level: accepted and ignored.
            score_type: see `create`.
            description: see `create`.
            judge_description: see `create`.
            categories: see `create`.
            min_score: see `create`.
            max_score: see `create`.
            source_major_version: the version to start from, if not the newest.
            source_minor_version: its second number; if not given, the newest of that major version.
            target_major_version: the next version: that of the newest, or one more.
            target_minor_version: its second number, which follows from the first.

        Raises:
            JudgmentValidationError: there is no such judge or source, the target is not the next version, or another
                argument is not valid.
            ValueError: it is a code judge.
        """
        newest = _to_agent_judge(self.judges.versions(judge_id)[0])
        number = VersionNumber(newest.major_version or 0, newest.minor_version or 0)
        is_major = _is_next_major(number, target_major_version, target_minor_version)
        source = None
        if source_major_version is not None or source_minor_version is not None:
            major = number.major if source_major_version is None else source_major_version
            source = str(major) if source_minor_version is None else f"{major}.{source_minor_version}"
        version = self.judges.update(
            judge_id,
            prompt=prompt,
            model=model,
            score_type=score_type,
            description=description if judge_description is None else judge_description,
            categories=_parse_categories(categories),
            min_score=min_score,
            max_score=max_score,
            source=source,
            major=is_major,
        )
        return _to_agent_judge(version)


def _is_next_major(newest: VersionNumber, major: int | None, minor: int | None) -> bool:
    """Whether the target is the next major version, and not the next minor one."""
    nexts = (VersionNumber(newest.major, newest.minor + 1), VersionNumber(newest.major + 1, 0))
    for number in nexts:
        if (newest.major if major is None else major) == number.major and minor in (None, number.minor):
            return number.major > newest.major
    raise JudgmentValidationError(
        f"the target version {major}.{minor} cannot be written", advice=f"The next is {nexts[0]} or {nexts[1]}."
    )


def _parse_categories(given: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
    if given is None:
        return None
    names = {"name": "value"}
    return [{names.get(key, key): value for key, value in each.items()} for each in given]


def _to_agent_judge(version: JudgeVersion) -> AgentJudge:
    if version.prompt is None:
        raise ValueError(f"Judge {version.name!r:.60} is a code judge; client.judges.register(…) updates it.")
    number, grading = version.number, version.grading
    described = [{"name": each.value, "description": each.description} for each in version.categories]
    return AgentJudge(
        version.id,
        version.name,
        version.prompt,
        version.model,
        version.score_type,
        version.description or None,
        version.description or None,
        described or None,
        grading.min_score,
        grading.max_score,
        None if number is None else number.major,
        None if number is None else number.minor,
    )
