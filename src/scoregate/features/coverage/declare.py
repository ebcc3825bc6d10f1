"""The settings of coverage."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import FLAG, GLOBS, Feature, RunFacts, Setting

COVERAGE_TOOLS = Setting[tuple[str, ...]](
    "coverage_tools",
    GLOBS,
    (),
    """Lists of the tools of your agent. Reports show which tools, arguments and values of enumerations no case uses.
    Each is a JSON or YAML file (the result of an MCP server's `tools/list`, tools as providers take them, or OpenAPI),
    a Python file with decorated functions, or a list in one, such as `agent/tools.py:TOOLS`. None of these runs code.
    Or it is an MCP server, which is asked for its list after the run: `mcp:` and a command, or an address.
    """,
    "Reports",
    after="affected_push",
    below="annotations",
)
COVERAGE_PROMPTS = Setting[tuple[str, ...]](
    "coverage_prompts",
    GLOBS,
    (),
    "With `affected`: globs of files, such as `prompts/**`. Reports show which of them no suite reads.",
    "Reports",
    after="affected_push",
    below="annotations",
)
ANNOTATE_COVERAGE = Setting(
    "annotate_coverage",
    FLAG,
    False,
    "Whether tools and prompts that no case uses get a note where they are defined.",
    "Reports",
    after="affected_push",
    below="annotations",
)


def _is_on(facts: RunFacts) -> bool:
    return COVERAGE_TOOLS.is_set(facts.settings) or COVERAGE_PROMPTS.is_set(facts.settings)


FEATURE = Feature("coverage", settings=(COVERAGE_TOOLS, COVERAGE_PROMPTS, ANNOTATE_COVERAGE), is_on=_is_on)
