"""What LangChain's models say that they used is charged to the case: ragas passes our callbacks on to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoregate.models.account import Account


@contextmanager
def charged(*, asks: bool) -> Iterator[list[Any]]:
    """Callbacks for LangChain, which charge the case that runs here; none where no model is asked.

    Raises:
        BudgetSpent: the run may not spend what a call takes.
    """
    if not asks:
        yield []
        return
    from scoregate.models.account import Account

    account = Account.here()
    with account.within_budget():
        yield [_kind()(account)]


@cache
def _kind() -> Any:
    return type("Listener", (_Listener, import_module("langchain_core.callbacks").BaseCallbackHandler), {})


class _Listener:
    def __init__(self, account: Account) -> None:
        self._account = account
        self._providers: dict[Any, str] = {}

    def on_chat_model_start(self, *_: Any, run_id: Any, metadata: Mapping[str, Any] | None = None, **__: Any) -> None:
        """Remember who is asked."""
        self._providers[run_id] = str((metadata or {}).get("ls_provider") or "openai")

    def on_llm_end(self, response: Any, *, run_id: Any, **_: Any) -> None:
        """Charge what the answer used."""
        from scoregate.models.usages import usage_of

        told = response.llm_output or {}
        model = str(told.get("model_name") or told.get("model") or "unknown")
        used = usage_of({"usage": told.get("token_usage") or told.get("usage")}, model)
        provider = self._providers.pop(run_id, "openai")
        self._account.charge(self._account.priced(used, provider=provider, model=model))
