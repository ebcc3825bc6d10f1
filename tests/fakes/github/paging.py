"""Pages and the Link header that leads through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from tests.fakes.github.exchange import Answer, Call

T = TypeVar("T")


def page_of(call: Call, items: Sequence[T], default: int = 30) -> tuple[list[T], dict[str, str]]:
    """The items of the page that was asked for, and the headers to send with them; over 100 a page is cut to 100."""
    size = min(100, max(1, int(call.query.get("per_page", default))))
    number = max(1, int(call.query.get("page", 1)))
    last = max(1, -(-len(items) // size))
    pages = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
    kept = {
        rel: page for rel, page in pages.items() if 1 <= page <= last and (page < number) == (rel in ("prev", "first"))
    }
    kept = {rel: page for rel, page in kept.items() if page != number}
    links = [f'<{call.url}?{urlencode({**call.query, "page": page})}>; rel="{rel}"' for rel, page in kept.items()]
    return list(items[(number - 1) * size : number * size]), {"link": ", ".join(links)} if links else {}


def listed(call: Call, shown: Sequence[Any]) -> Answer:
    """A bare list, paged."""
    items, headers = page_of(call, shown)
    return Answer(items, headers=headers)


def counted(call: Call, key: str, shown: Sequence[Any]) -> Answer:
    """A list inside an object that has the total number."""
    items, headers = page_of(call, shown)
    return Answer({"total_count": len(shown), key: items}, headers=headers)
