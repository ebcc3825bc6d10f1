"""The lock holds everything that the image needs, each file by its hash, and names no local address."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCK, BUILD = ((ROOT / f"requirements{kind}.lock").read_text(encoding="utf-8") for kind in ("", "-build"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

LOCKED = set(re.findall(r"^([a-z0-9._-]+)==", LOCK, re.MULTILINE))
# A Python that has no packages but some, in which a suite of Autoblocks' crowns a champion.
CROWNING = """
import json, sys
from pathlib import Path

class Absent:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

absent = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Absent())
from scoregate.features.foreign.connections import open_baseline_lookup
open_baseline_lookup(Path.cwd(), {}, {}).save_baseline_output("demo", "a", "best")
print(open_baseline_lookup(Path.cwd(), {}, {}).baseline_output("demo", "a"))
"""


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


def test_every_requirement_is_locked() -> None:
    extras = (
        PROJECT["optional-dependencies"][extra]
        for extra in ("cli", "endpoints", "gateway", "history", "judges", "otlp", "server")
    )
    assert names([*PROJECT["dependencies"], *(need for extra in extras for need in extra)]) <= LOCKED | {"scoregate"}


def test_the_command_line_needs_few_packages() -> None:
    """At most 22 on Linux: what only some commands need is in other extras."""
    needed, found = names([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]), set[str]()
    parents = {
        match[1]: set(re.findall(r"^    #(?: via)?  ?([a-z0-9._-]+)$", match[0], re.MULTILINE))
        for match in re.finditer(r"^([a-z0-9._-]+)==.*?(?=^[a-z]|\Z)", LOCK, re.MULTILINE | re.DOTALL)
    }
    while needed != found:
        found = needed
        needed = found | {name for name, of in parents.items() if of & found}
    assert {"httpcore", "pydantic-core"} <= found
    assert len(found - {"colorama"}) <= 22, sorted(found)


def test_two_extras_are_enough_to_save_a_baseline(tmp_path: Path) -> None:
    extras = PROJECT["optional-dependencies"]
    always = names([*PROJECT["dependencies"], *extras["cli"], *extras["server"]])
    others = names([each for needs in extras.values() for each in needs]) - always
    installed = {
        module: {re.sub("[._]", "-", each).lower() for each in of} for module, of in packages_distributions().items()
    }
    absent = [module for module, of in installed.items() if of <= others - {"scoregate"}]
    assert {"openai", "tomlkit"} <= set(absent)
    argv = [sys.executable, "-c", CROWNING, json.dumps(absent)]
    process = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (process.stdout, process.stderr) == ("best\n", "")


@pytest.mark.parametrize("lock", [LOCK, BUILD], ids=["run", "build"])
def test_every_locked_version_has_hashes_and_no_address(lock: str) -> None:
    entries = [entry for entry in re.split(r"\n(?=[a-z])", lock) if "==" in entry]
    assert len(entries) > 5
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock


def test_the_image_build_is_locked() -> None:
    assert {"uv", "hatchling"} <= set(re.findall(r"^([a-z0-9._-]+)==", BUILD, re.MULTILINE))
