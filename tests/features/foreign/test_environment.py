"""The environment with which the SDKs of a command's suites find us."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.features.foreign.connections import foreign_environment
from scoregate.features.foreign.server import ListenerAddress


def make_address(*globs: str) -> ListenerAddress:
    return ListenerAddress("http://127.0.0.1:1/token", globs)


def filters(*globs: str, **environ: str) -> object:
    environment = foreign_environment(make_address(*globs), environ).get("AUTOBLOCKS_FILTERS_TEST_SUITES")
    return None if environment is None else json.loads(environment)


def test_sdks_get_our_address_and_no_real_keys() -> None:
    real = {"AUTOBLOCKS_API_KEY": "real", "AUTOBLOCKS_V2_API_KEY": "real", "AUTOBLOCKS_INGESTION_KEY": "real"}
    environment = foreign_environment(make_address(), {**real, "HOME": "/home/me"})
    assert "real" not in environment.values()
    assert all(environment[name] for name in real)
    assert environment["HOME"] == "/home/me"
    assert environment["AUTOBLOCKS_CLI_SERVER_ADDRESS"] == "http://127.0.0.1:1/token"
    assert environment["AUTOBLOCKS_V2_API_ENDPOINT"].startswith("http://127.0.0.1:1/token/cloud/")
    assert foreign_environment(make_address(), {})["AUTOBLOCKS_API_KEY"]


def test_modes_of_the_platform_are_removed() -> None:
    assert not {"AUTOBLOCKS_ALIGN_TEST_EXTERNAL_ID"} & set(
        foreign_environment(make_address(), {"AUTOBLOCKS_ALIGN_TEST_EXTERNAL_ID": "demo"})
    )


@pytest.mark.parametrize(
    ("globs", "parts"),
    [
        (("demo",), ["demo"]),
        (("de*-suite", "a?bcd"), ["-suite", "bcd"]),
        (("[ab]x", "[!a]longer[]]y"), ["x", "longer"]),
        (("demo", "*"), []),
        (("demo", "[a-z]"), []),
    ],
)
def test_globs_become_name_filters(globs: Sequence[str], parts: Sequence[str]) -> None:
    assert filters(*globs) == parts


@given(st.text("ab[]!-*?", max_size=8), st.text("ab[]!-", max_size=8))
def test_no_suite_that_a_glob_matches_is_filtered_out(glob: str, suite: str) -> None:
    parts = filters(glob)
    assert isinstance(parts, list)
    if fnmatchcase(suite, glob):
        assert not parts or any(part in suite for part in parts)


def test_without_ours_the_users_filter_applies() -> None:
    theirs = '["mine"]'
    assert filters(AUTOBLOCKS_FILTERS_TEST_SUITES=theirs) == ["mine"]
    assert filters("ours", AUTOBLOCKS_FILTERS_TEST_SUITES=theirs) == ["ours"]
    assert filters() is None


def test_requested_cases_are_passed_on() -> None:
    ours, theirs = "SCOREGATE_OVERRIDES_TESTS_AND_HASHES", "AUTOBLOCKS_OVERRIDES_TESTS_AND_HASHES"
    assert foreign_environment(make_address(), {ours: '{"a": ["1"]}', theirs: "{}"})[theirs] == '{"a": ["1"]}'
    assert foreign_environment(make_address(), {theirs: "{}"})[theirs] == "{}"


def test_our_folder_comes_before_the_users() -> None:
    mine, *others = foreign_environment(make_address(), {"PYTHONPATH": f"/a{os.pathsep}/b"})["PYTHONPATH"].split(
        os.pathsep
    )
    assert (Path(mine) / "sitecustomize.py").is_file()
    assert others == ["/a", "/b"]
    assert foreign_environment(make_address(), {})["PYTHONPATH"] == mine
    options = foreign_environment(make_address(), {"NODE_OPTIONS": "--max-old-space-size=512"})["NODE_OPTIONS"]
    assert options.startswith("--require ")
    assert options.endswith(" --max-old-space-size=512")


@pytest.mark.parametrize("proxy", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
def test_our_address_bypasses_a_proxy(proxy: str) -> None:
    environment = foreign_environment(make_address(), {proxy: "http://proxy:3128", "NO_PROXY": "internal, localhost"})
    for name in ("no_proxy", "NO_PROXY"):
        assert environment[name] == "internal,localhost,127.0.0.1"


def test_without_a_proxy_no_variable_is_set() -> None:
    assert not {"no_proxy", "NO_PROXY"} & set(foreign_environment(make_address(), {}))
