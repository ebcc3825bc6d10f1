"""Where the answer to a question is kept, if it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scoregate.models.account import Account
from scoregate.models.cache import Cache, Stored, cache_in
from scoregate.models.calls import Call
from scoregate.models.keys import key_of, question_of
from scoregate.models.surroundings import CacheMode


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer's place in a cache; `reads` is False where it is to be asked anew."""

    cache: Cache
    account: Account
    question: str
    key: tuple[Path, bytes]
    reads: bool

    def read(self) -> Stored | None:
        """The answer, if it is there and may be used."""
        return self.cache.get(self.key[1]) if self.reads else None

    def keep(self, body: bytes, *, model: str) -> Stored:
        """Put it there."""
        return self.cache.put(self.key[1], body, model=model)

    def count(self) -> None:
        """The question was asked here: the next time it is another one."""
        self.account.meter.ask(self.question)


def place_of(call: Call, account: Account) -> Kept | None:
    """Where its answer is kept; None where nothing is."""
    around = account.around
    if around.cache is CacheMode.OFF:
        return None
    cache = cache_in(around.cache_folder, writes=around.cache is not CacheMode.READONLY)
    question = question_of(call.provider, call.path, call.question)
    key = key_of(question, repeat=account.meter.repeat, occurrence=account.meter.asked(question))
    return Kept(cache, account, question, (around.cache_folder, key), around.cache is not CacheMode.REFRESH)
