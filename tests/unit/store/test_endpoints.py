"""Endpoints in the store: they round-trip, and never contain secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scoregate.enums import ConnectionType
from scoregate.errors import StoreError
from scoregate.store import ENDPOINTS, Store, StoredEndpoint, open_store
from scoregate.store.secret_references import is_secret_name

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAME = TEXT.filter(lambda text: not is_secret_name(text))  # under which text may stand in clear
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=10,
)
IN_CLEAR: list[dict[str, Any]] = [
    {"auth_token": "hunter2-in-clear"},
    {"auth_token": "sk-hunter2-in-clear ${KEY}"},
    {"auth": {"type": "bearer_token", "token": "hunter2-in-clear"}},
    {"auth": {"type": "api_key", "key": "hunter2-in-clear"}},
    {"request_headers": {"X-Api-Key": "hunter2-in-clear"}},
    {"request_headers": {"authorization": "Bearer hunter2-in-clear"}},
    {"query_params": {"access_token": "hunter2-in-clear"}},
    {"request_mapping": {"a": [{"password": "hunter2-in-clear"}]}},
    {"url": "https://me:hunter2-in-clear@host/"},
    {"url": "https://host/?api_key=hunter2-in-clear"},
]


@settings(deadline=None)
@given(body=st.dictionaries(NAME, JSON, max_size=3))
def test_any_mapping_round_trips(body: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    store = open_store(tmp_path_factory.mktemp("store"))
    kept = StoredEndpoint(url="http://host", request_mapping={"x": body}, connection_type=ConnectionType.REST)
    store.update(ENDPOINTS, ("bot",), lambda _: [kept])
    assert [found.model_dump() for found in store.read(ENDPOINTS, ("bot",))] == [kept.model_dump()]


@pytest.mark.parametrize("fields", IN_CLEAR, ids=str)
def test_a_plain_secret_is_refused_and_hidden(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"is a secret in clear.*\$\{NAME\}") as exc_info:
        StoredEndpoint(**{"url": "https://host/", **fields})
    assert "hunter2" not in str(exc_info.value)


def test_a_secret_in_a_file_is_refused_on_its_line(store: Store) -> None:
    path = Path(store.location(ENDPOINTS, ("bot",)))
    store.update(ENDPOINTS, ("bot",), lambda _: [StoredEndpoint(url="https://host/")])
    path.write_text('name = "bot"\nurl = "https://host/"\nauth_token = "hunter2-in-clear"\n', encoding="utf-8")
    with pytest.raises(StoreError, match=r"bot\.toml:3: auth_token: is a secret in clear") as exc_info:
        list(store.read(ENDPOINTS, ("bot",)))
    assert "hunter2" not in str(exc_info.value)


@pytest.mark.parametrize(
    "fields",
    [
        {"auth_token": "Bearer ${TOKEN}"},
        {"url": "https://${USER}:${PASSWORD}@${HOST}/?api_key=${KEY}&lang=en"},
        {"request_headers": {"Authorization": "Bearer {{ auth_token }}", "X-Trace": "a long text that is no secret"}},
        {"request_mapping": {"max_tokens": "2000", "token_budget": "many", "api_key": "${KEY}"}},
    ],
    ids=str,
)
def test_the_name_of_a_secret_is_valid(fields: dict[str, Any]) -> None:
    StoredEndpoint(**{"url": "https://host/", **fields})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "REST needs url"),
        ({"connection_type": "SDK", "url": "http://host"}, "SDK needs function"),
        ({"url": "http://h", "auth_token": "${A}", "auth": {"type": "api_key", "key": "${A}"}}, "exclude each other"),
        ({"url": "http://h", "timeout_seconds": 0}, "timeout_seconds"),
        ({"url": "http://h", "hedaers": {}}, "hedaers"),
    ],
)
def test_invalid_endpoints_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        StoredEndpoint(**fields)
