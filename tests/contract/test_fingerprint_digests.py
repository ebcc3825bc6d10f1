"""Runs under two versions of Python, or of scoregate, are compared: digests may not differ between them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from scoregate.core.events import Fingerprint
from scoregate.core.suite import Case
from scoregate.engine.fingerprint import fingerprint
from scoregate.testing.cases import describe, hasher

JUDGE = Path(__file__).parent / "documents" / "judge.txt"


@pytest.fixture
def found() -> Iterator[Fingerprint]:
    """Of an evaluator whose source uses much of the grammar."""
    module = sys.modules["judge_of_a_document"] = ModuleType("judge_of_a_document")
    module.__file__ = str(JUDGE)
    exec(compile(JUDGE.read_text(encoding="utf-8"), str(JUDGE), "exec"), module.__dict__)
    yield fingerprint(module.__dict__["Judge"]())
    del sys.modules["judge_of_a_document"]


def test_a_source_has_one_digest_under_every_python(found: Fingerprint) -> None:
    assert found.source == "4729ed28755c55bd"


def test_no_parameters_have_one_digest(found: Fingerprint) -> None:
    assert found.parameters == hashlib.blake2b(b"", digest_size=8).hexdigest()


def test_a_case_has_one_hash_and_one_digest() -> None:
    value = {"question": "Größe?", "tags": {"b", "a"}, "limit": 0.1, "none": None}
    assert hasher(["question", "tags"])(value) == "15e0c0ccf757435881f255d7d79fe6a6"
    assert describe(Case("x", value)).digest == "67be2e64"
