"""Observations in the models of langfuse's SDK, and the same as rows of the blob storage export.

`python make_langfuse.py FOLDER`. Langfuse's server turns spans into observations, so they are filled in here: the form of
the API is that of `langfuse.api`, the columns of the export are those of its field reference.
"""

import csv
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from conversations import CONVERSATIONS, MODEL, make_exchanges
from langfuse.api import ObservationV2
from langfuse.api.core.pydantic_utilities import parse_obj_as

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
COLUMNS = {
    "id": "id", "traceId": "trace_id", "type": "type", "parentObservationId": "parent_observation_id",
    "startTime": "start_time", "endTime": "end_time", "name": "name", "level": "level", "statusMessage": "status_message",
    "input": "input", "output": "output", "model": "provided_model_name", "usageDetails": "usage_details",
    "totalCost": "total_cost", "userId": "user_id", "sessionId": "session_id", "tags": "tags", "metadata": "metadata",
    "environment": "environment",
}  # fmt: skip
found = []


def observe(trace, number, type_, name, **fields):
    time = START + timedelta(minutes=trace, seconds=number)
    ids = {"id": f"{trace:08x}{number:08x}", "traceId": f"{trace:032x}", "projectId": "p1"}
    if number:
        ids["parentObservationId"] = f"{trace:08x}{0:08x}"
    row = {
        **ids,
        "type": type_,
        "name": name,
        "startTime": time,
        "endTime": time + timedelta(seconds=5 - number),
        **fields,
    }
    shared = {"userId": "u1", "sessionId": "s1", "environment": "production", "tags": ["web"]}
    found.append(parse_obj_as(ObservationV2, {**row, **shared}))


for trace, (question, arguments, result, answer, error) in enumerate(CONVERSATIONS, 1):
    failed = {"level": "ERROR", "statusMessage": error} if error else {"level": "DEFAULT"}
    observe(trace, 0, "AGENT", "shop", input={"question": question}, output=answer, metadata={"release": "7"}, **failed)
    exchanges = list(make_exchanges(question, arguments, result, answer))
    for number, (request, reply) in enumerate(exchanges):
        usage = {"usageDetails": {"input": 20, "output": 5, "total": 25}, "totalCost": 0.0001, "model": MODEL}
        observe(trace, 1 + 2 * number, "GENERATION", "chat", input=request, output=reply, level="DEFAULT", **usage)
    observe(trace, 2, "TOOL", "look_up", input=arguments, output=result, **failed)

folder = Path(sys.argv[1])
rows = [json.loads(each.json()) for each in found]
(folder / "langfuse-api.json").write_text(json.dumps({"data": rows, "meta": {"cursor": None}}, indent=1) + "\n")
with (folder / "langfuse-blob.csv").open("w", newline="") as out:
    writer = csv.DictWriter(out, COLUMNS.values())
    writer.writeheader()
    for row in rows:
        cells = {}
        for name, column in COLUMNS.items():
            value = row.get(name)
            is_plain = isinstance(value, str | int | float) or value is None
            cells[column] = value if is_plain else json.dumps(value)
            if column.endswith("_time") and value:
                cells[column] = datetime.fromisoformat(value).strftime("%Y-%m-%d %H:%M:%S.%f")
        writer.writerow(cells)
