"""The examples of other frameworks and of scoregate: all run, and they agree."""

from __future__ import annotations

from collections.abc import Sequence

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_python
from tests.integration.migrate.test_braintrust import REQUIREMENTS as BRAINTRUST
from tests.integration.migrate.test_deepeval import REQUIREMENTS as DEEPEVAL
from tests.integration.migrate.test_pydantic_evals import REQUIREMENTS as PYDANTIC_EVALS


def run(reader: Reader, command: Sequence[str]) -> str:
    outcome = reader.run([*command])
    assert outcome.returncode == 0, f"{outcome.stdout}\n{outcome.stderr}"
    return outcome.stdout


def test_pydantic_evals(reader: Reader) -> None:
    use_python(reader, "pydantic-evals", PYDANTIC_EVALS)
    reader.environment["COLUMNS"] = "200"
    reader.follow()
    assert "MatchAnswer: 1.00" in run(reader, ["python", "theirs/capital.py"])
    ours = run(reader, ["python", "evals/eval_capital.py"])
    assert ours.startswith("✓ capital_eval: 1 case · 1 passed · ")
    assert "match_answer 1.000" in ours


def test_braintrust(reader: Reader) -> None:
    use_python(reader, "braintrust", BRAINTRUST)
    reader.models.answers("", {"choice": "C", "reasons": "They agree.", "reason": "They agree.", "answer": "Yes"})
    reader.follow()
    theirs = run(reader, ["braintrust", "eval", "--no-send-logs", "theirs/eval_example.py"])
    assert "100.00%" in theirs, theirs
    assert run(reader, ["python", "evals/eval_population.py"]).startswith("✓ Autoevals: 1 case · 1 passed · ")


def test_deepeval(reader: Reader) -> None:
    use_python(reader, "deepeval", DEEPEVAL)
    reader.environment["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    answer = {"reason": "It says the same.", "score": 10, "steps": ["Compare both."], "answer": "correct"}
    reader.models.answers("", answer)
    reader.follow()
    assert "1 passed" in run(reader, ["deepeval", "test", "run", "theirs/test_chatbot.py"])
    assert run(reader, ["python", "evals/eval_chatbot.py"]).startswith("✓ chatbot: 1 case · 1 passed · ")
