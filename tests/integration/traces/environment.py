"""OpenTelemetry's own SDKs, unmodified."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.integration.cached_environments import cached_folder, install

_NODE = (
    "@opentelemetry/api@1.9.1",
    "@opentelemetry/sdk-trace-node@2.12.0",
    "@opentelemetry/exporter-trace-otlp-http@0.223.1",
    "@opentelemetry/exporter-trace-otlp-proto@0.223.1",
)
_WHAT = "spans of OpenTelemetry's SDK for Node.js"


def find_node_modules() -> Path:
    """A folder with the packages for Node.js; skips, loudly, where they can't be installed."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip(f"{_WHAT} are NOT tested: there is no npm")
    return cached_folder("opentelemetry-js", _NODE, _make_node)


def _make_node(folder: Path) -> None:
    folder.mkdir()
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
    install(["npm", "install", *quiet, "--prefix", str(folder), *_NODE], what=_WHAT)
