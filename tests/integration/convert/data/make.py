"""Writes verdicts.json: what promptfoo finds. Run it with the path of promptfoo: npm install promptfoo."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
with tempfile.TemporaryDirectory() as folder:
    results = Path(folder, "results.json")
    command = [sys.argv[1], "eval", "-c", "promptfooconfig.yaml", "-o", str(results), "--no-cache", "--no-table"]
    subprocess.run(command, cwd=HERE, stdout=subprocess.DEVNULL, check=False)
    rows = json.loads(results.read_text("utf-8"))["results"]["results"]
verdicts = [
    {
        "prompt": row["promptIdx"],
        "description": row["testCase"].get("description", ""),
        "output": row["response"]["output"],
        "passed": row["success"],
        "score": row["score"],
        "scores": row["namedScores"],
    }
    for row in rows
]
lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in verdicts)
(HERE / "verdicts.json").write_text(f"[\n{lines}\n]\n", "utf-8")
