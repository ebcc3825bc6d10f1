"""What has to be known of all of promptfoo's rows before the first is told: what its suites differ in, and repeats."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scoregate.ci.importers.fields import count, table, text
from scoregate.ci.importers.trials import digest, excerpt


@dataclass(slots=True)
class Survey:
    """What has to be known of all rows before the first is told."""

    providers: set[str] = field(default_factory=set)
    prompts: dict[str, set[int]] = field(default_factory=dict)
    places: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    described: dict[str, set[str]] = field(default_factory=dict)

    def see(self, row: Mapping[str, Any]) -> None:
        """Take in one row."""
        provider = provider_of(row)
        self.providers.add(provider)
        self.prompts.setdefault(provider, set()).add(count(row.get("promptIdx")))
        test = digest(definition_of(row))
        self.places.setdefault((variant_of(row), test), []).append(count(row.get("testIdx")))
        self.described.setdefault(description_of(row), set()).add(test)

    def suite(self, row: Mapping[str, Any], name: str) -> str:
        """The id of its suite: the name, with what the suites of the file differ in."""
        provider, differ = provider_of(row), []
        if len(self.providers) > 1:
            differ.append(f"provider={excerpt(provider, 60)}")
        if any(len(prompts) > 1 for prompts in self.prompts.values()):
            differ.append(f"prompt={self._prompt(row, provider)}")
        return f"{name} [{', '.join(differ)}]" if differ else name

    def _prompt(self, row: Mapping[str, Any], provider: str) -> str:
        """Its label, unless that is the prompt itself, which changes: then its number."""
        prompt = table(row.get("prompt"))
        label, template = text(prompt.get("label")), text(prompt.get("raw"))
        place = sorted(self.prompts[provider]).index(count(row.get("promptIdx"))) + 1
        own = label and label != template and "{{" not in label and len(label) <= 60 and "\n" not in label
        return label if own else str(place)

    def place(self, row: Mapping[str, Any]) -> int:
        """How many rows of its suite and test come before it."""
        places = self.places[variant_of(row), digest(definition_of(row))]
        return bisect_left(places, count(row.get("testIdx")))


def provider_of(row: Mapping[str, Any]) -> str:
    """Its provider's label, else its id."""
    provider = row.get("provider")
    return text(table(provider).get("label")) or text(table(provider).get("id")) or text(provider)


def variant_of(row: Mapping[str, Any]) -> str:
    """Which combination of prompt and provider it is of."""
    return f"{count(row.get('promptIdx'))} {provider_of(row)}"


def description_of(row: Mapping[str, Any]) -> str:
    """What its test is called; empty where it has no name."""
    return text(table(row.get("testCase")).get("description"))


def definition_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """What makes its test the same as another."""
    test = table(row.get("testCase"))
    return {"description": test.get("description"), "vars": row.get("vars"), "assert": test.get("assert")}
