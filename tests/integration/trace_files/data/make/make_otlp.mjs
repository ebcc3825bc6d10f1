// OpenTelemetry's SDK for Node.js, OpenInference, as its exporter sends JSON: `MODULES=… node make_otlp.mjs FOLDER`.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.MODULES}/`);
const { context, trace, SpanStatusCode } = require("@opentelemetry/api");
const { NodeTracerProvider, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-node");
const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");

const bodies = [];
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => { bodies.push(Buffer.concat(chunks).toString()); response.end("{}"); });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${server.address().port}/v1/traces` });
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
const tracer = trace.getTracer("shop");
const conversations = [
  ["When do you open on Sunday?", { day: "Sunday" }, "9 to 17", "We open at 9.", null],
  ["when do you open on sunday", { day: "Sunday" }, "9 to 17", "At 9 o'clock.", null],
  ["Where is order 1234?", { order: 1234 }, null, "", "no such order"],
];
for (const [question, args, result, answer, error] of conversations) {
  const kind = (name) => ({ "openinference.span.kind": name });
  const root = tracer.startSpan("shop", { attributes: { ...kind("AGENT"), "input.value": question, "output.value": answer, "session.id": "s1", "user.id": "u1" } });
  const inside = trace.setSpan(context.active(), root);
  const call = {
    ...kind("LLM"), "llm.model_name": "gpt-5-mini", "llm.token_count.total": 25,
    "llm.input_messages.0.message.role": "system", "llm.input_messages.0.message.content": "You answer for a shop.",
    "llm.input_messages.1.message.role": "user", "llm.input_messages.1.message.content": question,
    "llm.output_messages.0.message.role": "assistant",
    ...(answer ? { "llm.output_messages.0.message.content": answer } : {}),
  };
  const tool = tracer.startSpan("look_up", { attributes: { ...kind("TOOL"), "tool.name": "look_up", "input.value": JSON.stringify(args), ...(result ? { "output.value": result } : {}) } }, inside);
  if (error) { tool.setStatus({ code: SpanStatusCode.ERROR, message: error }); root.setStatus({ code: SpanStatusCode.ERROR, message: error }); }
  tool.end();
  tracer.startSpan("ChatCompletion", { attributes: call }, inside).end();
  root.end();
}
await provider.shutdown();
server.close();
writeFileSync(`${process.argv[2]}/otlp-node.jsonl`, bodies.map((each) => `${each}\n`).join(""));
