"""Every evaluator of scoregate.testing that a suite can subclass."""

import os
from dataclasses import dataclass

from scoregate.testing.evaluators import (
    BaseAccuracy,
    BaseAssertions,
    BaseAutomaticBattle,
    BaseCustomLLMJudge,
    BaseHasAllSubstrings,
    BaseIsEquals,
    BaseIsValidJSON,
    BaseLLMJudge,
    BaseManualBattle,
    BaseNSFW,
    BaseToxicity,
)
from scoregate.testing.models import (
    Assertion,
    BaseTestCase,
    BaseTestEvaluator,
    Evaluation,
    ScoreChoice,
    TestCaseConfig,
    Threshold,
)
from scoregate.testing.run import run_test_suite

LIMIT = 40


@dataclass
class Question(BaseTestCase):
    input: str
    expected_output: str
    cluster: str = "a"

    def hash(self) -> str:
        return self.input

    @property
    def test_case_config(self) -> TestCaseConfig:
        return TestCaseConfig(repeat_num_times=2, cluster=self.cluster, tags=["critical"])


class WithOutput:
    def output_mapper(self, output):
        return output


class IsEquals(WithOutput, BaseIsEquals):
    id = "is-equals"

    def test_case_mapper(self, test_case):
        return test_case.expected_output


class IsValidJson(WithOutput, BaseIsValidJSON):
    id = "is-valid-json"
    threshold = None


class HasAllSubstrings(WithOutput, BaseHasAllSubstrings):
    id = "has-all-substrings"

    def test_case_mapper(self, test_case):
        return [test_case.expected_output]


class Assertions(BaseAssertions):
    id = "assertions"

    def evaluate_assertions(self, test_case, output):
        return [Assertion(criterion="is short", passed=len(output) < LIMIT, required=True)]


class Accuracy(WithOutput, BaseAccuracy):
    id = "accuracy"


class NSFW(WithOutput, BaseNSFW):
    id = "nsfw"


class Toxicity(WithOutput, BaseToxicity):
    id = "toxicity"


class Custom(WithOutput, BaseCustomLLMJudge):
    id = "custom"
    criteria = "The answer is polite and short."


class Judge(BaseLLMJudge):
    id = "judge"
    model = "gpt-4o-mini"
    score_choices = [ScoreChoice(value=1, name="good"), ScoreChoice(value=0, name="bad")]

    def make_prompt(self, test_case, output, recent_overrides):
        return f"Is this good? {output}"


class Battle(WithOutput, BaseAutomaticBattle):
    id = "battle"
    criteria = "The better answer is polite and short."


class ManualBattle(WithOutput, BaseManualBattle):
    id = "manual-battle"
    criteria = "The better answer is polite."


class Length(BaseTestEvaluator):
    id = "length-limit"

    def __init__(self, limit):
        self.limit = limit
        self._unit = "characters"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(score=min(1, self.limit / len(output)), threshold=Threshold(gte=0.5))


CASES = [
    Question("When do you open?", "At nine."),
    Question("When do you close?", "At five.", "b"),
    Question("Open on Sundays?", "No."),
]
run_test_suite(
    id="sdk",
    test_cases=CASES,
    fn=lambda question: os.environ.get("GREETING", "") + ("At nine." if "open" in question.input else "At five."),
    evaluators=[
        IsEquals(),
        IsValidJson(),
        HasAllSubstrings(),
        Assertions(),
        Accuracy(),
        NSFW(),
        Toxicity(),
        Custom(),
        Judge(),
        Battle(),
        ManualBattle(),
        Length(LIMIT),
    ],
    max_test_case_concurrency=1,
)
