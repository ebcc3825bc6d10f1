"""Which values are secret, and in which forms they are found."""

from __future__ import annotations

import json

import pytest

from scoregate.ci.secrets import Redactor, secret_values


def test_names_tell_which_values_are_secret() -> None:
    environ = {
        "OPENAI_API_KEY": "sk-abcdefgh",
        "db_password": "correct horse",
        "GH_TOKEN": "ghs_abcdefgh",
        "CLIENT_SECRET_V2": "0123456789",
        "SHORT_KEY": "word",
        "INPUT_KEY": "production-evals",
        "SCOREGATE_KEY": "production-evals",
        "HOME": "/home/somebody",
    }
    assert secret_values(environ) == {"sk-abcdefgh", "correct horse", "ghs_abcdefgh", "0123456789"}


@pytest.mark.parametrize("secret", ["plain-secret", 'quote"back\\slash', "émigré ß 日本", "first line\nsecond line"])
def test_a_secret_is_found_as_it_stands_and_as_json_has_it(secret: str) -> None:
    redact = Redactor({secret})
    for text in (
        secret,
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        json.dumps({"a": [f"x{secret}y"]}),
    ):
        clean = redact.text(text)
        assert "***" in clean
        assert not any(line in clean for line in secret.split("\n"))


def test_a_secret_within_a_longer_one_does_not_uncover_the_rest() -> None:
    assert Redactor({"abcdefgh", "abcdefgh-and-more"}).text("abcdefgh-and-more") == "***"


@pytest.mark.parametrize(
    "line",
    ["::add-mask::token-1%25", "  ::add-mask::token-1%25", "text ##[add-mask]token-1%25", "::ADD-MASK::token-1%25"],
)
def test_what_a_script_masks_is_secret_from_then_on(line: str) -> None:
    redact = Redactor()
    redact.listen(line)
    assert redact.text("so token-1% is it") == "so *** is it"


def test_a_script_cannot_mask_everything() -> None:
    redact = Redactor()
    for number in range(10_000):
        redact.listen(f"::add-mask::{number:08}")
    redact.listen("::add-mask::e")
    assert redact.text("e 00009999 00000007") == "e 00009999 ***"
