"""Simulates pull requests and prints how often the comparison is right: `calibration.py [TOPIC …] [--quick] [--check]`.

A topic is a module of its own with a function `report`, which prints its tables and yields its targets.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import calibration_accepted
import calibration_arms
import calibration_auto
import calibration_broken
import calibration_cells
import calibration_clusters
import calibration_decline
import calibration_drift
import calibration_errors
import calibration_family
import calibration_few
import calibration_hints
import calibration_intervals
import calibration_judges
import calibration_kappa
import calibration_life
import calibration_limits
import calibration_lost
import calibration_means
import calibration_pool
import calibration_power
import calibration_quarantine
import calibration_repeats
import calibration_run
import calibration_skewed
import calibration_slices
import calibration_slow
import calibration_variants
from calibration_targets import Report, run_topics

TOPICS: Mapping[str, Report] = {
    "run": calibration_run.report,
    "life": calibration_life.report,
    "broken": calibration_broken.report,
    "cells": calibration_cells.report,
    "family": calibration_family.report,
    "few": calibration_few.report,
    "accepted": calibration_accepted.report,
    "decline": calibration_decline.report,
    "slow": calibration_slow.report,
    "drift": calibration_drift.report,
    "slices": calibration_slices.report,
    "repeats": calibration_repeats.report,
    "clusters": calibration_clusters.report,
    "auto": calibration_auto.report,
    "intervals": calibration_intervals.report,
    "skewed": calibration_skewed.report,
    "means": calibration_means.report,
    "pool": calibration_pool.report,
    "power": calibration_power.report,
    "quarantine": calibration_quarantine.report,
    "lost": calibration_lost.report,
    "errors": calibration_errors.report,
    "limits": calibration_limits.report,
    "kappa": calibration_kappa.report,
    "judges": calibration_judges.report,
    "variants": calibration_variants.report,
    "arms": calibration_arms.report,
    "hints": calibration_hints.report,
}
QUICK = 0.08
INTRODUCTION = """\
Simulated pull requests, judged by the product's own comparison and gate. ± is one Monte Carlo standard error. A target
forgives two of them, or more in each cell where it has many cells, so that chance misses every target as seldom."""


if __name__ == "__main__":
    sys.exit(run_topics(TOPICS, __doc__, quick=QUICK, introduction=INTRODUCTION))
