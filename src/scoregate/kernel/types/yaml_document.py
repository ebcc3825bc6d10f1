"""YAML with the line of each value, without aliases, in the version that the tool of the file reads.

Most tools read YAML 1.2: promptfoo (js-yaml), waza and skill-validator (yaml.v3 of Go), tools of OpenAPI. PyYAML reads
YAML 1.1, in which `no` is false, `012` is 10 and `12:30:45` is 45045. A test compares the values with those of js-yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import isinf
from typing import Any, Literal, TypeAlias

from scoregate.kernel.types.records import record

YamlVersion: TypeAlias = Literal["1.1", "1.2"]
MOST_CHARACTERS = 5_000_000
_MOST_VALUES = 1_000_000
_MOST_LEVELS = 50
_TAG = "tag:yaml.org,2002:"
_NULL, _BOOL, _INT, _FLOAT, _MERGE = (f"{_TAG}{name}" for name in ("null", "bool", "int", "float", "merge"))
# Dates stay texts, as in the core schema of YAML 1.2.
_TEXTS = {f"{_TAG}{name}" for name in ("str", "timestamp", "value", "merge")}
# What plain values are in the core schema (section 10.3.2 of YAML 1.2), and the characters that they can start with.
_CORE_SCHEMA: Mapping[str, tuple[re.Pattern[str], list[str]]] = {
    _NULL: (re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""]),
    _BOOL: (re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF")),
    _INT: (re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"), list("-+0123456789")),
    _FLOAT: (
        re.compile(
            r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
        ),
        list("-+.0123456789"),
    ),
    _MERGE: (re.compile(r"<<\Z"), ["<"]),
}

Scalar: TypeAlias = "str | bool | int | float | None"
Content: TypeAlias = "dict[str, Value] | list[Value] | Scalar"


@record
class Value:
    """A value of a document.

    Attributes:
        line: its line, from 1. For the value of a key, that of the key.
        content: the value: texts, numbers, lists, or values by their keys. A key is what is written.
        text: how a value is written that is neither a list, a mapping nor null.
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


def parse_yaml(text: str, shown: str, *, version: YamlVersion = "1.2", bounded: bool = True) -> Value:
    """Read a document.

    Args:
        text: the text.
        shown: the path of the file in messages.
        version: how plain values are read: "1.2" as in the core schema of YAML 1.2, "1.1" as PyYAML does.
        bounded: whether the number of characters and values is limited.

    Raises:
        YamlProblem: it is not YAML, too large, has aliases, a key twice or unknown tags, or PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        advice = "Run: pip install 'scoregate[judges]'"
        raise YamlProblem(f"{shown}: YAML needs the package PyYAML, which is not installed. {advice}") from None
    if bounded and len(text) > MOST_CHARACTERS:
        raise YamlProblem(f"{shown}: it has more than {MOST_CHARACTERS:,} characters")
    loader = _make_loader(version)
    try:
        _check_events(yaml, yaml.parse(text, Loader=loader), shown, bounded=bounded)
        node = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{shown}:{mark.line + 1}" if mark else shown
        raise YamlProblem(f"{place}: it is not YAML: {getattr(error, 'problem', None) or error!s:.200}") from None
    if node is None:
        raise YamlProblem(f"{shown}:1: it is empty")
    return _Converter(yaml, shown, version).convert(node, node.start_mark.line + 1)


@cache
def _make_loader(version: YamlVersion) -> Any:
    """A loader of PyYAML that finds the tags of plain values as a version says."""
    import yaml

    # Libyaml is much faster, but not every build of PyYAML has it.
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if version == "1.1":
        return base
    loader: Any = type("CoreSchemaLoader", (base,), {"yaml_implicit_resolvers": {}})
    for tag, (pattern, first) in _CORE_SCHEMA.items():
        loader.add_implicit_resolver(tag, pattern, first)
    return loader


def _check_events(yaml: Any, events: Iterator[Any], shown: str, *, bounded: bool) -> None:
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
        if bounded and count > _MOST_VALUES:
            raise YamlProblem(f"{place}: it has more than {_MOST_VALUES:,} values")


class _Converter:
    """Makes values of nodes."""

    def __init__(self, yaml: Any, shown: str, version: YamlVersion) -> None:
        self._yaml = yaml
        self._construct = _read_core_scalar if version == "1.2" else yaml.constructor.SafeConstructor().construct_object
        self._shown = shown

    def convert(self, node: Any, line: int) -> Value:
        """The value of a node.

        Raises:
            YamlProblem: a key is not text or occurs twice, or a tag is unknown.
        """
        if isinstance(node, self._yaml.MappingNode):
            self._check_tag(node, {f"{_TAG}map"}, line)
            return Value(line, self._convert_mapping(node))
        if isinstance(node, self._yaml.SequenceNode):
            self._check_tag(node, {f"{_TAG}seq"}, line)
            return Value(line, [self.convert(each, each.start_mark.line + 1) for each in node.value])
        content = self._convert_scalar(node, line)
        return Value(line, content, None if content is None else str(node.value))

    def _convert_mapping(self, node: Any) -> dict[str, Value]:
        mapping: dict[str, Value] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, self._yaml.ScalarNode):
                raise YamlProblem(f"{self._shown}:{line}: a key must be a text")
            if key.tag == _MERGE:
                raise YamlProblem(f"{self._shown}:{line}: the key << is not read; write out what it adds")
            if key.value in mapping:
                raise YamlProblem(
                    f"{self._shown}:{line}: the key {key.value[:80]!r} occurs twice, first in line "
                    f"{mapping[key.value].line}; keep one"
                )
            mapping[key.value] = self.convert(value, line)
        return mapping

    def _convert_scalar(self, node: Any, line: int) -> Scalar:
        if node.tag in _TEXTS:
            return str(node.value)
        self._check_tag(node, {_NULL, _BOOL, _INT, _FLOAT}, line)
        try:
            scalar: Scalar = self._construct(node)
        except (ValueError, LookupError, OverflowError, self._yaml.YAMLError):
            raise YamlProblem(f"{self._shown}:{line}: {node.value[:80]!r} is not a value of its tag") from None
        return scalar

    def _check_tag(self, node: Any, known: set[str], line: int) -> None:
        if node.tag not in known:
            raise YamlProblem(f"{self._shown}:{line}: the tag {node.tag[:80]} is not known")


def _read_core_scalar(node: Any) -> Scalar:
    """A null, bool or number of the core schema.

    Raises:
        ValueError: the value is not of its tag.
    """
    tag, text = node.tag, str(node.value)
    # `!!float 3` is a float, although a plain 3 is an int.
    if not any(_CORE_SCHEMA[each][0].match(text) for each in ((tag, _INT) if tag == _FLOAT else (tag,))):
        raise ValueError(text)
    if tag == _NULL:
        return None
    if tag == _BOOL:
        return text.lower() == "true"
    if tag == _INT and text[:2] in ("0o", "0x"):
        return int(text[2:], 8 if text[1] == "o" else 16)
    number = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if isinf(number) and "inf" not in text.lower():
        return text  # no JavaScript number is so large, so js-yaml leaves it a text
    return int(text) if tag == _INT else number
