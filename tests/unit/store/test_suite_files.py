"""Suites that are data: lines of fields in TOML, and what their files name."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.errors import StoreError
from scoregate.store import open_store
from scoregate.store.suite_files import find_tests_file, load_endpoint, read_suite_file, resolve_endpoint, suite_name
from scoregate.store.toml import find_line

TEXT = '''# About this.
[testset]
name = "desk"
description = """
[gates]
name = 1
"""

[endpoint.auth]
type = 'api_key'

[[metrics]]
kind = "numeric"

[[metrics]]
kind = "goal"

[gates.min_score]
"a b" = 1
severity.cost = "warn"
'''


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("testset.name", 3),
        ("testset.missing", 2),
        ("endpoint.auth.type", 10),
        ("metrics.0", 12),
        ("metrics.1.kind", 16),
        ("gates.min_score.a b", 19),
        ("gates.min_score.severity.cost", 20),
        ("nowhere", 1),
    ],
)
def test_fields_have_lines(keys: str, line: int) -> None:
    assert find_line(TEXT, keys.split(".")) == line


def test_files_give_names(tmp_path: Path) -> None:
    path = tmp_path / "refunds.testset.toml"
    path.write_text('[testset]\nendpoint = "bot:answer"\n')
    (tmp_path / "refunds.jsonl").touch()
    suite = read_suite_file(path, shown="x")
    assert suite_name(suite.testset.name, path) == "refunds"
    assert find_tests_file(suite, path) == tmp_path / "refunds.jsonl"
    endpoint = load_endpoint(suite, path, open_store(tmp_path))
    assert (endpoint.connection_type, endpoint.function) == ("SDK", "bot:answer")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("http://h/chat", "REST"), ("https://h", "REST"), ("wss://h/ws", "WebSocket"), ("my.bot:Bot.answer", "SDK")],
)
def test_a_url_or_a_function_is_an_endpoint(tmp_path: Path, name: str, kind: str) -> None:
    endpoint = resolve_endpoint(name, open_store(tmp_path), folder=tmp_path)
    assert (endpoint.connection_type, endpoint.url or endpoint.function) == (kind, name)


def test_an_endpoint_of_the_store_is_found_by_id_or_name(tmp_path: Path) -> None:
    folder = tmp_path / ".scoregate" / "endpoints"
    folder.mkdir(parents=True)
    (folder / "shop.toml").write_text('name = "The Shop"\nurl = "http://h"\n')
    store = open_store(tmp_path)
    assert resolve_endpoint("shop", store, folder=tmp_path).url == "http://h"
    assert resolve_endpoint("the shop", store, folder=tmp_path).url == "http://h"
    (folder / "other.toml").write_text('name = "the shop"\nurl = "http://h"\n')
    with pytest.raises(StoreError, match=r"several endpoints have the name 'The Shop'\n.*other, shop"):
        resolve_endpoint("The Shop", store, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[testset]\n", "no endpoint: give"),
        ('[testset]\nendpoint = "a"\n[endpoint]\nurl = "http://h"\n', "two endpoints: give"),
        ('[testset]\nendpoint = "a"\ntests = "a.csv"\nset = "b"\n', "tests and set exclude each other"),
        (
            '[testset]\nendpoint = "a"\n[[metrics]]\nkind = "goal"\nthresold = 1\n',
            "x:5: metrics.0.thresold: there is no",
        ),
        ('[testset]\nendpoint = "a"\n[endpont]\n', "x:3: endpont: there is no such field; did you mean 'endpoint'?"),
        ('[testset]\n[endpoint]\nurl = "http://h"\nauth_token = "sesame"\n', "is a secret in clear"),
    ],
)
def test_invalid_suites_are_named(tmp_path: Path, text: str, message: str) -> None:
    (path := tmp_path / "x.toml").write_text(text)
    with pytest.raises(StoreError) as exc_info:
        read_suite_file(path, shown="x")
    assert message in str(exc_info.value)
    assert "sesame" not in str(exc_info.value)
