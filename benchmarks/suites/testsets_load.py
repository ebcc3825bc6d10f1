"""A table of tests: read by the product, or by csv.DictReader and then made into plain models; prints CPU seconds."""

import csv
import json
import sys
import time
from pathlib import Path
from typing import Any

command, where, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
HEADER = ["prompt_content", "category", "topic", "behavior", "expected_response"]


def make() -> int:
    """The table."""
    with where.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for n in range(count):
            question = f"How do I return order {n}, which came in the wrong colour and without its receipt?"
            writer.writerow([question, f"Category {n % 9}", f"Topic {n % 50}", "Helps", f"Answer {n}, in a sentence."])
    return count


def rows() -> int:
    """DictReader alone."""
    with where.open(newline="", encoding="utf-8-sig") as file:
        return sum(1 for _ in csv.DictReader(file))


def models() -> int:
    """The time of pydantic for models of the same fields, without scoregate's checks."""
    from pydantic import BaseModel, ConfigDict, Field

    class Prompt(BaseModel):
        model_config = ConfigDict(validate_assignment=True)
        content: str
        expected_response: str | None = None
        language_code: str = "en"
        id: str | None = None

    class Test(BaseModel):
        model_config = ConfigDict(validate_assignment=True)
        id: str | None = None
        category: str | None = None
        topic: str | None = None
        behavior: str | None = None
        prompt: Prompt | None = None
        test_type: str | None = None
        test_configuration: dict[str, Any] | None = None
        metadata: dict[str, Any] = Field(default_factory=dict)
        source: str | None = None
        source_line: int | None = None

    def fields(row: dict[str, str], line: int) -> dict[str, Any]:
        prompt = {"content": row["prompt_content"], "expected_response": row["expected_response"]}
        labels = {name: row[name] for name in ("category", "topic", "behavior")}
        return {**labels, "prompt": prompt, "test_type": "Single-Turn", "source": "t.csv", "source_line": line}

    global started  # noqa: PLW0603 - imports aside
    with where.open(newline="", encoding="utf-8-sig") as file:
        given = [fields(row, line) for line, row in enumerate(csv.DictReader(file), 2)]
    started = time.process_time()
    return len([Test.model_validate(each) for each in given])


def ours() -> int:
    """The product."""
    from scoregate.entities import TestSet

    global started  # noqa: PLW0603 - imports aside
    started = time.process_time()
    return TestSet.from_csv(where, "large").test_count


def push() -> int:
    """Push to scoregate's store next to the table."""
    from scoregate.entities import TestSet, use_store

    with use_store(where.parent):
        found = TestSet.from_csv(where, "large")
        found.push()
    return found.test_count


def pull() -> int:
    """What was pushed."""
    from scoregate.entities import TestSets, use_store

    with use_store(where.parent):
        return TestSets.pull(name="large").test_count


COMMANDS = {"make": make, "rows": rows, "models": models, "ours": ours, "push": push, "pull": pull}
started = time.process_time()
found = COMMANDS[command]()
print(json.dumps({"seconds": time.process_time() - started, "count": found}))
