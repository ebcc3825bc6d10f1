"""The settings of `affected`. The setting itself is the kernel's: it records what suites read."""

from __future__ import annotations

from scoregate.core.declarations.declaration import FLAG, GLOBS, Feature, Setting

AFFECTED_PUSH = Setting(
    "affected_push",
    FLAG,
    False,
    "With `affected`, a push to the base branch also runs only suites that changed since its last complete run.",
    "What runs",
    after="affected",
)
ANNOTATE_UNREAD = Setting[tuple[str, ...]](
    "annotate_unread",
    GLOBS,
    (),
    "With `affected`: globs of files, such as `prompts/**`, that get a note if they change and no suite reads them.",
    "Reports",
    after="affected",
    below="annotations",
)
FEATURE = Feature("affected", settings=(AFFECTED_PUSH, ANNOTATE_UNREAD), has_hooks=False, has_section=False)
