"""Suites whose output, patterns or names once gave a wrong verdict."""

from scoregate import evaluate
from scoregate.scorers import contains, equals, regex

ANSWER = {"answer": "I don't know.", "sources": ["delivery"]}

evaluate("object", data=[{"input": "q", "expected": "delivery"}], task=lambda _: ANSWER, scorers=[contains()])
evaluate("field", data=[{"input": "q", "expected": "know"}], task=lambda _: ANSWER, scorers=[contains(field="answer")])
evaluate("pattern", data=[{"input": "q"}], task=lambda _: "a" * 40 + "!", scorers=[regex(r"(a+)+$")])
evaluate("nothing", data=[{"input": "q"}], task=lambda _: None, scorers=[equals(None)])
