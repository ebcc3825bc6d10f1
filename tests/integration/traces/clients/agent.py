"""An agent that is instrumented with OpenTelemetry's SDK for Python: it calls the tools that its prompt names."""

from __future__ import annotations

import json
import sys
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode


def describe(convention: str, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The attributes of a call, and of its agent, in a convention."""
    if convention == "genai":
        return (
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
             "gen_ai.tool.call.arguments": json.dumps(arguments), "gen_ai.tool.call.result": "9 to 17"},
            {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"},
        )  # fmt: skip
    return (
        {"openinference.span.kind": "TOOL", "tool.name": tool, "input.value": json.dumps(arguments),
         "output.value": "9 to 17"},
        {"openinference.span.kind": "AGENT", "agent.name": "helper"},
    )  # fmt: skip


def main(convention: str, tools: str) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("agent", attributes=describe(convention, "", {})[1]):
        for tool in tools.split():
            with tracer.start_as_current_span("tool", attributes=describe(convention, tool, {"day": 1})[0]) as span:
                if tool == "fail":
                    span.set_status(Status(StatusCode.ERROR, "no such day"))
    provider.shutdown()
    print("Open from 9 to 17")


main(*sys.argv[1:])
