"""`client.judges`: make judges, change them, tag their versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from scoregate.errors import JudgmentConflictError, JudgmentValidationError
from scoregate.judges.checks import checked_judge, checked_name, read_categories
from scoregate.judges.code import Judge
from scoregate.judges.finding import chosen, every, find, found_all
from scoregate.judges.pins import pinned, read_pins
from scoregate.judges.registration import registered, with_code
from scoregate.judges.settling import Settled, after, changed, settled
from scoregate.judges.version import PROD, JudgeVersion, versions_of
from scoregate.store import JUDGE_HISTORY, JUDGES, Store, StoredJudge, stored_configs
from scoregate.store.judges import Category, ScoreType, digest_of, grading_of

_FIRST = "0.0"


@dataclass(frozen=True, slots=True)
class TagMove:
    """A tag that was set or taken away: the versions it was on before and after, None where it was not there."""

    judge: str
    tag: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        return f"{self.judge}: {self.tag}: {self.before or 'not set'} -> {self.after or 'not set'}"


class JudgesFactory:
    """The judges of a project. Wherever a judge is asked for, its name or its id will do.

    Every method raises StoreError where something cannot be read or written, and JudgmentValidationError where there is
    no such judge, version or tag, or where what is given makes no judge.
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
        """Make a prompt judge; its first version is 0.0.

        Args:
            prompt: the question, in which `{{field}}` stands for a field of the example.
            model: "provider/name", or a name of OpenAI's; None is the project's.
            score_type: "binary" (Yes or No), "categorical" or "numeric".
            categories: of a categorical judge: names, or `Category(value, description, score)`.
            min_score, max_score: of a numeric judge; both included.

        Raises:
            JudgmentConflictError: there is a judge of this name.
        """
        given = {"prompt": prompt, "model": model or None, "score_type": score_type, "description": description}
        more = {"categories": read_categories(categories), "min_score": min_score, "max_score": max_score}
        judge = checked_judge(name=checked_name(name), id=str(uuid4()), version=_FIRST, **given, **more)
        with self._store.writing() as writer:
            if any(True for _ in self._store.read(JUDGES, (name,))):
                raise JudgmentConflictError(
                    f"there is a judge {name!r:.60} already, in {self._store.where(JUDGES, (name,))}",
                    advice="Change it with client.judges.update(…).",
                )
            writer.update(JUDGE_HISTORY, (name,), lambda _: ())  # of one that was deleted
            writer.update(JUDGES, (name,), lambda _: [judge])
        return self._default(name)

    def register(
        self, judge: str | type[Judge[Any]] | Judge[Any], name: str | None = None, description: str = ""
    ) -> JudgeVersion:
        """Make a code judge, or bring it up to date: code that changed is a new minor version.

        Args:
            judge: "module:Class", a class, or an instance, which this process then uses.
            name: the judge's own, or that of its class, if not given.

        Raises:
            JudgmentConflictError: there is a prompt judge of this name.
        """
        found, code = registered(self._store, judge, name, description=description)
        if not isinstance(judge, str):
            self._live[found.judge.name] = code
        return with_code(next(versions_of(found)), self._live)

    def get(self, judge: str, *, tag: str | None = None, version: str | None = None) -> JudgeVersion | None:
        """A version of a judge: that of the tag or the number, else of the tag `prod`, else the newest; None where
        there is no such judge."""
        found = find(self._store, judge)
        return None if found is None else chosen(found, tag=tag, version=version)

    def list(self) -> list[JudgeVersion]:
        """The version of every judge that is used where none is pinned, by name."""
        return [chosen(found) for found in every(self._store)]

    def versions(self, judge: str) -> Sequence[JudgeVersion]:
        """All versions, the newest first."""
        return list(versions_of(self._found(judge)))

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
        """Make the next version of a judge: what is not given is as in the newest one. Without a difference in what
        its scores depend on there is no new version, unless `major` asks for one.

        Args:
            model: "" for the project's. source: the version to start from, if not the newest.
            major: whether the next version is 2.0 after 1.2, and not 1.3.
        """
        said = {"prompt": prompt, "score_type": score_type, "min_score": min_score, "max_score": max_score}
        said |= {"description": description, "model": model}
        if categories is not None:
            said["categories"] = read_categories(categories)  # type: ignore[assignment]
        given = {field: value for field, value in said.items() if value is not None}

        def change(found: Settled) -> StoredJudge:
            return _next(found, given, source=source, major=major)

        return next(versions_of(self._changed(judge, change)))

    def tag(self, judge: str, tag: str = PROD, version: str | None = None) -> TagMove:
        """Put a tag on a version, the newest if none is given; a version may have several, a tag has one version."""

        def change(found: Settled) -> dict[str, str]:
            target = chosen(found, tag="latest") if version is None else chosen(found, version=version)
            return {**found.judge.tags, tag: target.version}

        return self._tagged(judge, tag, change)

    def untag(self, judge: str, tag: str = PROD) -> TagMove:
        """Take a tag away."""

        def change(found: Settled) -> dict[str, str]:
            chosen(found, tag=tag)
            return {name: version for name, version in found.judge.tags.items() if name != tag}

        return self._tagged(judge, tag, change)

    def delete(self, judge: str) -> bool:
        """Delete a judge with all its versions; False where there is none.

        Raises:
            JudgmentConflictError: test configs use it.
        """
        if (found := find(self._store, judge)) is None:
            return False
        name, keys = found.judge.name, {found.judge.name, found.judge.id}
        with self._store.writing() as writer:
            if users := [config for config, stored in stored_configs(self._store) if keys & set(stored.judges)]:
                raise JudgmentConflictError(
                    f"the judge {name!r:.60} is used by the test configs {', '.join(users):.300}",
                    advice="Delete these first, or take the judge out of them.",
                )
            writer.update(JUDGE_HISTORY, (name,), lambda _: ())
            writer.update(JUDGES, (name,), lambda _: ())
        return True

    def resolve(
        self, judges: Sequence[str], judge_versions: Sequence[Mapping[str, Any]] | None = None
    ) -> Sequence[JudgeVersion]:
        """The versions that a test runs, ready to score: code is loaded, and a change of it is a new version.

        Args:
            judges: names or ids. judge_versions: pins, see `JudgeVersionPin`; a judge that is not pinned runs in the
                version of its tag `prod`, else in the newest. Two pins of one judge run both.

        Raises:
            ValueError: a pin is not written as it must be.
        """
        pins = read_pins(judge_versions)
        members = [self._with_present_code(found) for found in found_all(self._store, judges)]
        return [with_code(version, self._live) for version in pinned(self._store, members, pins)]

    def _default(self, name: str) -> JudgeVersion:
        if (found := settled(self._store, name)) is None:
            raise JudgmentValidationError(f"Judges not found: {name}")
        return chosen(found)

    def _found(self, judge: str) -> Settled:
        return found_all(self._store, [judge])[0]

    def _with_present_code(self, found: Settled) -> Settled:
        """The same; of a code judge the newest version is then the code that there is."""
        if found.judge.kind != "code":
            return found
        code = self._live.get(found.judge.name, found.judge.target or "")
        return registered(self._store, code, found.judge.name)[0]

    def _changed(self, judge: str, change: Callable[[Settled], StoredJudge]) -> Settled:
        return changed(self._store, self._found(judge).judge.name, change)

    def _tagged(self, judge: str, tag: str, change: Callable[[Settled], dict[str, str]]) -> TagMove:
        seen: dict[str, str] = {}

        def retag(found: Settled) -> StoredJudge:
            seen.update(found.judge.tags)
            return checked_judge(found.judge, tags=change(found))

        now = self._changed(judge, retag)
        return TagMove(now.judge.name, tag, seen.get(tag), now.judge.tags.get(tag))


def _next(found: Settled, given: Mapping[str, Any], *, source: str | None, major: bool) -> StoredJudge:
    newest = found.versions[-1]
    base = grading_of(newest if source is None else chosen(found, version=source).grading)
    if given.get("score_type", base["score_type"]) != base["score_type"]:
        base |= {"categories": (), "min_score": None, "max_score": None}
    fields = {**base, **given}
    new = checked_judge(found.judge, **{**fields, "model": fields["model"] or None})
    if major or digest_of(new) != newest.digest:
        return new.model_copy(update={"version": str(after(newest.number, major=major))})
    return new
