"""Build a suite from the arguments of `run_test_suite`. Each problem is reported, and the valid parts run."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from zlib import crc32

from scoregate.engine.environment import Selection, select_suite
from scoregate.engine.evaluators import read_scorers
from scoregate.engine.trial import serialize_output
from scoregate.errors import NotRecordable
from scoregate.kernel.types.event_values import ErrorInfo, HumanReviewField
from scoregate.kernel.types.json_io import dump, sort_sets, to_stable_plain
from scoregate.kernel.types.suite import Case, Description, Suite, read_limits
from scoregate.kernel.types.text import LONGEST_NAME, case_name, is_whole_number
from scoregate.testing.models import CreateHumanReviewJob, TestCaseConfig
from scoregate.testing.util import md5

_CONFIG_FIELD = "test_case_config"
_DEFAULT_CONFIG = TestCaseConfig()
Hasher = Callable[[Any], object]


def make_hasher(test_case_hash: Sequence[str] | Hasher | None) -> Hasher:
    """The function that hashes a case: the given one, one of the given fields, or the case's own `hash`.

    Raises:
        TypeError: the argument is none of these.
    """
    if test_case_hash is None:
        return _own_hash
    if callable(test_case_hash):
        return test_case_hash
    names = [test_case_hash] if isinstance(test_case_hash, str) else list(test_case_hash)
    if not names:
        raise TypeError("it names no field")

    def hash_fields(value: Any) -> str:
        texts = []
        for name in names:
            try:
                field = value[name] if isinstance(value, Mapping) else getattr(value, name)
            except (KeyError, AttributeError):
                raise TypeError(f"it has no field {name!r}, which `test_case_hash` names") from None
            texts.append(dump(sort_sets(field)).decode())
        return md5("".join(texts))

    return hash_fields


def _own_hash(value: Any) -> object:
    own = getattr(value, "hash", None)
    if not callable(own):
        raise TypeError(f"a {type(value).__name__} has no method `hash`; add one, or name fields in `test_case_hash`")
    return own()


def build_cases(values: Iterable[Any], hash_of: Hasher, selection: Selection) -> tuple[list[Case], list[str]]:
    """The cases of a suite, and the problems of those that can't run."""
    cases: dict[str, Case] = {}
    numbers: dict[str, int] = {}
    problems: list[str] = []
    for number, value in enumerate(values, start=1):
        try:
            case = Case(check_hash(hash_of(value)), value, _repeat_count(value, selection))
        except Exception as error:  # the user's hash may raise anything
            problems.append(f"test case {number}: {error}")
            continue
        if case.hash in cases:
            problems.append(
                f"test case {number} is left out: duplicate hash {case.hash!r}, which test case {numbers[case.hash]} "
                f"has; {_explain_duplicate(cases[case.hash].value, value)}"
            )
        else:
            cases[case.hash], numbers[case.hash] = case, number
    return list(cases.values()), problems


def _explain_duplicate(first: Any, second: Any) -> str:
    """Which fields differ in two test cases with one hash."""
    try:
        bodies = [_case_body(value) for value in (first, second)]
        plain = [to_stable_plain(body) for body in bodies]
    except Exception:  # the user's `serialize` may raise anything
        plain = []
    if not plain or not all(isinstance(body, dict) for body in plain):
        return "if they differ, their hashes must differ too"
    names = [name for name in plain[1] if plain[0].get(name) != plain[1][name]]
    names += [name for name in plain[0] if name not in plain[1]]
    if not names:
        return "they are equal, so one of them is enough"
    return f"the hash leaves out {', '.join(names):.200}, in which they differ"


def check_hash(value: object) -> str:
    """The hash of a case.

    Raises:
        TypeError: it is not a string, or empty.
    """
    if not isinstance(value, str) or not value:
        raise TypeError(f"its hash must be a string that is not empty, not {value!r}")
    return value


def _case_config(value: Any) -> TestCaseConfig:
    config = value.get(_CONFIG_FIELD) if isinstance(value, Mapping) else getattr(value, _CONFIG_FIELD, None)
    return config if isinstance(config, TestCaseConfig) else _DEFAULT_CONFIG


def _repeat_count(value: Any, selection: Selection) -> int:
    config = _case_config(value)
    repeats = config.repeat_num_times
    if repeats is not None and not is_whole_number(repeats, 1):
        raise ValueError(f"its repeat_num_times must be a whole number of at least 1, not {repeats!r}")
    if isinstance(config.tags, str) or not all(isinstance(tag, str) for tag in config.tags):
        raise TypeError(f"its tags must be a list of strings, not {config.tags!r}")
    if not isinstance(config.cluster, str | None):
        raise TypeError(f"its cluster must be a string, not {config.cluster!r}")
    return repeats or selection.repeats or 1


def describe_case(case: Case) -> Description:
    """The case as the record shows it. A value without a JSON form becomes its type in angle brackets.

    Raises:
        NotRecordable: the case contains itself, or has too many levels.
        TypeError: its id of a dataset item or its fields for reviewers have another type.
    """
    config = _case_config(case.value)
    raw = _case_body(case.value)
    try:
        body = to_stable_plain(raw)
    except ValueError as error:
        raise NotRecordable("the test case", error) from None
    written = dump(body)
    name = case_name(case.hash, raw) or written.decode()[:LONGEST_NAME]
    return Description(
        name,
        body,
        f"{crc32(written):08x}",
        tuple(config.tags),
        config.cluster,
        dataset_item_id=_dataset_item_id(case.value),
        review_inputs=read_review_fields(case.value),
    )


