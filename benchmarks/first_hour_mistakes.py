"""Five mistakes of a first hour, written with each framework: what `first_hour.py` checks and runs."""

from dataclasses import dataclass

MISTAKES = (
    "wrong task signature",
    "scorer for another output type",
    "no scorer in the list of scorers",
    "wrong `expected`",
    "misspelled option",
)


@dataclass(frozen=True)
class Snippets:
    """Suites of one framework.

    Attributes:
        prelude: what they share.
        right: a suite without a mistake, which no type checker may complain about.
        wrong: a suite for each mistake.
    """

    prelude: str
    right: str
    wrong: tuple[str, ...]


_FUNCTIONS = """
def answer(question: str) -> str:
    return "Paris"

def add_one(number: int) -> str:
    return str(number + 1)
"""
# What a message must name: function and types, scorer, value, field or scorer, option.
NAMED = (
    (r"add_one|number \+ 1", r"\bint\b"),
    (r"is_large|actual_output", r"'str' and 'int'"),
    (r"'int'|int object|: 3\b",),
    (r"compare|expected", r"\bint\b"),
    ("concurency",),
)

SCOREGATE = Snippets(
    f"""
from scoregate import Case, evaluate
from scoregate.scorers import contains
{_FUNCTIONS}
def is_large(output: int) -> bool:
    return output > 3

def compare(output: str, expected: str) -> bool:
    return expected.lower() in output.lower()

question = "What is the capital of France?"
""",
    'evaluate("a", data=[Case(question, "Paris")], task=answer, scorers=[compare, contains()], concurrency=3)',
    (
        'evaluate("a", data=[Case(question, "Paris")], task=add_one, scorers=[compare])',
        'evaluate("a", data=[Case(question, "Paris")], task=answer, scorers=[is_large])',
        'evaluate("a", data=[Case(question, "Paris")], task=answer, scorers=[contains, 3])',
        'evaluate("a", data=[Case(question, 3)], task=answer, scorers=[compare])',
        'evaluate("a", data=[Case(question, "Paris")], task=answer, scorers=[compare], concurency=3)',
    ),
)
PYDANTIC_EVALS = Snippets(
    f"""
from dataclasses import dataclass
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains, Evaluator, EvaluatorContext
{_FUNCTIONS}
@dataclass
class is_large(Evaluator[str, int]):
    def evaluate(self, ctx: EvaluatorContext[str, int]) -> bool:
        return ctx.output > 3

@dataclass
class compare(Evaluator[str, str]):
    def evaluate(self, ctx: EvaluatorContext[str, str]) -> bool:
        return (ctx.expected_output or "").lower() in ctx.output.lower()

question = "What is the capital of France?"
case = Case(name="capital", inputs=question, expected_output="Paris")
""",
    'Dataset(name="a", cases=[case], evaluators=[compare()]).evaluate_sync(answer, max_concurrency=3).print()',
    (
        'Dataset(name="a", cases=[case], evaluators=[compare()]).evaluate_sync(add_one).print()',
        'Dataset(name="a", cases=[case], evaluators=[is_large()]).evaluate_sync(answer).print()',
        'Dataset(name="a", cases=[case], evaluators=[Contains, 3]).evaluate_sync(answer).print()',
        'Dataset(name="a", cases=[Case(name="capital", inputs=question, expected_output=3)], evaluators=[compare()])'
        ".evaluate_sync(answer).print()",
        'Dataset(name="a", cases=[case], evaluators=[compare()]).evaluate_sync(answer, max_concurency=3).print()',
    ),
)
BRAINTRUST = Snippets(
    f"""
from autoevals import Levenshtein
from braintrust import Eval, EvalCase
{_FUNCTIONS}
def is_large(input: str, output: int, expected: str) -> bool:
    return output > 3

def compare(input: str, output: str, expected: str) -> bool:
    return expected.lower() in output.lower()

question = "What is the capital of France?"
case = EvalCase(input=question, expected="Paris")
""",
    'Eval("a", data=[case], task=answer, scores=[compare, Levenshtein], max_concurrency=3, no_send_logs=True)',
    (
        'Eval("a", data=[case], task=add_one, scores=[compare], no_send_logs=True)',
        'Eval("a", data=[case], task=answer, scores=[is_large], no_send_logs=True)',
        'Eval("a", data=[case], task=answer, scores=[Levenshtein, 3], no_send_logs=True)',
        'Eval("a", data=[EvalCase(input=question, expected=3)], task=answer, scores=[compare], no_send_logs=True)',
        'Eval("a", data=[case], task=answer, scores=[compare], no_send_logs=True, max_concurency=3)',
    ),
)
DEEPEVAL = Snippets(
    f"""
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase
{_FUNCTIONS}
class compare(BaseMetric):
    threshold = 0.5
    async_mode = False
    def measure(self, test_case: LLMTestCase) -> float:
        self.score = float((test_case.expected_output or "").lower() in (test_case.actual_output or "").lower())
        return self.score
    async def a_measure(self, test_case: LLMTestCase) -> float:
        return self.measure(test_case)
    def is_successful(self) -> bool:
        return bool(self.score)

class is_large(compare):
    def measure(self, test_case: LLMTestCase) -> float:
        self.score = float(test_case.actual_output > 3)
        return self.score

question = "What is the capital of France?"

def make_case(output: str) -> LLMTestCase:
    return LLMTestCase(input=question, actual_output=output, expected_output="Paris")
""",
    "evaluate([make_case(answer(question))], [compare()])",
    (
        "evaluate([make_case(add_one(question))], [compare()])",
        "evaluate([make_case(answer(question))], [is_large()])",
        "evaluate([make_case(answer(question))], [compare, 3])",
        "evaluate([LLMTestCase(input=question, actual_output=answer(question), expected_output=3)], [compare()])",
        "evaluate([make_case(answer(question))], [compare()], max_concurency=3)",
    ),
)
