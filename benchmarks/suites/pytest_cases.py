"""The small suite as pytest assertions: copied to a file that pytest collects."""
# mypy: disable-error-code="import-not-found,untyped-decorator"

import os

import pytest

CASES = int(os.environ.get("BENCH_CASES", "20"))


@pytest.mark.parametrize("case", [f"case {number}" for number in range(CASES)])
def test_case(case: str) -> None:
    """Pass where the output is the input."""
    assert case.lower() == case
