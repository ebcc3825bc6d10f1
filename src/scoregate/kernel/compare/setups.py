"""Pairs of suites of other frameworks: their evaluations, and in these their models, prompts and arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TypeAlias

from scoregate.kernel.types.event_values import Setup, SetupPart
from scoregate.kernel.types.runs.run import SuiteResult

_Suites: TypeAlias = Mapping[int, SuiteResult]
_KeyOf: TypeAlias = Callable[[SetupPart], Hashable]
_FamilyKey: TypeAlias = tuple[str, ...]
_MODEL, _PROMPT, _ARGUMENTS = attrgetter("model"), attrgetter("prompt"), attrgetter("arguments")
_LABEL, _VALUE, _LABEL_AND_VALUE = attrgetter("label"), attrgetter("value"), attrgetter("label", "value")
_POSITION = attrgetter("position")
# A renamed evaluation has at least this share of its cases in common with the old one.
_SHARED_CASES = 0.5


def pair_setups(suites: _Suites, base_suites: _Suites) -> Iterator[tuple[int, int]]:
    """Pair the suites of a run and its baseline by their setups.

    A model is paired by id, then by label. A prompt is paired by label, then by equal text. What is left is paired by
    position, so a replaced model or an edited prompt is compared with the one before.

    Args:
        suites: suites of the run by their index; those without a setup are ignored.
        base_suites: the same of the baseline.
    """
    families, base_families = _group_by_evaluation(suites), _group_by_evaluation(base_suites)
    for members, base_members in _pair_families(families, base_families):
        yield from _pair_members(members, base_members)


def describe_setup_change(suite: SuiteResult, base: SuiteResult) -> str:
    """Describe how the model or the arguments of a suite differ from the baseline's; empty if they don't."""
    if suite.setup is None or base.setup is None:
        return ""
    changes = [describe_model_change(suite, base)]
    if suite.setup.arguments.value != base.setup.arguments.value:
        changes.append("arguments of the task changed")
    return ", ".join(filter(None, changes))


def describe_model_change(suite: SuiteResult, base: SuiteResult) -> str:
    """Describe a change of the model under test; empty if the model is the same, or unknown on one side."""
    model, base_model = _model_of(suite), _model_of(base)
    is_same = model.value == base_model.value or not model.value or not base_model.value
    return "" if is_same else f"model changed: {base_model.name} → {model.name}"


def describe_unknown_model(suite: SuiteResult, base: SuiteResult) -> str:
    """Describe which side's model under test is unknown; empty if that is neither of them, or both."""
    if bool(_model_of(suite).value) == bool(_model_of(base).value):
        return ""
    side = "baseline" if _model_of(suite).value else "run"
    return f"the model of the {side} is unknown"


def _model_of(suite: SuiteResult) -> SetupPart:
    return SetupPart() if suite.setup is None else suite.setup.model


def _group_by_evaluation(suites: _Suites) -> dict[_FamilyKey, dict[int, SuiteResult]]:
    """The suites by script, result file and evaluation."""
    families: dict[_FamilyKey, dict[int, SuiteResult]] = {}
    for index, suite in suites.items():
        if (setup := suite.setup) is not None:
            key = (suite.script or "", setup.file, setup.evaluation)
            families.setdefault(key, {})[index] = suite
    return families


def _pair_families(
    families: Mapping[_FamilyKey, _Suites], base_families: Mapping[_FamilyKey, _Suites]
) -> Iterator[tuple[_Suites, _Suites]]:
    """Pair evaluations by script, file and name; then by less, if only one is left; last by their cases."""
    new, old = dict(families), dict(base_families)
    for kept in (slice(0, 3), slice(0, 3, 2), slice(2, 3), slice(0, 1)):
        is_renamed = kept.stop == 1
        alone, base_alone = _unique(new, kept), _unique(old, kept)
        for short, key in alone.items():
            base_key = base_alone.get(short)
            if base_key is None or (is_renamed and not _share_cases(new[key], old[base_key])):
                continue
            yield new.pop(key), old.pop(base_key)


