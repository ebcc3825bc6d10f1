"""The runs of a skill that skill-creator's `aggregate_benchmark.py FOLDER` makes benchmark.json of."""

import json
import sys
from pathlib import Path

MET = {("with_skill", 1): [1, 1], ("with_skill", 2): [1, 0], ("without_skill", 1): [1, 0], ("without_skill", 2): [0, 0]}
for (configuration, number), met in MET.items():
    for run in (1, 2):
        folder = Path(sys.argv[1]) / f"eval-{number}" / configuration / f"run-{run}"
        folder.mkdir(parents=True, exist_ok=True)
        passed = sum(met)
        texts = ("The output is a PDF file", "The table has a sum")
        grading = {
            "expectations": [
                {"text": text, "passed": bool(each), "evidence": f"seen in run {run}"}
                for text, each in zip(texts, met, strict=True)
            ],
            "summary": {"passed": passed, "failed": 2 - passed, "total": 2, "pass_rate": passed / 2},
            "execution_metrics": {"tool_calls": {"Read": 2}, "total_tool_calls": 2, "errors_encountered": 0},
            "timing": {"total_duration_seconds": 12.5},
        }
        (folder / "grading.json").write_text(json.dumps(grading))
