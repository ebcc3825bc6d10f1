"""What pytest writes of passing, failing, erring, skipped and scored tests: `pytest --junitxml ../junit-pytest.xml`."""

import pytest


@pytest.mark.parametrize(("country", "capital", "closeness"), [("France", "Paris", 0.9), ("Italy", "Milan", 0.25)])
def test_capital(record_property, country: str, capital: str, closeness: float) -> None:
    record_property("closeness", closeness)
    record_property("letters", 2 * (len(country) - 5))
    record_property("score.stars", f"{closeness * 5:g}/5")
    record_property("model", "rules-1")
    print(f"{country}: {capital}")
    assert capital == {"France": "Paris", "Italy": "Rome"}[country], "another city"


@pytest.fixture
def tool() -> None:
    raise RuntimeError("the tool is gone")


def test_with_a_tool(tool: None) -> None:
    pass


@pytest.mark.skip(reason="nobody knows")
def test_skipped() -> None:
    pass
