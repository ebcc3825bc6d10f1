"""Mappings of requests and responses: no text changes its type, and no message is a template."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonpath_ng.ext.parser import parse

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import CONVERSATION_NAMES
from scoregate.endpoints.request import compile_request, make_body_filler
from scoregate.endpoints.response import EndpointResponse, compile_fields, compile_path, to_reply
from scoregate.errors import EndpointError
from scoregate.kernel.types.conversation import Reply
from scoregate.store import StoredEndpoint

PLACE = EndpointContext("bot", "here", environment={"KEY": 'k"{{ input }}'})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
HOSTILE = (
    st.text() | JSON.map(json.dumps) | st.sampled_from(["{{ 7*7 }}", "${KEY}", '"}', "{% raw %}", "0" * 16 + ":0;"])
)
PLACES: list[tuple[Any, Any]] = [
    ({"q": "{{ input }}"}, lambda text: {"q": text}),
    ({"q": ["{{ input }}", {"r": "<{{ input }}>"}]}, lambda text: {"q": [text, {"r": f"<{text}>"}]}),
    ('{"q": "{{ input }}"}', lambda text: {"q": text}),
    ('{"q": {{ input }}, "n": 1}', lambda text: {"q": text, "n": 1}),
    ('{"q": "<{{ input }}>", "m": {{ messages }} }', lambda text: {"q": f"<{text}>", "m": [{"content": text}]}),
    ('{"q": {{ input | tojson }} }', lambda text: {"q": text}),
    ('{"q": [{% for m in messages %}"{{ m.content }}"{% endfor %}]}', lambda text: {"q": [text]}),
    ("{% set x %}<{{ input }}>{% endset %}{{ x }}", lambda text: f"<{text}>"),
    ("{{ input }}", lambda text: text),
    ("{{ messages }}", lambda text: [{"content": text}]),
]


def context(text: str = "hello", identity: Any = None) -> dict[str, Any]:
    names = dict.fromkeys(CONVERSATION_NAMES, identity)
    return {**names, "input": text, "messages": [{"content": text}], "system_prompt": "", "auth_token": ""}


@pytest.mark.parametrize(("mapping", "expected"), PLACES, ids=[str(place[0]) for place in PLACES])
@settings(deadline=None)
@given(text=HOSTILE)
def test_messages_of_users_stay_text(mapping: Any, expected: Any, text: str) -> None:
    assert make_body_filler(mapping, PLACE)(context(text)) == expected(text)


@settings(deadline=None)
@given(value=JSON)
def test_a_single_variable_keeps_its_type(value: Any) -> None:
    body = make_body_filler({"a": "{{ messages }}", "b": "{{ messages | list }}"}, PLACE)(
        context() | {"messages": [value]}
    )
    assert body == {"a": [value], "b": [value]}


@settings(deadline=None)
@given(value=JSON.filter(lambda value: value is not None and not isinstance(value, dict)))
def test_values_of_answers_keep_their_types(value: Any) -> None:
    for mapping in ({"output": "$.a"}, {"output": "{{ a }}"}, {"output": "{{ jsonpath('$.a') }}"}):
        assert reply({"a": value}, mapping).output == value


def reply(answer: Any, mapping: dict[str, str] | None) -> Reply:
    return to_reply(EndpointResponse(json.dumps(answer)), compile_fields(mapping, PLACE), PLACE)[0]


@pytest.mark.parametrize("name", CONVERSATION_NAMES)
def test_conversation_ids_have_many_names(name: str) -> None:
    body = make_body_filler({name: f"{{{{ {name} }}}}", "n": [f"{{{{ {name} }}}}"], "t": f"id {{{{ {name} }}}}"}, PLACE)
    assert body(context()) == {"n": []}
    assert body(context(identity=42)) == {name: 42, "n": [42], "t": "id 42"}


def test_a_template_can_set_the_value_without_conversation() -> None:
    mapping = {"a": "{{ session_id or 'new' }}", "b": "{{ chat_id | default('b') }}", "c": "{{ chat_id or none }}"}
    assert make_body_filler(mapping, PLACE)(context()) == {"a": "new", "b": "b", "c": None}


def test_a_list_extends_a_list() -> None:
    body = make_body_filler([{"role": "system"}, "{{ messages }}", ["{{ messages }}"]], PLACE)(context("x"))
    assert body == [{"role": "system"}, {"content": "x"}, [{"content": "x"}]]


def test_values_of_variables_are_no_templates() -> None:
    assert make_body_filler({"a": "${KEY}", "b": "${KEY} {{ input }}"}, PLACE)(context("x")) == {
        "a": 'k"{{ input }}',
        "b": 'k"{{ input }} x',
    }
    assert make_body_filler('{"a": "${KEY}", {% if input %}"b": 1{% endif %} }', PLACE)(context()) == {
        "a": 'k"{{ input }}',
        "b": 1,
    }


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__ }}",
        "{{ input.__class__.__mro__ }}",
        "{{ input | attr('__class__') }}",
        "{{ input['__class__'] }}",
        "{{ '{0.__class__}'.format(input) }}",
        "{{ (input | attr(['__cl', 'ass__'] | join)).x }}",
        "{{ messages.append(1) }}",
        "{{ messages.__init__.__globals__ }}",
        "{{ self.__init__ }}",
        "{{ cycler.__init__.__globals__.os }}",
        "{{ lipsum.__globals__ }}",
        "{{ config }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}{{ os }}",
        "{% for i in range(1000000) %}x{% endfor %}",
        "{{ input",
        "{{ nobody }}",
        "{{ messages[7] }}",
        "{{ 1 / 0 }}",
    ],
)
@pytest.mark.parametrize(
    "mapping", [lambda text: {"a": text}, lambda text: '{"a": ' + text + " }"], ids=["dict", "text"]
)
def test_templates_are_sandboxed(text: str, mapping: Any) -> None:
    definition = StoredEndpoint(url="http://here", request_mapping=mapping(text))
    with pytest.raises(EndpointError) as exc_info:
        compile_request(definition, PLACE).content(context())
    assert exc_info.value.kind in ("configuration_error", "mapping_error")


def test_answers_contain_no_templates_or_paths() -> None:
    replied = reply(
        {"output": "{{ 7*7 }}", "other": "$.output", "items": [1]}, {"output": "{{ output }}", "o": "{{ other }}"}
    )
    assert (replied.output, replied.metadata) == ("{{ 7*7 }}", {"o": "$.output"})
    assert reply({"items": [1]}, {"output": "{{ response.items }}"}).output == [1]
    with pytest.raises(EndpointError):
        reply({"a": "b"}, {"output": "{{ a.__class__ }}"})


def test_fields_of_a_reply_are_normalized() -> None:
    mapping = {"output": "Answer: {{ a }}", "context": "$.c", "metadata": "$.m", "tool_calls": "$.t", "model": "$.x"}
    replied = reply({"a": 1, "c": "page", "m": '{"k": 2}', "t": {"name": "f"}, "x": "small"}, mapping)
    assert replied == Reply(
        "Answer: 1", context=("page",), metadata={"k": 2, "model": "small"}, tool_calls=({"name": "f"},)
    )
    assert reply({"output": "", "metadata": "plain", "context": [1, "a"]}, None) == Reply(
        "", context=("1", "a"), metadata={"value": "plain"}
    )


@pytest.mark.parametrize("text", ["data.text", "$.a[", "{{ a", "$$"])
def test_an_invalid_response_mapping_is_refused(text: str) -> None:
    with pytest.raises(EndpointError) as exc_info:
        compile_fields({"output": text}, PLACE)
    assert exc_info.value.kind == "configuration_error"


STEPS = st.lists(st.sampled_from([".a", ".b", "[0]", "[1]", "['a']", '["b"]']), max_size=4).map(
    lambda s: "$" + "".join(s)
)
NESTED = st.recursive(
    st.integers() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=10,
)


@settings(deadline=None)
@given(path=STEPS, value=NESTED)
def test_plain_paths_match_the_library(path: str, value: Any) -> None:
    found = next((match.value for match in parse(path).find(value)), None)
    assert compile_path(path, PLACE)(value) == found


def test_other_paths_use_the_library() -> None:
    value = {"a": [{"n": 1, "t": "x"}, {"n": 2, "t": "y"}]}
    assert compile_path("$.a[?(@.n == 2)].t", PLACE)(value) == "y"
    assert compile_path("$..t", PLACE)(value) == "x"
    assert compile_path("$..nothing", PLACE)(value) is None


def test_a_text_with_an_id_shows_a_missing_id() -> None:
    mapping = '{"q": {{ input }}, "id": {{ session_id }} }'
    definition = StoredEndpoint(url="http://localhost/chat", request_mapping=mapping)
    with pytest.raises(EndpointError, match=r"there is no session_id before the first reply; write {% if session_id"):
        compile_request(definition, PLACE).content(context())
    assert json.loads(compile_request(definition, PLACE).content(context(identity="7"))) == {"q": "hello", "id": "7"}
