"""`client.judges`: create judges, change them, tag their versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from scoregate.errors import JudgmentConflictError, JudgmentValidationError
from scoregate.judges.code_judge import (
    Judge,
    code_grading,
    judge_name,
    judge_target,
    load_code_judge,
    source_digest,
    to_instance,
)
from scoregate.judges.state import (
    JudgeState,
    change_judge,
    check_name,
    load_judge,
    make_judge,
    next_number,
    parse_categories,
)
from scoregate.judges.versions import (
    PROD,
    JudgeVersion,
    find_judge,
    find_judges,
    load_judges,
    parse_pins,
    select_version,
    select_versions,
    versions_of,
)
from scoregate.store import JUDGE_HISTORY, JUDGES, Store, StoredJudge, list_configs
from scoregate.store.judges import Category, ScoreType, grading_digest, grading_fields


def register_code_judge(
    store: Store, given: Any, name: str | None = None, *, description: str = ""
) -> tuple[JudgeState, Judge[Any]]:
    """Write a code judge to the store; changed code becomes a new version.

    Args:
        store: the store.
        given: "module:Class", a class or an instance.
        name: its name; if not given, that of the judge or its class.
        description: a description for people.

    Returns:
        The judge in the store, and the instance.

    Raises:
        JudgmentConflictError: the store has a prompt judge with this name.
        JudgmentValidationError: there is no such judge.
        StoreError: it could not be written.
    """
    judge = load_code_judge(given) if isinstance(given, str) else to_instance(given)
    name = check_name(name or judge_name(judge))
    fields = grading_fields(code_grading(judge, given if isinstance(given, str) else judge_target(judge)))
    if load_judge(store, name) is None:
        judge_document = make_judge(name=name, id=str(uuid4()), description=description, **fields)
        # Another process may have created it in the meantime.
        store.update(JUDGES, (name,), lambda present: list(present) or [judge_document])

    def change(state: JudgeState) -> StoredJudge:
        if state.judge.kind != "code":
            raise JudgmentConflictError(f"there is a prompt judge {name!r:.60} already", advice="Give it another name.")
        return make_judge(state.judge, **fields, description=description or state.judge.description)

    state = load_judge(store, name)
    if state is None or change(state) != state.judge:
        state = change_judge(store, name, change)
    return state, judge


def with_code(version: JudgeVersion, live: Mapping[str, Judge[Any]]) -> JudgeVersion:
    """The version, ready to score: with its code if it is a code judge.

    Args:
        version: the version.
        live: instances that this process has registered, by name.

    Raises:
        JudgmentValidationError: the code does not exist, or has changed since this version.
    """
    if version.grading.kind != "code":
        return version
    judge = live.get(version.name) or load_code_judge(version.grading.target or "")
    if version.grading.source not in (None, source_digest(judge)):
        raise JudgmentValidationError(
            f"Judge {version.name!r:.60} {version.version} is code that has changed since",
            advice="Only its newest version can run: move the tag, or leave out the pin.",
        )
    return replace(version, code=judge)


_FIRST_VERSION = "0.0"


@dataclass(frozen=True, slots=True)
class TagMove:
    """A change of a tag: its version before and after; None if it was not set."""

    judge: str
    tag: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        return f"{self.judge}: {self.tag}: {self.before or 'not set'} -> {self.after or 'not set'}"


class JudgesFactory:
    """The judges of a project. The argument `judge` is a name or an id.

    Every method raises StoreError if a file cannot be read or written, and JudgmentValidationError if a judge, version
    or tag does not exist, or if an argument is not valid.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._live: dict[str, Judge[Any]] = {}

    def create(
        self,
        name: str,
        prompt: str,
        model: str | None = None,
        score_type: ScoreType = "binary",
        description: str = "",
        *,
        categories: Iterable[Category | Mapping[str, Any] | str] | None = None,
        min_score: float | None = None,
        max_score: float | None = None,
    ) -> JudgeVersion:
        """Create a prompt judge; its first version is 0.0.

        Args:
            name: its name.
            prompt: the question; `{{field}}` is replaced by a field of the example.
            model: "provider/name", or a name of OpenAI's; None is the project's.
            score_type: "binary" (Yes or No), "categorical" or "numeric".
            description: a description for people.
            categories: names, or `Category(value, description, score)` (categorical judges only).
            min_score: the lowest score (numeric judges only).
            max_score: the highest score (numeric judges only).

        Raises:
            JudgmentConflictError: there is a judge with this name.
        """
        given = {"prompt": prompt, "model": model or None, "score_type": score_type, "description": description}
        more = {"categories": parse_categories(categories), "min_score": min_score, "max_score": max_score}
        judge = make_judge(name=check_name(name), id=str(uuid4()), version=_FIRST_VERSION, **given, **more)
        with self._store.open_writer() as writer:
            if any(True for _ in self._store.read(JUDGES, (name,))):
                raise JudgmentConflictError(
                    f"there is a judge {name!r:.60} already, in {self._store.location(JUDGES, (name,))}",
                    advice="Change it with client.judges.update(…).",
                )
            writer.update(JUDGE_HISTORY, (name,), lambda _: ())  # of a deleted judge
            writer.update(JUDGES, (name,), lambda _: [judge])
        return select_version(self._get_state(name))

    def register(
        self, judge: str | type[Judge[Any]] | Judge[Any], name: str | None = None, description: str = ""
    ) -> JudgeVersion:
        """Create or update a code judge; changed code is a new minor version.

        Args:
            judge: "module:Class", a class, or an instance, which this process then uses.
            name: its name; if not given, that of the judge or its class.
            description: a description for people.

        Raises:
            JudgmentConflictError: there is a prompt judge with this name.
        """
        state, code = register_code_judge(self._store, judge, name, description=description)
        if not isinstance(judge, str):
            self._live[state.judge.name] = code
        return with_code(next(versions_of(state)), self._live)

    def get(self, judge: str, *, tag: str | None = None, version: str | None = None) -> JudgeVersion | None:
        """A version of a judge: with the tag or the number, else with the tag `prod`, else the newest.

        Args:
            judge: the name or the id of the judge.
            tag: a tag of the version.
            version: the number of the version, as text.

        Returns:
            The version; None if there is no such judge.
        """
        state = find_judge(self._store, judge)
        return None if state is None else select_version(state, tag=tag, version=version)

    def list(self) -> list[JudgeVersion]:
        """The default version of every judge, in the order of the names."""
        return [select_version(state) for state in load_judges(self._store)]

    def versions(self, judge: str) -> Sequence[JudgeVersion]:
        """All versions, the newest first."""
        return list(versions_of(self._get_state(judge)))

    def update(
        self,
        judge: str,
        *,
        prompt: str | None = None,
        model: str | None = None,
        score_type: ScoreType | None = None,
        description: str | None = None,
        categories: Iterable[Category | Mapping[str, Any] | str] | None = None,
        min_score: float | None = None,
        max_score: float | None = None,
        source: str | None = None,
        major: bool = False,
    ) -> JudgeVersion:
        """Create the next version of a judge from the newest one and the given arguments.

        If nothing changes that scores depend on, there is no new version, unless `major` is set.

        Args:
            judge: the judge.
            prompt: the question.
            model: the model; "" for the project's.
            score_type: "binary", "categorical" or "numeric".
            description: a description for people.
            categories: names, or `Category(value, description, score)` (categorical judges only).
            min_score: the lowest score (numeric judges only).
            max_score: the highest score (numeric judges only).
            source: the version to start from, if not the newest.
            major: whether the next version is 2.0 after 1.2, and not 1.3.
        """
        arguments = {"prompt": prompt, "score_type": score_type, "min_score": min_score, "max_score": max_score}
        arguments |= {"description": description, "model": model}
        if categories is not None:
            arguments["categories"] = parse_categories(categories)  # type: ignore[assignment]
        given = {field: value for field, value in arguments.items() if value is not None}

        def change(state: JudgeState) -> StoredJudge:
            newest = state.versions[-1]
            base = grading_fields(newest if source is None else select_version(state, version=source).grading)
            # The categories and limits of another type don't fit.
            if given.get("score_type", base["score_type"]) != base["score_type"]:
                base |= {"categories": (), "min_score": None, "max_score": None}
            fields = {**base, **given}
            new = make_judge(state.judge, **{**fields, "model": fields["model"] or None})
            if major or grading_digest(new) != newest.digest:
                return new.model_copy(update={"version": str(next_number(newest.number, major=major))})
            return new

        return next(versions_of(self._change(judge, change)))

    def tag(self, judge: str, tag: str = PROD, version: str | None = None) -> TagMove:
        """Set a tag on a version. A version may have several tags, and a tag has one version.

        Args:
            judge: the name or the id of the judge.
            tag: the name of the tag.
            version: the number of the version, as text; by default the newest.
        """

        def change(state: JudgeState) -> dict[str, str]:
            target = select_version(state, tag="latest") if version is None else select_version(state, version=version)
            return {**state.judge.tags, tag: target.version}

        return self._change_tag(judge, tag, change)

    def untag(self, judge: str, tag: str = PROD) -> TagMove:
        """Remove a tag."""

        def change(state: JudgeState) -> dict[str, str]:
            select_version(state, tag=tag)
            return {name: version for name, version in state.judge.tags.items() if name != tag}

        return self._change_tag(judge, tag, change)

    def delete(self, judge: str) -> bool:
        """Delete a judge with all its versions; False if there is none.

        Raises:
            JudgmentConflictError: test configs use it.
        """
        if (state := find_judge(self._store, judge)) is None:
            return False
        name, keys = state.judge.name, {state.judge.name, state.judge.id}
        with self._store.open_writer() as writer:  # the lock comes first: a test config may be added in between
            if users := [config for config, stored in list_configs(self._store) if keys & set(stored.judges)]:
                raise JudgmentConflictError(
                    f"the judge {name!r:.60} is used by the test configs {', '.join(users):.300}",
                    advice="Delete these first, or remove the judge from them.",
                )
            writer.update(JUDGE_HISTORY, (name,), lambda _: ())
            writer.update(JUDGES, (name,), lambda _: ())
        return True

    def resolve(
        self, judges: Sequence[str], judge_versions: Sequence[Mapping[str, Any]] | None = None
    ) -> Sequence[JudgeVersion]:
        """The versions for a test, ready to score: with their code, of which a change is a new version.

        Args:
            judges: names or ids.
            judge_versions: pins, see `JudgeVersionPin`. A judge without a pin runs in the version with the tag `prod`,
                else in the newest. Two pins of one judge run both versions.

        Raises:
            ValueError: a pin is not valid.
        """
        pins = parse_pins(judge_versions)
        members = []
        for state in find_judges(self._store, judges):
            name, target = state.judge.name, state.judge.target or ""
            # Changed code of a code judge is a new version.
            is_code = state.judge.kind == "code"
            code = self._live.get(name, target)
            members.append(register_code_judge(self._store, code, name)[0] if is_code else state)
        return [with_code(version, self._live) for version in select_versions(self._store, members, pins)]

    def _get_state(self, judge: str) -> JudgeState:
        return find_judges(self._store, [judge])[0]

    def _change(self, judge: str, change: Callable[[JudgeState], StoredJudge]) -> JudgeState:
        return change_judge(self._store, self._get_state(judge).judge.name, change)

    def _change_tag(self, judge: str, tag: str, change: Callable[[JudgeState], dict[str, str]]) -> TagMove:
        previous: dict[str, str] = {}

        def retag(state: JudgeState) -> StoredJudge:
            previous.update(state.judge.tags)
            return make_judge(state.judge, tags=change(state))

        state = self._change(judge, retag)
        return TagMove(state.judge.name, tag, previous.get(tag), state.judge.tags.get(tag))
