"""The files of judges, as people edit them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from scoregate.store import JUDGE_HISTORY, JUDGES, Store


def document(store: Store, name: str = "helpfulness") -> Path:
    return Path(store.location(JUDGES, (name,)))


def history(store: Store, name: str = "helpfulness") -> Path:
    return Path(store.location(JUDGE_HISTORY, (name,)))


def lines(store: Store, name: str = "helpfulness") -> list[dict[str, Any]]:
    return [json.loads(line) for line in history(store, name).read_text().splitlines()]


def edit(store: Store, field: str, value: str, name: str = "helpfulness") -> None:
    """Change one line of a judge's document, or add it."""
    path = document(store, name)
    text = path.read_text()
    line = f"{field} = {json.dumps(value)}"
    found = re.subn(rf'^{field} = ("""(?s:.*?)"""|".*")$', lambda _: line, text, flags=re.MULTILINE)
    path.write_text(found[0] if found[1] else f"{line}\n{text}")
