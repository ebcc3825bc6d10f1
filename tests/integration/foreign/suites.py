"""Suites of Autoblocks' SDKs that call its platform in every way that goes past the local server."""

from __future__ import annotations

PYTHON = """
from dataclasses import dataclass

from autoblocks.testing.evaluators import BaseAutomaticBattle, BaseLLMJudge
from autoblocks.testing.models import BaseTestCase, CreateHumanReviewJob, ScoreChoice
from autoblocks.testing.run import run_test_suite
from autoblocks.tracer import AutoblocksTracer, flush

tracer = AutoblocksTracer()


@dataclass
class Case(BaseTestCase):
    input: str

    def hash(self):
        return self.input


class Battle(BaseAutomaticBattle[Case, str]):
    id = "battle"
    criteria = "the better one"

    def output_mapper(self, output):
        return output


class Judge(BaseLLMJudge[Case, str]):
    id = "is it good?"
    num_overrides = 2
    score_choices = [ScoreChoice(value=1, name="Good"), ScoreChoice(value=0, name="Bad")]

    def make_prompt(self, test_case, output, recent_overrides):
        return f"judge {output} after {[each.output_fields[0].value for each in recent_overrides]}"


def fn(test_case):
    tracer.send_event("thinking", properties={"of": test_case.input})
    return f"new {test_case.input}"


run_test_suite(
    id="a suite/of #1?",
    test_cases=[Case("first case"), Case("a/b"), Case("third")],
    fn=fn,
    evaluators=[Battle(), Judge()],
    human_review_job=CreateHumanReviewJob(assignee_email_address=["ann@example.com", "bob@example.com"], name="look"),
)
tracer.send_event("outside of a suite")
flush()
"""

JAVASCRIPT = """
import { AutoblocksTracer, flush } from '@autoblocks/client';
import { BaseAutomaticBattle, BaseLLMJudge, BaseTestEvaluator, runTestSuite } from '@autoblocks/client/testing';

interface Case { input: string }

const tracer = new AutoblocksTracer();

class Battle extends BaseAutomaticBattle<Case, string> {
  id = 'battle';
  criteria = 'the better one';
  outputMapper(args: { output: string }) { return args.output; }
}

class Judge extends BaseLLMJudge<Case, string> {
  id = 'is it good?';
  numOverrides = 2;
  get scoreChoices() { return [{ value: 1, name: 'Good' }, { value: 0, name: 'Bad' }]; }
  makePrompt(args: any) {
    const before = args.recentOverrides.map((each: any) => each.outputFields[0].value);
    return `judge ${args.output} after ${JSON.stringify(before)}`;
  }
}

(async () => {
  await runTestSuite<Case, string>({
    id: 'a suite/of #1?',
    testCaseHash: (testCase) => testCase.input,
    testCases: [{ input: 'first case' }, { input: 'a/b' }, { input: 'third' }],
    fn: ({ testCase }) => {
      tracer.sendEvent('thinking', { properties: { of: testCase.input } });
      return `new ${testCase.input}`;
    },
    evaluators: [new Battle(), new Judge()],
    humanReviewJob: { assigneeEmailAddress: ['ann@example.com', 'bob@example.com'], name: 'look' },
  });
  tracer.sendEvent('outside of a suite');
  await flush();
})();
"""
