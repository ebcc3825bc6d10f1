"""Grading, the base of metrics, judges and evaluators: subjects, grades, prompts and questions to models."""
