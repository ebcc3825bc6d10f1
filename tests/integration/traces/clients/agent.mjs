// An agent that is instrumented with OpenTelemetry's SDK for Node.js: it calls the tools that its prompt names.
import { createRequire } from "node:module";

const require = createRequire(`${process.env.MODULES}/`);
const { context, trace, SpanStatusCode } = require("@opentelemetry/api");
const { BatchSpanProcessor, NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");
const [exporter, convention, tools, name] = process.argv.slice(2);
const { OTLPTraceExporter } = require(`@opentelemetry/exporter-trace-otlp-${exporter}`);

const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
provider.register();
const tracer = trace.getTracer("agent");
const args = JSON.stringify({ day: 1 });
const attributes = (tool) => convention === "genai"
  ? { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": args, "gen_ai.tool.call.result": "9 to 17" }
  : { "openinference.span.kind": "TOOL", "tool.name": tool, "input.value": args, "output.value": "9 to 17" };
const agent = tracer.startSpan("agent", { attributes: { "openinference.span.kind": "AGENT", ...(name ? { "scoregate.case": name } : {}) } });
for (const tool of tools.split(" ")) {
  const span = tracer.startSpan("tool", { attributes: attributes(tool) }, trace.setSpan(context.active(), agent));
  if (tool === "fail") span.setStatus({ code: SpanStatusCode.ERROR, message: "no such day" });
  span.end();
}
agent.end();
await provider.shutdown();
console.log("Open from 9 to 17");
