"""Prompts and editors complete the public names, also those that are imported when they are first asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from rlcompleter import Completer

import pytest

PACKAGES = ("", ".evals", ".mcp_servers", ".offline_tests", ".scorers", ".store", ".testing.evaluators")


@pytest.mark.parametrize("name", [f"scoregate{each}" for each in PACKAGES])
def test_every_public_name_is_completed(name: str) -> None:
    package = import_module(name)
    completer = Completer({"package": package})
    for public in package.__all__:
        if not public.startswith("_"):
            completer.complete(f"package.{public}", 0)
            assert any(each.rstrip("()") == f"package.{public}" for each in completer.matches), public
    assert set(dir(sys.modules[name])) >= set(package.__all__)
    assert not {"TYPE_CHECKING", "annotations", "_MODULES", "make_dir", "make_getattr"} & set(dir(package))


def test_imported_packages_are_completed() -> None:
    scoregate = import_module("scoregate.testing").__name__.partition(".")[0]
    assert "testing" in dir(sys.modules[scoregate])
