"""The whole job: baseline, run, judgement, reports."""
