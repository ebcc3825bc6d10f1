"""What costs store in a run."""

from __future__ import annotations

from scoregate.features.costs.run_estimate import RunEstimate
from scoregate.kernel.types.slots import Slot

ESTIMATE: Slot[RunEstimate] = Slot("estimate", RunEstimate)
"""What the run was expected to use, also before it is recorded."""
