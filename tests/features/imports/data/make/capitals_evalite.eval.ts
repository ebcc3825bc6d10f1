import { evalite } from "evalite";
import { reportTrace } from "evalite/traces";

const ANSWERS: Record<string, string> = { "Capital of France?": "Paris", "Capital of Peru?": "Quito" };

evalite("capitals", {
  data: [
    { input: "Capital of France?", expected: "Paris" },
    { input: "Capital of Peru?", expected: "Lima" },
    { input: "Capital of Atlantis?", expected: "" },
    { input: "Capital of Spain?", expected: "Madrid" },
  ],
  task: async (input) => {
    if (input.includes("Atlantis")) throw new Error("unknown country");
    reportTrace({ input: [{role: "user", content: input}], output: "x", usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 }, start: 1, end: 2 });
    return ANSWERS[input] ?? "Madrid";
  },
  scorers: [
    { name: "exact", description: "the same text", scorer: ({ output, expected }) => ({ score: output === expected ? 1 : 0, metadata: { output } }) },
    { name: "brief", scorer: ({ output, input }) => { if (input.includes("Spain")) throw new Error("no score"); return 1 - output.length / 100; } },
  ],
  trialCount: 2,
});
evalite.each([{ name: "a", input: 1 }, { name: "b", input: 2 }])("variants", {
  data: [{ input: { n: 1 }, expected: 1 }],
  task: async (input, v) => input.n * v,
  scorers: [{ name: "none", scorer: () => null as any }],
});
