"""The short API: `evaluate` runs a task on data and scores its outputs."""

from scoregate.evals.run import evaluate

__all__ = ["evaluate"]
