// A suite in JavaScript with OpenTelemetry's SDK for Node.js. Its spans are sent at the end, after the cases.
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.MODULES}/`);
const { context, trace } = require("@opentelemetry/api");
const { BatchSpanProcessor, NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");
const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");

const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
provider.register();
const tracer = trace.getTracer("suite");
const say = (type, event = {}) => appendFileSync(`${process.env.SCOREGATE_EVENTS}/shop.jsonl`, JSON.stringify({ suite: "shop", type, ...event }) + "\n");

say("suite_started", { cases: 2 });
for (const name of ["first", "second"]) {
  say("case_started", { case: name, input: name });
  tracer.startActiveSpan("case", { attributes: { "scoregate.suite": "shop", "scoregate.case": name } }, (root) => {
    const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": JSON.stringify({ query: name }) };
    tracer.startSpan("execute_tool search", { attributes }, trace.setSpan(context.active(), root)).end();
    root.end();
  });
  say("case_output", { case: name, output: "done" });
  say("scored", { case: name, evaluator: "is-done", score: 1, threshold: { gte: 1 } });
  say("case_finished", { case: name });
}
say("suite_finished");
await provider.shutdown();
