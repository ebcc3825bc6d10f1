"""Judges of Autoblocks' SDKs that cannot work where they are: what they say is what we have advice for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.foreign import suites
from tests.integration.foreign.conftest import Place

from scoregate.features.foreign.bodies import advice_for


def advice(place: Place) -> dict[str, str]:
    """By evaluator."""
    call = place.platform.said("/errors")
    return {each["evaluatorExternalId"]: advice_for(each["error"]["message"]) for each in call}


@pytest.mark.parametrize(
    "installed",
    ["None", "type('openai', (), {'__version__': '3.51.0'})"],
    ids=["no openai", "openai 3"],
)
def test_an_unsupported_openai(place: Place, python: Path, installed: str) -> None:
    place.platform.champions["a suite/of #1?", "a/b"] = "old"
    script = place.write("suite.py", f"import sys; sys.modules['openai'] = {installed}\n{suites.PYTHON}")
    assert place.run(python, script).returncode == 0
    text = advice(place)
    assert set(text) == {"battle", "is it good?"}
    assert all("openai>=1,<2" in each for each in text.values())


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_missing_key(place: Place, request: pytest.FixtureRequest, language: str) -> None:
    program = request.getfixturevalue("python" if language == "python" else "tsx")
    script = place.write("suite.ts", suites.PYTHON if language == "python" else suites.JAVASCRIPT)
    assert place.run(program, script, OPENAI_API_KEY="").returncode == 0
    assert "secrets.OPENAI_API_KEY" in advice(place)["is it good?"]
