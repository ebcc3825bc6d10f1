"""OpenTelemetry's SDK for Python, conventions for generative AI, as protobuf: `python make_otlp.py FOLDER`."""

import json
import sys
from pathlib import Path

from conversations import CONVERSATIONS, MODEL, make_exchanges
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode


def to_parts(message):
    """A message in the form of the conventions."""
    parts = [{"type": "text", "content": message["content"]}] if message["content"] else []
    for call in message.get("tool_calls", ()):
        function = call["function"]
        parts.append(
            {
                "type": "tool_call",
                "id": call["id"],
                "name": function["name"],
                "arguments": json.loads(function["arguments"]),
            }
        )
    if message["role"] == "tool":
        parts = [{"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}]
    return {"role": message["role"], "parts": parts}


def dump(*messages):
    return json.dumps([to_parts(each) for each in messages])


spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
tracer = provider.get_tracer("shop")
for question, arguments, result, answer, error in CONVERSATIONS:
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "shop",
        "user.id": "u1",
        "gen_ai.conversation.id": "s1",
    }
    with tracer.start_as_current_span("invoke_agent shop", attributes=agent) as root:
        for number, (request, reply) in enumerate(make_exchanges(question, arguments, result, answer)):
            call = {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": MODEL,
                "gen_ai.input.messages": dump(*request),
                "gen_ai.output.messages": dump(reply),
                "gen_ai.usage.input_tokens": 20,
                "gen_ai.usage.output_tokens": 5,
            }
            with tracer.start_as_current_span(f"chat {MODEL}", attributes=call):
                pass
            if number:
                continue
            tool = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "look_up",
                "gen_ai.tool.call.arguments": json.dumps(arguments),
                **({"gen_ai.tool.call.result": result} if result else {}),
            }
            with tracer.start_as_current_span("execute_tool look_up", attributes=tool) as span:
                if error:
                    span.set_status(Status(StatusCode.ERROR, error))
        if error:
            root.set_status(Status(StatusCode.ERROR, error))
with tracer.start_as_current_span("GET /health"):
    pass
data = encode_spans(spans.get_finished_spans()).SerializeToString()
(Path(sys.argv[1]) / "otlp-python.pb").write_bytes(data)
