"""Rows of ragas as CSV and Parquet: `python make_ragas.py FOLDER`."""

import sys
from pathlib import Path

from ragas import EvaluationDataset, SingleTurnSample, evaluate
from ragas.metrics import ExactMatch, NonLLMStringSimilarity

SAMPLES = [("Capital of France?", "Paris", "Paris"), ("Capital of Peru?", "Quito", "Lima"), ("1, 2?", 'a "3"\n', "3")]
samples = [SingleTurnSample(user_input=q, response=r, reference=e) for q, r, e in SAMPLES]
table = evaluate(
    EvaluationDataset(samples=samples), metrics=[ExactMatch(), NonLLMStringSimilarity()], show_progress=False
).to_pandas()
folder = Path(sys.argv[1])
table.to_csv(folder / "rows-ragas.csv", index=False)
table.to_parquet(folder / "rows-ragas.parquet")
