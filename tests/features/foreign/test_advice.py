"""Advice that explains more than an SDK's own message. `tests/integration/foreign` checks the messages themselves."""

from __future__ import annotations

import pytest

from scoregate.features.foreign.bodies import advice_for


@pytest.mark.parametrize(
    ("message", "advised"),
    [
        (
            "The toxicity evaluator requires openai version 1.x. You can install it with …",
            "openai>=1,<2",
        ),
        ("The recall evaluator requires ragas version 0.2.x. You can …", "ragas==0.2.*"),
        ("You must set the OPENAI_API_KEY environment variable. When using …", "secrets.OPENAI_API_KEY"),
        ("You must set the 'OPENAI_API_KEY' environment variable to use …", "secrets.OPENAI_API_KEY"),
    ],
)
def test_a_known_error_has_advice(message: str, advised: str) -> None:
    assert advised in advice_for(message)


def test_an_unknown_error_has_none() -> None:
    assert advice_for("no openai here") == ""
