"""The columns of promptfoo's table of results: each is one prompt with one provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scoregate.features.imports.common import FreeNames, count, excerpt, table, text
from scoregate.kernel.types.event_values import Setup, SetupPart
from scoregate.kernel.types.identity import bounded_name, digest

_LONGEST_LABEL = 60


class _Column(NamedTuple):
    """A prompt with a provider, as the author describes them. `number` tells apart equal columns, from 0."""

    provider: str
    provider_label: str
    prompt_label: str
    template: str
    number: int = 0

    @property
    def model_key(self) -> tuple[str, str, int]:
        """What distinguishes the provider from others."""
        return self.provider, self.provider_label, self.number

    @property
    def prompt_key(self) -> tuple[str, str]:
        """What distinguishes the prompt from others."""
        return self.prompt_label, self.template


@dataclass(slots=True)
class PromptColumns:
    """The columns by number. `prompts` is promptfoo's list of them, with templates; rows only have rendered prompts."""

    prompts: Sequence[Mapping[str, Any]]
    _columns: dict[int, _Column] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any]) -> int:
        """Add the column of a row; returns its number."""
        number = column_number(row)
        if number not in self._columns:
            listed = self.prompts[number] if number < len(self.prompts) else {}
            provider, prompt = row.get("provider"), table(row.get("prompt"))
            self._columns[number] = _Column(
                text(table(provider).get("id")) or text(provider),
                text(table(provider).get("label")),
                text(listed.get("label")) or text(prompt.get("label")),
                text(listed.get("raw")) or text(row.get("promptId")),
            )
        return number

    def _numbered(self) -> dict[int, _Column]:
        """The columns in their order. Of equal ones, the second one is another provider, for it has other options."""
        seen = Counter[_Column]()
        numbered = {}
        for index, column in sorted(self._columns.items()):
            numbered[index] = column._replace(number=seen[column])
            seen[column] += 1
        return numbered

    def setups(self, evaluation: str, file: str) -> dict[int, Setup]:
        """The setup of each column."""
        columns = self._numbered()
        models = _positions(column.model_key for column in columns.values())
        prompts = _positions(column.prompt_key for column in columns.values())
        return {
            index: Setup(
                evaluation,
                file,
                SetupPart(column.provider_label, bounded_name(column.provider), models[column.model_key]),
                SetupPart(_own_label(column), digest(column.template), prompts[column.prompt_key]),
            )
            for index, column in columns.items()
        }

    def suite_ids(self, name: str) -> dict[int, str]:
        """The suite id of each column: the name, with the provider and the prompt if the file has several."""
        columns = self._numbered()
        providers = {column.model_key for column in columns.values()}
        of_provider: dict[tuple[str, str, int], list[int]] = {}
        for index, column in columns.items():
            of_provider.setdefault(column.model_key, []).append(index)
        has_prompts = any(len(each) > 1 for each in of_provider.values())
        ids: dict[int, str] = {}
        names = FreeNames()
        for index, column in columns.items():
            differences = []
            if len(providers) > 1:
                differences.append(f"provider={excerpt(column.provider_label or column.provider, 60)}")
            if has_prompts:
                prompt = column.prompt_label if _is_name(column) else of_provider[column.model_key].index(index) + 1
                differences.append(f"prompt={prompt}")
            ids[index] = names.take(f"{name} [{', '.join(differences)}]" if differences else name)
        return ids


def column_number(row: Mapping[str, Any]) -> int:
    """The number of the column of a row."""
    return count(row.get("promptIdx"))


def _is_name(column: _Column) -> bool:
    """Whether a label is a short name; a label that is the text of the prompt may change with it."""
    label = column.prompt_label
    has_text = "{{" in label or "\n" in label
    return bool(label) and label != column.template and not has_text and len(label) <= _LONGEST_LABEL


def _own_label(column: _Column) -> str:
    """The author's label, or the file of the prompt: promptfoo's own label is the text, or `FILE: TEXT`."""
    label = column.prompt_label
    if column.template and label.endswith(column.template):
        label = label.removesuffix(column.template).rstrip(": \n")
    return label if len(label) <= _LONGEST_LABEL and "{{" not in label and "\n" not in label else ""


def _positions(keys: Iterable[Hashable]) -> dict[Hashable, int]:
    return {key: index for index, key in enumerate(dict.fromkeys(keys))}