def _dataset_item_id(value: Any) -> str | None:
    serialize = getattr(value, "serialize_dataset_item_id", None)
    item = serialize() if callable(serialize) else None
    if not isinstance(item, str | None):
        raise TypeError(f"serialize_dataset_item_id must return a string or None, not {item!r:.100}")
    return item


def read_review_fields(value: Any) -> tuple[HumanReviewField, ...]:
    """The fields that reviewers see instead of a test case or an output; empty if it has none of its own.

    Raises:
        TypeError: its `serialize_for_human_review` returns anything else.
    """
    serialize = getattr(value, "serialize_for_human_review", None)
    fields = serialize() if callable(serialize) else None
    if fields is None:
        return ()
    if not isinstance(fields, list | tuple) or not all(isinstance(each, HumanReviewField) for each in fields):
        raise TypeError(
            f"serialize_for_human_review must return a list of HumanReviewField or None, not {fields!r:.100}"
        )
    return tuple(fields)


def _case_body(value: Any) -> Any:
    serialize = getattr(value, "serialize", None)
    body = serialize() if callable(serialize) else value
    if dataclasses.is_dataclass(body) and not isinstance(body, type):
        return {name: getattr(body, name) for name in _field_names(type(body))}
    if hasattr(body, "model_dump"):
        return body.model_dump(exclude={_CONFIG_FIELD})
    if isinstance(body, Mapping):
        return {name: item for name, item in body.items() if name != _CONFIG_FIELD}
    own = getattr(body, "__dict__", None) if body is value else None
    return body if own is None else {k: v for k, v in own.items() if not k.startswith("_") and k != _CONFIG_FIELD}


@lru_cache(maxsize=64)
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls) if field.name != _CONFIG_FIELD)


def build_suite(
    suite_id: Any,
    test_cases: Any,
    fn: Any,
    selection: Selection,
    *,
    evaluators: Iterable[Any] | None,
    max_test_case_concurrency: Any,
    before_evaluators_hook: Callable[..., Any] | None,
    grid_search_params: Any,
    human_review_job: Any,
    retry_count: Any,
    test_case_hash: Sequence[str] | Hasher | None,
    timeout: float | None,
) -> Suite:
    """The suite. Invalid parts are left out, and `problems` names them."""
    problems: list[str] = []
    if not isinstance(suite_id, str) or not suite_id:
        problems.append(f"the id must be a string that is not empty, not {suite_id!r}")
    if not callable(fn):
        problems.append(f"fn must be callable, not {fn!r:.100}")
    values = _to_list(test_cases, "test_cases", problems)
    cases, case_problems = build_cases(values, _read_hasher(test_case_hash, problems), selection)
    scorers, scorer_problems = read_scorers(_to_list(evaluators or (), "evaluators", problems))
    names = ("max_test_case_concurrency", "retry_count")
    limits = read_limits(max_test_case_concurrency, retry_count, timeout, problems, names=names)
    variants = _read_variants(grid_search_params, problems)
    if not values:
        problems.append("no test cases")
    if not isinstance(human_review_job, CreateHumanReviewJob | None):
        problems.append(f"human_review_job must be a CreateHumanReviewJob, not {human_review_job!r:.100}")
    name = suite_id if isinstance(suite_id, str) and suite_id else "(no id)"
    suite = Suite(
        id=name,
        cases=cases if callable(fn) else [],
        task=fn,
        describe=describe_case,
        output_form=serialize_output,
        review_form=read_review_fields,
        scorers=scorers,
        hook=before_evaluators_hook,
        limits=limits,
        variants=variants,
        problems=[
            ErrorInfo("InvalidSuite", f"suite {name!r}: {text}")
            for text in (*problems, *case_problems, *scorer_problems)
        ],
    )
    return select_suite(suite, selection, "none of its test cases has a hash that was asked for")


def _to_list(values: Any, name: str, problems: list[str]) -> list[Any]:
    try:
        return list(values)
    except Exception as error:  # a generator of cases may raise anything
        problems.append(f"{name} cannot be listed: {type(error).__name__}: {error}")
        return []


def _read_hasher(given: Any, problems: list[str]) -> Hasher:
    try:
        return make_hasher(given)
    except TypeError as error:
        problems.append(f"test_case_hash must be names of fields or a function, not {given!r:.100}: {error}")
        return make_hasher(None)


def _read_variants(params: Any, problems: list[str]) -> Sequence[Mapping[str, Any] | None]:
    if params is None:
        return (None,)
    if not isinstance(params, Mapping) or not params:
        problems.append(f"grid_search_params must be a dict that is not empty, not {params!r:.100}")
        return (None,)
    bad = [
        name
        for name, values in params.items()
        if not isinstance(name, str) or not isinstance(values, Sequence) or isinstance(values, str) or not values
    ]
    if bad:
        problems.append(f"grid_search_params: {bad!r} must be strings with lists of values that are not empty")
        return (None,)
    return [dict(zip(params, combination, strict=True)) for combination in itertools.product(*params.values())]
