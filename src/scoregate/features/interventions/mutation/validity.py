"""Changes after which a file can still be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoregate.features.interventions.mutation.operators import Change

_MOST_CHECKS = 200


def keep_valid(changes: Sequence[Change], is_valid: Callable[[Sequence[Change]], bool]) -> list[Change]:
    """The changes that leave the file valid.

    Changes that don't touch each other are checked together, and only parted if something is wrong, because reading a
    large file once for each of thousands of changes takes minutes. After 200 checks, the rest is left out.

    Args:
        changes: the changes, of one operator.
        is_valid: whether a file with some changes is valid, and differs by each of them.
    """
    layers: list[list[Change]] = []
    for change in sorted(changes, key=lambda each: (each.edits[0][0], -each.edits[-1][1])):
        start = change.edits[0][0]
        free = (each for each in layers if each[-1].edits[-1][1] < start)
        layer = next(free, None)
        if layer is None:
            layers.append(layer := [])
        layer.append(change)
    kept, checks = [], 0
    while layers and checks < _MOST_CHECKS:
        layer, checks = layers.pop(), checks + 1
        if is_valid(layer):
            kept += layer
        elif half := len(layer) // 2:
            layers += [layer[:half], layer[half:]]
    return kept
