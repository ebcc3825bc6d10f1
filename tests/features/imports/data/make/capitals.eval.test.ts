import { expect, describe, test } from "vitest";
import { createHarness, createJudge, describeEval } from "vitest-evals";

const answer = (input: string) => (input.includes("France") ? "Paris" : "lima city");
const harness = createHarness({
  name: "capitals",
  run: async ({ input }) => {
    const output = answer(input);
    const messages = [{ role: "user", content: input }, { role: "assistant", content: output }];
    return { output, messages, usage: { inputTokens: 5, outputTokens: 2 } };
  },
});
const Short = createJudge("Short", async ({ output }) => ({
  score: output.length < 8 ? 1 : 0.4,
  metadata: { rationale: `${output.length} characters` },
}));

describeEval("capitals", { harness, judges: [Short], judgeThreshold: 0.6 }, (it) => {
  it.for([
    { name: "France", input: "Capital of France?" },
    { name: "Peru", input: "Capital of Peru?" },
  ])("$name", async ({ input }, { run }) => {
    expect((await run(input)).output).toBeTruthy();
  });
});

describe("plain", () => {
  let tries = 0;
  test("second try", { retry: 2 }, () => expect(++tries).toBeGreaterThan(1));
  test.skip("later", () => {});
});
