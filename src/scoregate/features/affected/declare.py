"""The setting `annotate_unread`. `affected` is the kernel's, which records what suites read."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import GLOBS, Feature, RunFacts, Setting

ANNOTATE_UNREAD = Setting[tuple[str, ...]](
    "annotate_unread",
    GLOBS,
    (),
    "With `affected`: globs of files, such as `prompts/**`, that get a note if they change and no suite reads them.",
    "Reports",
    after="affected_push",
    below="annotations",
)


def _is_on(facts: RunFacts) -> bool:
    return facts.settings.affected or ANNOTATE_UNREAD.is_set(facts.settings)


FEATURE = Feature("affected", settings=(ANNOTATE_UNREAD,), is_on=_is_on)
