"""The settings and the rule of slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scoregate.kernel.types.declarations.declaration import RATE_BY_NAME, TEXTS, Feature, Limit, Rule, Setting

MOST_FIELDS = 10


def find_limited_fields(names: Iterable[str]) -> Iterator[str]:
    """The fields that limits name; `names` are globs of slices, such as `language=fr`."""
    for name in names:
        field, is_named, _ = name.partition("=")
        if is_named and field and not set(field) & set("*?["):
            yield field


def _check_fields(fields: tuple[str, ...]) -> tuple[str, ...]:
    if len(fields) > MOST_FIELDS:
        raise ValueError(f"must name at most {MOST_FIELDS} fields")
    return fields


def _check_names(limits: Mapping[str, float]) -> Mapping[str, float]:
    for name in limits:
        if not list(find_limited_fields([name])) or name.endswith("="):
            raise ValueError(f'{name!r:.100} must be FIELD=VALUE, such as "language=fr"')
    return limits


RULE = Rule("slice drop", drop_from="base")
MAX_SLICE_DROP = Limit(
    "max_slice_drop",
    RATE_BY_NAME,
    """Fail if a mean score of a slice is worse than the baseline by more than this, and by more than noise: a table
    by globs of slices, such as `{ "language=fr" = 0.05 }`. The field needn't be in `slices`.
    """,
    is_relative=True,
    check=_check_names,
)
SLICES = Setting[tuple[str, ...]](
    "slices",
    TEXTS,
    (),
    """Fields of cases by whose values reports split the scores, at most ten: `tag`, or a field of the input or of its
    `metadata`, such as `language` or `metadata.topic`. Only `max_slice_drop` makes a slice fail a run.
    """,
    "Reports",
    check=_check_fields,
    after="comment",
)
FEATURE = Feature("slices", (RULE,), (MAX_SLICE_DROP,), (SLICES,))
