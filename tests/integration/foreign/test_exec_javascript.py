"""Suites of Autoblocks' SDK for JavaScript, unmodified, under `scoregate exec`."""

from __future__ import annotations

import shutil
from statistics import mean

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.foreign import suites
from tests.integration.foreign.bench import DOCUMENTS, Bench, junit_scores, means, rows
from tests.integration.host.conftest import Ran

pytestmark = pytest.mark.usefixtures("project_modules")
TSX = "node_modules/.bin/tsx"
SUITE = """
import { BaseTestEvaluator, runTestSuite } from '@autoblocks/client/testing';

class Good extends BaseTestEvaluator<{ input: string }, string> {
  id = 'good';
  evaluateTestCase() { return { score: 1, threshold: { gte: 1 } }; }
}

let ran = 0;
(async () => {
  await runTestSuite<{ input: string }, string>({
    id: 'demo',
    testCaseHash: ['input'],
    testCases: [...Array(40).keys()].map((n) => ({ input: `case ${n}` })),
    evaluators: [new Good()],
    maxTestCaseConcurrency: 1,
    fn: async ({ testCase }) => {
      ran += 1;
      // HERE
      return testCase.input;
    },
  });
})();
"""


def run(bench: Bench, here: str = "", *, words: tuple[str, ...] = ()) -> Ran:
    """A suite of 40 cases that does something in each of them."""
    bench.project.write("run.ts", SUITE.replace("// HERE", here))
    return bench.exec(*words, "--", TSX, "run.ts")


def test_the_documented_example_runs(bench: Bench) -> None:
    shutil.copy(DOCUMENTS / "run.ts", bench.project.root)
    outcome = bench.exec("-m", "my first run", "--", "npx", "tsx", "run.ts")
    posted = {
        name: sorted(score for (_, evaluator), score in bench.posted.items() if evaluator == name)
        for name in ("has-all-substrings", "is-friendly")
    }
    failed = posted["has-all-substrings"].count(0)
    assert [len(scores) for scores in posted.values()] == [400, 400]
    assert 0 < failed < 400
    assert outcome.exit_code == 1, outcome.output
    assert outcome.statuses == {"passed": 400 - failed, "failed": failed}
    assert {name: [round(score, 3) for score in scores] for name, scores in posted.items()} == junit_scores(outcome)
    assert {name: row["mean"] for name, row in rows(outcome).items()} == {
        name: pytest.approx(mean(scores)) for name, scores in posted.items()
    }
    assert means(outcome) == {name: pytest.approx(mean(scores), abs=6e-4) for name, scores in posted.items()}
    assert "my first run" in outcome.comment
    assert f"my-test-suite: 400 cases, {400 - failed} passed" in outcome.output
    assert bench.hosts <= {"127.0.0.1", "localhost", "::1"}


def test_a_run_like_its_base_is_green(bench: Bench) -> None:
    assert run(bench, words=("--out", "before")).exit_code == 0
    outcome = run(bench, words=("--baseline", "before"))
    assert outcome.exit_code == 0, outcome.output
    assert rows(outcome)["good"]["delta"] == 0


@pytest.mark.parametrize(
    ("here", "message"),
    [
        ("if (ran === 20) process.exit(0);", "didn't finish"),
        ("if (ran === 20) process.exit(5);", "exit code 5"),
        ("if (ran === 20) setImmediate(() => { throw new Error('out of the suite'); });", "out of the suite"),
        ("throw new Error('it broke');", "every case has an error"),
        ("if (ran === 20) process.env.AUTOBLOCKS_CLI_SERVER_ADDRESS = 'http://127.0.0.1:9';", "didn't finish"),
        ("if (ran === 20) process.kill(process.pid, 'SIGKILL');", "A script failed"),
    ],
    ids=["leaves", "leaves with a code", "dies", "raises", "loses the server", "killed"],
)
def test_failures_are_never_green(bench: Bench, here: str, message: str) -> None:
    outcome = run(bench, here)
    assert outcome.exit_code == 3, outcome.output
    assert message in outcome.output


def test_the_end_of_the_server_ends_it(bench: Bench) -> None:
    pid = f"Number(require('fs').readFileSync({str(bench.project.root / 'pid')!r}))"
    here = f"if (ran === 20) {{ process.kill({pid}, 'SIGTERM'); await new Promise(() => setInterval(() => 0, 1e6)); }}"
    bench.project.write("run.ts", SUITE.replace("// HERE", here))
    process = bench.project.start("exec", "--", TSX, "run.ts", **bench.environ)
    bench.project.write("pid", str(process.pid))
    outcome = bench.project.finish(process)
    assert outcome.exit_code == 130, outcome.output
    assert outcome.run["complete"] is False


def test_a_filter_that_matches_nothing_is_never_green(bench: Bench) -> None:
    outcome = run(bench, words=("--suite", "other*"))
    assert outcome.exit_code == 3
    assert "A filter matches no suite" in outcome.output


def test_the_sdk_gets_the_filter(bench: Bench) -> None:
    outcome = run(bench, "process.exit(9)", words=("--suite", "*ther"))
    assert "exit code 9" not in outcome.output
    assert run(bench, words=("--suite", "d?mo")).statuses == {"passed": 40}


def test_platform_data_is_stored_locally(bench: Bench, server: OpenAIServer) -> None:
    server.answers(r"\[Challenger\]", {"reason": "so", "result": "2"})
    server.answers(r"^judge", {"reason": "so", "answer": "Good"})
    bench.project.write("run.ts", suites.JAVASCRIPT)
    first = bench.exec("--", TSX, "run.ts", AUTOBLOCKS_API_KEY="real-key-of-ours")
    assert first.exit_code == 0, first.output
    assert first.run["suites"][0]["reviews"] == ["look"]
    assert "battle" not in rows(first)
    second = bench.exec("--", TSX, "run.ts")
    assert rows(second)["battle"]["mean"] == 1, second.output
    assert (bench.project.root / ".scoregate/champions").is_dir()
    assert bench.hosts <= {"127.0.0.1", "localhost", "::1"}


def test_suites_in_a_framework_are_recorded(bench: Bench) -> None:
    inner = SUITE.replace("(async () => {", "test('the suite', async () => {").replace("})();", "});")
    bench.project.write("evals/demo.test.ts", f"import {{ test }} from 'vitest';\n{inner}")
    outcome = bench.exec("--", "npx", "vitest", "run")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 40}
