"""Runs under two versions of Python, or of scoregate, are compared: digests may not differ between them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scoregate import scorers
from scoregate.engine.fingerprint import fingerprint_object
from scoregate.evals.scorers import build_scorers
from scoregate.kernel.types.event_values import Fingerprint
from scoregate.kernel.types.suite import Case
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


# The parameters of scorers as runs before `field` stored them: a scorer without a field must keep its baseline.
SCORERS_WITHOUT_A_FIELD: dict[str, Callable[[], Any]] = {
    "4f76e64d2c47db85": lambda: scorers.contains("a"),
    "54508abeaedfba47": lambda: scorers.contains_all(["a"]),
    "7501b237cb0586a6": lambda: scorers.contains_any(["a"], ignore_case=True),
    "78ea6c15c066425d": lambda: scorers.regex("a+"),
    "2a1da47f8ee35e8f": lambda: scorers.length(max=3),
    "2513f376b10fb0be": scorers.levenshtein,
    "bfe9de4ca165d2b4": lambda: scorers.similarity("a"),
    "d3b6d2fcedca979b": scorers.rouge_l,
    "69dce4ef50525f44": scorers.bleu,
    "cf867db1ec1e7589": scorers.embedding_similarity,
    "ef642f5366956e66": scorers.pii_free,
    "5bbc1e3202211428": lambda: scorers.judge("Is it good?"),
    "c960d87df312f3ba": lambda: scorers.choice_judge("How good?", {"good": 1, "bad": 0}),
    "97c31cdefe8ac540": scorers.pairwise,
    "569ede48ca27695f": scorers.goal_reached,
    "3a55f710190f0e3a": lambda: scorers.plan_followed("a, b"),
}


@pytest.mark.parametrize("parameters", SCORERS_WITHOUT_A_FIELD)
def test_a_scorer_without_a_field_keeps_its_fingerprint(parameters: str) -> None:
    problems: list[str] = []
    (built,) = build_scorers([SCORERS_WITHOUT_A_FIELD[parameters]()], ["input", "expected"], problems).scorers
    assert built.info.fingerprint is not None
    assert (built.info.fingerprint.parameters, problems) == (parameters, [])
