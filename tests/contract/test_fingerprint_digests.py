"""Runs under two versions of Python, or of scoregate, are compared: digests may not differ between them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from scoregate.core.event_values import Fingerprint
from scoregate.core.suite import Case
from scoregate.engine.fingerprint import fingerprint_object
from scoregate.testing.suite import describe_case, make_hasher

JUDGE = Path(__file__).parent / "documents" / "judge.txt"


@pytest.fixture
def fingerprints() -> Iterator[Fingerprint]:
    """The digests of an evaluator whose source uses much of the grammar."""
    module = sys.modules["judge_of_a_document"] = ModuleType("judge_of_a_document")
    module.__file__ = str(JUDGE)
    exec(compile(JUDGE.read_text(encoding="utf-8"), str(JUDGE), "exec"), module.__dict__)
    yield fingerprint_object(module.__dict__["Judge"]())
    del sys.modules["judge_of_a_document"]


def test_a_source_has_one_digest_under_every_python(fingerprints: Fingerprint) -> None:
    assert fingerprints.source == "4729ed28755c55bd"


def test_no_parameters_have_one_digest(fingerprints: Fingerprint) -> None:
    assert fingerprints.parameters == hashlib.blake2b(b"", digest_size=8).hexdigest()


def test_a_case_has_one_hash_and_one_digest() -> None:
    value = {"question": "Größe?", "tags": {"b", "a"}, "limit": 0.1, "none": None}
    assert make_hasher(["question", "tags"])(value) == "15e0c0ccf757435881f255d7d79fe6a6"
    assert describe_case(Case("x", value)).digest == "67be2e64"


KNOWN_CLASSES = json.loads((Path(__file__).parent.parent / "data/previous_version/evaluator_classes.json").read_text())


@pytest.mark.parametrize("name", KNOWN_CLASSES)
def test_classes_of_scoregate_have_the_names_of_stored_runs(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    bases = getattr(import_module(module), attribute).__mro__
    own = [base for base in bases if base.__module__.startswith("scoregate.")]
    assert " < ".join(f"{base.__qualname__} {base.__dict__.get('version', 1)}" for base in own) == KNOWN_CLASSES[name]
