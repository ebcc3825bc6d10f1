"""The environment of a command whose suites may be those of a foreign SDK."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scoregate.ci.listen.line import Line

# The SDKs demand keys. Nothing they are sent with leaves this machine, so a real one would be of no use.
_KEYS = ("AUTOBLOCKS_API_KEY", "AUTOBLOCKS_V2_API_KEY", "AUTOBLOCKS_INGESTION_KEY")
_NO_KEY = "not-needed"
# Alignment was a mode of the old command line that current SDKs no longer survive; builds were the platform's.
_DROPPED = (
    "AUTOBLOCKS_ALIGN_TEST_EXTERNAL_ID",
    "AUTOBLOCKS_ALIGN_TEST_CASE_HASH",
    "AUTOBLOCKS_CI_TEST_RUN_BUILD_ID",
    "AUTOBLOCKS_V2_CI_TEST_RUN_BUILD_ID",
)
_SUITES = "AUTOBLOCKS_FILTERS_TEST_SUITES"
_CASES = "OVERRIDES_TESTS_AND_HASHES"
_WILD = re.compile(r"\*|\?|\[!?\]?[^]]*\]")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_HERE = ("127.0.0.1", "localhost")
_REDIRECT = Path(__file__).parent / "redirect"


def foreign_environment(line: Line, given: Mapping[str, str]) -> dict[str, str]:
    """The child's whole environment `given`, with what Autoblocks' SDKs and our redirects need."""
    cloud = f"{line.address}/cloud"
    kept = {name: value for name, value in given.items() if name not in _DROPPED}
    return {
        **kept,
        **dict.fromkeys(_KEYS, _NO_KEY),
        "AUTOBLOCKS_CLI_SERVER_ADDRESS": line.address,
        "AUTOBLOCKS_V2_API_ENDPOINT": f"{cloud}/v2",
        "SCOREGATE_CLOUD": cloud,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_REDIRECT / "python"), given.get("PYTHONPATH")))),
        "NODE_OPTIONS": " ".join(filter(None, (_required(_REDIRECT / "node/redirect.cjs"), given.get("NODE_OPTIONS")))),
        **dict(_filters(line.suites, given)),
        **dict(_direct(given)),
    }


def _required(path: Path) -> str:
    quoted = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'--require "{quoted}"'


def _filters(globs: Sequence[str], given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What to run, as the SDKs know it: parts of suites' ids, and cases."""
    parts = [max(_WILD.split(glob), key=len) for glob in globs]
    if globs:
        yield _SUITES, json.dumps(parts if all(parts) else [])
    if ours := given.get(f"SCOREGATE_{_CASES}"):
        yield f"AUTOBLOCKS_{_CASES}", ours


def _direct(given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Keeps calls to us away from a proxy, which would look for us on its own machine."""
    if not any(given.get(name) or given.get(name.upper()) for name in _PROXIES):
        return
    for name in ("no_proxy", "NO_PROXY"):
        hosts = [host.strip() for host in (given.get(name) or given.get(name.swapcase()) or "").split(",")]
        yield name, ",".join(filter(None, dict.fromkeys((*hosts, *_HERE))))
