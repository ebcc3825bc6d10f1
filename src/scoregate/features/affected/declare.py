"""The settings of what a change can affect."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import FLAG, GLOBS, Feature, Setting

AFFECTED = Setting(
    "affected",
    FLAG,
    False,
    """On a pull request, run only suites that the change can affect. The others keep the results of the base's run,
    which recorded what they depend on because it has this setting too. In doubt a suite runs.
    """,
    "What runs",
    below="message",
    keeps_results=True,
)
AFFECTED_PUSH = Setting(
    "affected_push",
    FLAG,
    False,
    "With `affected`, a push to the base branch also runs only suites that changed since its last complete run.",
    "What runs",
    below="message",
    keeps_on_push=True,
)
ANNOTATE_UNREAD = Setting[tuple[str, ...]](
    "annotate_unread",
    GLOBS,
    (),
    "With `affected`: globs of files, such as `prompts/**`, that get a note if they change and no suite reads them.",
    "Reports",
    after="affected_push",
    below="annotations",
)
FEATURE = Feature("affected", settings=(AFFECTED, AFFECTED_PUSH, ANNOTATE_UNREAD))
