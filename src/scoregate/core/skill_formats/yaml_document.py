"""YAML with the line of each value, bounded, and without aliases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from scoregate.core.records import record

MOST_CHARACTERS = 5_000_000
_MOST_VALUES = 1_000_000
_MOST_LEVELS = 50
_TAG = "tag:yaml.org,2002:"
_CONSTRUCTED = {f"{_TAG}{name}" for name in ("bool", "float", "int", "null")}
# Other plain values, such as dates, stay texts.
_TEXTS = {f"{_TAG}{name}" for name in ("str", "timestamp", "value", "binary", "merge")}

Content: TypeAlias = "dict[str, Value] | list[Value] | str | bool | int | float | None"


@record
class Value:
    """A value of a document.

    Attributes:
        line: its line, from 1. For the value of a key, that of the key.
        content: the value: texts, numbers, lists, or values by their keys.
        text: how a value is written that is neither a list, a mapping nor null. The tools read YAML 1.2, PyYAML reads
            1.1, in which `no` and `1:30` are no texts.
    """

    line: int
    content: Content
    text: str | None = None

    def to_plain(self) -> Any:
        """The value without lines."""
        if isinstance(self.content, dict):
            return {key: each.to_plain() for key, each in self.content.items()}
        return [each.to_plain() for each in self.content] if isinstance(self.content, list) else self.content


class YamlProblem(ValueError):
    """The text is not YAML that can be read; the message starts with the place."""


def parse_yaml(text: str, shown: str) -> Value:
    """Read a document.

    Args:
        text: the text.
        shown: the path of the file in messages.

    Raises:
        YamlProblem: it is not YAML, too large, has aliases or unknown tags, or PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        advice = "Run: pip install 'scoregate[judges]'"
        raise YamlProblem(f"{shown}: YAML needs the package PyYAML, which is not installed. {advice}") from None
    if len(text) > MOST_CHARACTERS:
        raise YamlProblem(f"{shown}: it has more than {MOST_CHARACTERS:,} characters")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(yaml, yaml.parse(text, Loader=loader), shown)
        node = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{shown}:{mark.line + 1}" if mark else shown
        raise YamlProblem(f"{place}: it is not YAML: {getattr(error, 'problem', None) or error!s:.200}") from None
    if node is None:
        raise YamlProblem(f"{shown}:1: it is empty")
    return _Converter(yaml, shown).convert(node, node.start_mark.line + 1)


def _check_events(yaml: Any, events: Iterator[Any], shown: str) -> None:
    """Check that a document is small when it is read: no aliases, and not too many values or levels."""
    level = count = 0
    for event in events:
        place = f"{shown}:{event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise YamlProblem(f"{place}: *{event.anchor:.80} is an alias; write out what it means")
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        count += isinstance(event, yaml.NodeEvent)
        if level > _MOST_LEVELS:
            raise YamlProblem(f"{place}: it has more than {_MOST_LEVELS} levels")
        if count > _MOST_VALUES:
            raise YamlProblem(f"{place}: it has more than {_MOST_VALUES:,} values")


class _Converter:
    """Makes values of nodes."""

    def __init__(self, yaml: Any, shown: str) -> None:
        self._yaml = yaml
        self._constructor = yaml.constructor.SafeConstructor()
        self._shown = shown

    def convert(self, node: Any, line: int) -> Value:
        """The value of a node.

        Raises:
            YamlProblem: a key is not text or occurs twice, or a tag is unknown.
        """
        if isinstance(node, self._yaml.MappingNode):
            return Value(line, self._convert_mapping(node))
        if isinstance(node, self._yaml.SequenceNode):
            return Value(line, [self.convert(each, each.start_mark.line + 1) for each in node.value])
        content = self._convert_scalar(node, line)
        return Value(line, content, None if content is None else str(node.value))

    def _convert_mapping(self, node: Any) -> dict[str, Value]:
        mapping: dict[str, Value] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, self._yaml.ScalarNode):
                raise YamlProblem(f"{self._shown}:{line}: a key must be a text")
            if key.value in mapping:
                raise YamlProblem(f"{self._shown}:{line}: the key {key.value[:80]!r} occurs twice")
            mapping[key.value] = self.convert(value, line)
        return mapping

    def _convert_scalar(self, node: Any, line: int) -> str | bool | int | float | None:
        if node.tag in _TEXTS:
            return str(node.value)
        if node.tag not in _CONSTRUCTED:
            raise YamlProblem(f"{self._shown}:{line}: the tag {node.tag[:80]} is not known")
        try:
            scalar: bool | int | float | None = self._constructor.construct_object(node)
        except (ValueError, LookupError, OverflowError, self._yaml.YAMLError):
            raise YamlProblem(f"{self._shown}:{line}: {node.value[:80]!r} is not a value of its tag") from None
        return scalar