def _unique(families: Iterable[_FamilyKey], kept: slice) -> dict[_FamilyKey, _FamilyKey]:
    """The families by a part of their key, without those that share it."""
    keys_by_prefix: dict[_FamilyKey, list[_FamilyKey]] = {}
    for key in families:
        keys_by_prefix.setdefault(key[kept], []).append(key)
    return {short: keys[0] for short, keys in keys_by_prefix.items() if len(keys) == 1}


def _share_cases(members: _Suites, base_members: _Suites) -> bool:
    cases, base_cases = (
        {digest for suite in side.values() for digest in suite.columns.digests if digest}
        for side in (members, base_members)
    )
    return len(cases & base_cases) >= max(1.0, _SHARED_CASES * max(len(cases), len(base_cases)))


def _pair_members(members: _Suites, base_members: _Suites) -> Iterator[tuple[int, int]]:
    """Pair the suites of one evaluation whose model, prompt and arguments are all paired."""
    setups, base_setups = (
        {index: suite.setup for index, suite in side.items() if suite.setup is not None}
        for side in (members, base_members)
    )
    models = match_parts(_parts(setups, _MODEL), _parts(base_setups, _MODEL), (_LABEL_AND_VALUE, _VALUE, _LABEL))
    prompts = match_parts(_parts(setups, _PROMPT), _parts(base_setups, _PROMPT), (_LABEL_AND_VALUE, _LABEL, _VALUE))
    arguments = match_parts(_parts(setups, _ARGUMENTS), _parts(base_setups, _ARGUMENTS), (_LABEL_AND_VALUE, _VALUE))
    groups: dict[Hashable, tuple[list[int], list[int]]] = {}
    for index, setup in setups.items():
        key = models.get(_MODEL(setup)), prompts.get(_PROMPT(setup)), arguments.get(_ARGUMENTS(setup))
        groups.setdefault(key, ([], []))[0].append(index)
    for index, setup in base_setups.items():
        if (pair := groups.get((_MODEL(setup), _PROMPT(setup), _ARGUMENTS(setup)))) is not None:
            pair[1].append(index)
    for group, base_group in groups.values():
        if len(group) == len(base_group) == 1:
            yield group[0], base_group[0]
            continue
        by_id = {
            base_members[index].id: index for index in base_group
        }  # which of equal setups belong together is unknown
        yield from ((index, by_id.pop(members[index].id)) for index in group if members[index].id in by_id)


def match_parts(
    parts: Iterable[SetupPart], base_parts: Iterable[SetupPart], keys: Sequence[_KeyOf]
) -> dict[SetupPart, SetupPart]:
    """Match parts of a run with those of its baseline.

    Args:
        parts: the different parts of the run.
        base_parts: the different parts of the baseline.
        keys: return what must be equal, the first one before the others. A part without a value, or one that shares it
            with others of its side, is left to the next one. What no key matches is matched by position.
    """
    unmatched, base_unmatched = dict.fromkeys(parts), dict.fromkeys(base_parts)
    matches: dict[SetupPart, SetupPart] = {}
    for key_of in keys:
        by_key, base_by_key = _by_unique_key(unmatched, key_of), _by_unique_key(base_unmatched, key_of)
        for key, part in by_key.items():
            if (base_part := base_by_key.get(key)) is not None:
                matches[part] = base_part
                del unmatched[part], base_unmatched[base_part]
    rest = zip(*(sorted(side, key=_POSITION) for side in (unmatched, base_unmatched)), strict=False)
    return matches | dict(rest)


def _by_unique_key(parts: Iterable[SetupPart], key_of: _KeyOf) -> dict[Hashable, SetupPart]:
    parts_by_key: dict[Hashable, list[SetupPart]] = {}
    for part in parts:
        if key := key_of(part):
            parts_by_key.setdefault(key, []).append(part)
    return {key: each[0] for key, each in parts_by_key.items() if len(each) == 1}


def _parts(setups: Mapping[int, Setup], part_of: Callable[[Setup], SetupPart]) -> list[SetupPart]:
    return list(dict.fromkeys(map(part_of, setups.values())))
