"""What no case uses of the listed tools and prompts, for reports and annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from scoregate.features.coverage.tool_use import UnusedItem, UseCount
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.slots import Slot


@record
class CoverageView:
    """The used share of tools, arguments, values and prompts, and what is unused.

    Attributes:
        counts: by the noun in the singular, such as "tool", the number of known ones and of used ones.
        unused: what no case uses, in the order of the lists.
        unlisted: the tools that are called and not listed, with the number of calls.
        doubt: why more may be used than is known; empty if all is known.
        annotate: whether annotations show where it is defined.
    """

    counts: Mapping[str, UseCount] = field(default_factory=dict)
    unused: tuple[UnusedItem, ...] = ()
    unlisted: Mapping[str, int] = field(default_factory=dict)
    doubt: str = ""
    annotate: bool = False

    @property
    def summary(self) -> str:
        """What is used: `4 of 5 tools, 6 of 7 arguments`."""
        known = ((noun, each) for noun, each in self.counts.items() if each.known)
        return ", ".join(f"{each.used:,} of {number_format.count(each.known, noun)}" for noun, each in known)

    @property
    def unlisted_names(self) -> str:
        """The first tools that are called and not listed."""
        names = list(self.unlisted)
        more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
        return f"{', '.join(names[:5])}{more}"


FoundCoverage: TypeAlias = tuple[CoverageView | None, Sequence[str]]
"""The coverage, None without a list that can be read, and what is wrong with the lists."""
FOUND: Slot[FoundCoverage] = Slot("coverage")
