"""YAML in and out, through PyYAML where it is installed."""

from __future__ import annotations

from typing import Any

from scoregate.errors import InvalidDataset, MissingExtra


def from_yaml(text: str, *, origin: str) -> Any:
    """What a text says. Aliases are refused: a few lines of them can stand for more than any memory holds.

    Raises:
        InvalidDataset: it is no YAML, or has an alias. MissingExtra: PyYAML is not installed.
    """
    yaml = _yaml()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1
                raise InvalidDataset(f"{origin}:{line}: *{event.anchor} is an alias", advice="Write out what it means.")
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{origin}:{mark.line + 1}" if mark else origin
        raise InvalidDataset(f"{where}: is no YAML: {getattr(error, 'problem', None) or error}") from None
    except RecursionError:
        raise InvalidDataset(f"{origin} is nested too deeply") from None
    except ValueError as error:
        raise InvalidDataset(f"{origin}: {error}") from None


def to_yaml(value: object) -> str:
    """A value of plain data as text.

    Raises:
        MissingExtra: PyYAML is not installed.
    """
    text: str = _yaml().safe_dump(value, sort_keys=False, allow_unicode=True)
    return text


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtra(
            "YAML needs the package PyYAML, which is not installed",
            advice="Run: pip install 'scoregate[judges]', or use .json, .jsonl or .csv.",
        ) from None
    return yaml
