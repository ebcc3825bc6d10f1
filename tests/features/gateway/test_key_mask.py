"""The key of a provider is removed from answers, in every form and however an answer is split."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from itertools import pairwise
from urllib.parse import quote

from hypothesis import example, given
from hypothesis import strategies as st

from scoregate.features.gateway.proxy.key_mask import KeyMask, StreamKeyMask

KEY = 'sk-re"al/0123+456~789'
MASK = KeyMask(KEY)
FORMS = {
    KEY.encode(),
    json.dumps(KEY).encode(),
    quote(KEY, safe="").encode(),
    KEY.encode().hex().encode(),
    KEY.encode().hex().upper().encode(),
    *(b64encode(b"x" * n + KEY.encode() + b"y") for n in range(4)),
    *(urlsafe_b64encode(b"x" * n + KEY.encode()) for n in range(4)),
}


def test_each_form_is_replaced() -> None:
    for form in FORMS:
        clean = MASK.hide(b"before " + form + b" after")
        assert b"***" in clean, form
        assert len(clean) <= len(b"before *** after") + 8, form  # base64 keeps what depends on its neighbours
        assert (clean[:7], clean[-6:]) == (b"before ", b" after")


def test_other_data_stays() -> None:
    for data in (b"", b"sk-re", KEY[:-1].encode(), KEY.encode()[1:], b"\xff\x00" * 100):
        assert MASK.hide(data) == data
    assert KeyMask("").hide(b"anything") == b"anything"
    assert KeyMask("short").hide(b"a short text") == b"a short text"


def test_headers_are_masked() -> None:
    headers = {"x-a": f"Bearer {KEY}!", "content-type": "text/plain", "x-é": "\udcff"}
    assert MASK.hide_in_headers(headers) == {**headers, "x-a": "Bearer ***!"}
    assert MASK.hide_in_headers({f"x-{KEY.lower()}": "a", "x-b": "b"}) == {"x-b": "b"}


@given(st.lists(st.sampled_from([KEY[:4], KEY[4:], KEY, "sk", "\n", "data: ", "s"]), max_size=12), st.data())
@example([KEY, KEY], None)
def test_a_stream_in_any_chunks_hides_the_key(texts: list[str], data: st.DataObject | None) -> None:
    whole = "".join(texts).encode()
    cuts = data.draw(st.lists(st.integers(0, len(whole)))) if data is not None else range(len(whole))
    edges = [0, *sorted(cuts), len(whole)]
    mask = StreamKeyMask(MASK)
    pieces = [mask.feed(whole[start:end]) for start, end in pairwise(edges)]
    joined = b"".join((*pieces, mask.close()))
    assert KEY.encode() not in joined
    assert joined == MASK.hide(whole)
    assert mask.is_changed == (KEY.encode() in whole)


def test_only_a_possible_start_of_a_key_waits() -> None:
    mask = StreamKeyMask(MASK)
    assert mask.feed(b"data: a\n\n") == b"data: a\n\n"
    assert mask.feed(b"data: sk-r") == b"data: "
    assert mask.feed(b"ise\n\n") == b"sk-rise\n\n"
    assert mask.close() == b""
