"""Names that users import: they stay importable from the same modules."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

PUBLIC: dict[str, list[str]] = json.loads(
    (Path(__file__).parent.parent / "data" / "previous_version" / "public_names.json").read_text()
)


def test_public_names_are_importable() -> None:
    missing = [
        f"{module}.{name}"
        for module, names in PUBLIC.items()
        for name in names
        if not hasattr(import_module(module), name)
    ]
    assert missing == []
