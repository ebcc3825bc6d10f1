"""Spans of OpenInference through Phoenix's own server, as its clients give them: `python make_phoenix.py FOLDER`."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conversations import CONVERSATIONS, MODEL, make_exchanges
from openinference.instrumentation import get_llm_attributes
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Status, StatusCode
from phoenix.client import Client

ADDRESS = "http://127.0.0.1:6106"
KIND = "openinference.span.kind"


def send():
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{ADDRESS}/v1/traces")))
    tracer = provider.get_tracer("shop")
    for question, arguments, result, answer, error in CONVERSATIONS:
        about = {KIND: "AGENT", "input.value": question, "output.value": answer, "session.id": "s1"}
        with tracer.start_as_current_span("shop", attributes=about) as root:
            for number, (request, reply) in enumerate(make_exchanges(question, arguments, result, answer)):
                messages = [
                    [{**each, "content": each["content"] or ""} for each in side] for side in (request, [reply])
                ]
                sides = {"input_messages": messages[0], "output_messages": messages[1]}
                with tracer.start_as_current_span(
                    "chat", attributes={KIND: "LLM", **get_llm_attributes(model_name=MODEL, **sides)}
                ):
                    pass
                if number:
                    continue
                tool = {KIND: "TOOL", "tool.name": "look_up", "input.value": json.dumps(arguments)}
                with tracer.start_as_current_span("look_up", attributes=tool) as span:
                    if result:
                        span.set_attribute("output.value", result)
                    if error:
                        span.set_status(Status(StatusCode.ERROR, error))
            if error:
                root.set_status(Status(StatusCode.ERROR, error))


def main(folder):
    with tempfile.TemporaryDirectory() as data:
        environ = {**os.environ, "PHOENIX_PORT": "6106", "PHOENIX_GRPC_PORT": "6107", "PHOENIX_HOST": "127.0.0.1"}
        environ |= {"PHOENIX_WORKING_DIR": data, "PHOENIX_TELEMETRY_ENABLED": "false"}
        server = subprocess.Popen([sys.executable, "-m", "phoenix.server.main", "serve"], env=environ)
        try:
            client = Client(base_url=ADDRESS)
            for _ in range(120):
                try:
                    client.projects.list()
                    break
                except Exception:
                    time.sleep(1)
            send()
            time.sleep(5)
            spans = client.spans.get_spans(project_identifier="default", limit=1000)
            table = client.spans.get_spans_dataframe(project_identifier="default")
        finally:
            server.terminate()
            server.wait()
    (folder / "phoenix-spans.json").write_text(json.dumps(spans, indent=1) + "\n")
    table.to_json(folder / "phoenix-table.jsonl", orient="records", lines=True, date_format="iso")
    table.to_parquet(folder / "phoenix-table.parquet")


main(Path(sys.argv[1]))
