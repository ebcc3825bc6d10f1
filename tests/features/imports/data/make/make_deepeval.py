"""Three metrics of our own on four cases and a conversation: what deepeval keeps of a run."""

import os
import sys
from pathlib import Path

OUT = Path(sys.argv[1]).resolve()
os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="YES", DEEPEVAL_DISABLE_DOTENV="1")

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseConversationalMetric, BaseMetric
from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn


class Named:
    """What every metric of ours has."""

    title = ""

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self.async_mode = False
        self.strict_mode = False
        self.include_reason = True
        self.evaluation_model = "rules"

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return bool(self.success)

    @property
    def __name__(self):
        return self.title


class Correct(Named, BaseMetric):
    title = "Correct"

    def measure(self, test_case, *args, **kwargs):
        if test_case.actual_output == "?":
            raise ValueError("nothing to compare")
        self.score = 1.0 if test_case.actual_output == test_case.expected_output else 0.25
        self.reason = f"{test_case.actual_output} for {test_case.expected_output}"
        self.success = self.score >= self.threshold
        self.evaluation_cost = 0.001
        return self.score


class Wordiness(Named, BaseMetric):
    """Lower is better."""

    title = "Wordiness"

    def measure(self, test_case, *args, **kwargs):
        self.score = min(1.0, len(test_case.actual_output) / 20)
        self.reason = "its length"
        self.success = self.score <= self.threshold
        return self.score


class Turns(Named, BaseConversationalMetric):
    title = "Turns"

    def measure(self, test_case, *args, **kwargs):
        self.score = 1.0
        self.reason = "short enough"
        self.success = True
        return self.score


def main() -> None:
    os.environ["DEEPEVAL_RESULTS_FOLDER"] = str(OUT / "deepeval-runs")
    quietly = {
        "display_config": DisplayConfig(show_indicator=False, print_results=False),
        "cache_config": CacheConfig(write_cache=False),
        "error_config": ErrorConfig(ignore_errors=True),
        "async_config": AsyncConfig(run_async=False),
    }
    cases = [
        LLMTestCase(name="france", input="The capital of France?", actual_output="Paris", expected_output="Paris"),
        LLMTestCase(
            input="The capital of Italy?", actual_output="The city of Milan", expected_output="Rome", token_cost=0.002
        ),
        LLMTestCase(name="peru", input="The capital of Peru?", actual_output="?", expected_output="Lima"),
        LLMTestCase(
            input="The capital of Spain?", actual_output="Madrid", expected_output="Madrid", completion_time=0.5
        ),
    ]
    evaluate(test_cases=cases, metrics=[Correct(), Wordiness()], identifier="capitals", **quietly)
    talk = ConversationalTestCase(
        name="talk", turns=[Turn(role="user", content="Hello"), Turn(role="assistant", content="Good day")]
    )
    evaluate(test_cases=[talk], metrics=[Turns()], **quietly)


main()
