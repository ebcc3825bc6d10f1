"""The levels of the two stages, as shares of that of a run that is measured once.

`benchmarks/calibration_life.py` simulates them: over ten pushes without a change, half as many pull requests are red.
"""

from __future__ import annotations

from scoregate.kernel.types.slots import Slot

DOUBTFUL_SHARE = 2.0
"""A drop that would fail at this level is measured again."""
CERTAIN_SHARE = 0.02
"""A drop that fails at this level as well is certain."""
LEVEL_SHARE = 0.5
"""All trials together decide at this level."""
PROBE: Slot[float] = Slot("measure_again.probe")
"""In a run: the level at which it is judged to find out whether it needs more trials."""
