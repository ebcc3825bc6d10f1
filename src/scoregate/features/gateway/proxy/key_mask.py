"""Removes a provider's key from its answers: some servers return a request's headers, or name the key in errors."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from json import dumps
from urllib.parse import quote

_MASK = b"***"
# Shorter texts are parts of ordinary ones.
_SHORTEST = 8


class KeyMask:
    """Replaces a key by stars, as it is and in base64, in hex, and escaped as in URLs and JSON.

    Args:
        key: the key; empty if the provider gets none.
    """

    def __init__(self, key: str) -> None:
        # The longest first, as a shorter form may be a part of a longer one.
        self._forms = tuple(sorted(_find_forms(key), key=len, reverse=True)) if len(key) >= _SHORTEST else ()
        self._names = tuple(form.lower() for form in self._forms)
        self._bytes = frozenset(b"".join(self._forms))

    def hide(self, data: bytes) -> bytes:
        """The data without the key."""
        for form in self._forms:
            if form in data:
                data = data.replace(form, _MASK)
        return data

    def hide_in_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers without the key; names are in lower case. A header with the key in its name is left out."""
        text = "\n".join((*headers, *headers.values())).encode("utf-8", "surrogateescape")
        if not any(form in text for form in (*self._forms, *self._names)):  # nearly all answers
            return dict(headers)
        clean = {}
        for name, value in headers.items():
            if not any(form in name.encode("utf-8", "surrogateescape") for form in self._names):
                data = value.encode("utf-8", "surrogateescape")
                clean[name] = self.hide(data).decode("utf-8", "surrogateescape")
        return clean

    def find_start(self, data: bytes) -> int:
        """The position in data from which on it may be the start of the key; its length if it can't be one."""
        if not data or data[-1] not in self._bytes:
            return len(data)
        first = len(data)
        for form in self._forms:
            start = data.find(form[:1], max(0, len(data) - len(form) + 1))
            while 0 <= start < first:
                if form.startswith(data[start:]):
                    first = start
                start = data.find(form[:1], start + 1)
        return first


@lru_cache(maxsize=256)
def find_mask(key: str) -> KeyMask:
    """The mask for a key."""
    return KeyMask(key)


class StreamKeyMask:
    """Removes a key from a stream, also if the key is split between chunks.

    A chunk is passed on as it is, unless its end may be the start of the key; that part waits for the next chunk.
    """

    def __init__(self, mask: KeyMask) -> None:
        self._mask, self._rest = mask, b""
        self.is_changed = False

    def feed(self, chunk: bytes) -> bytes:
        """The chunk without the key, and without an end that may be the start of the key."""
        data = self._rest + chunk if self._rest else chunk
        clean = self._mask.hide(data)
        self.is_changed |= len(clean) != len(data)
        end = self._mask.find_start(clean)
        self._rest = clean[end:]
        return clean[:end]

    def close(self) -> bytes:
        """What is left at the end of the stream."""
        rest, self._rest = self._rest, b""
        return rest


def _find_forms(key: str) -> set[bytes]:
    data = key.encode("utf-8", "surrogateescape")
    forms = {data, data.hex().encode(), data.hex().upper().encode(), quote(data, safe="").encode()}
    forms.add(dumps(key)[1:-1].encode())
    for offset in range(3):  # the characters that depend on the key alone, after any bytes before it
        text = b64encode(bytes(offset) + data)
        core = text[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
        forms |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    return {form for form in forms if len(form) >= _SHORTEST}
