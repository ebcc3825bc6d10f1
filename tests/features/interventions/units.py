"""Helpers of the tests of units."""

from __future__ import annotations

from collections.abc import Collection

from scoregate.features.interventions.edited_trees.edits import apply_edits
from scoregate.features.interventions.mutation.operators import Operator
from scoregate.features.interventions.mutation.units import Unit, find_units


def mutate(
    path: str, text: str, operator: Operator = Operator.DELETE, *, requests: Collection[str] = ()
) -> dict[str, str]:
    """The file after each unit, by the text of the unit; " again" after equal texts."""
    mutants: dict[str, str] = {}
    for unit in find_units(path, text.encode(), [operator], requests=requests):
        name = unit.text
        while name in mutants:
            name += " again"
        mutants[name] = apply(text, unit)
    return mutants


def apply(text: str, unit: Unit) -> str:
    return apply_edits(text.encode(), unit.edits).decode()
