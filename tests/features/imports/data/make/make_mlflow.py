"""Rows of MLflow as a table of pandas: `python make_mlflow.py FOLDER`."""

import sys
from pathlib import Path

import mlflow
from mlflow.entities import Feedback
from mlflow.genai import scorer


@scorer
def exact(outputs, expectations):
    return outputs == expectations["expected_response"]


@scorer
def brief(outputs):
    return Feedback(value=1.0 if len(outputs) < 5 else 0.5, rationale=f"{len(outputs)} characters")


mlflow.set_tracking_uri("sqlite:///mlflow.db")
CASES = [("Capital of France?", "Paris", "Paris"), ("Capital of Peru?", "Quito", "Lima")]
data = [{"inputs": {"question": q}, "outputs": o, "expectations": {"expected_response": e}} for q, o, e in CASES]
table = mlflow.genai.evaluate(data=data, scorers=[exact, brief]).result_df
own = [name for name in table.columns if name.endswith(("/value", "/rationale")) or name in ("request", "response")]
table[own].to_json(Path(sys.argv[1]) / "rows-mlflow.json", orient="split", index=False)
