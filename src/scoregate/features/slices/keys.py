"""The rows of slices, which a comparison keeps."""

from __future__ import annotations

from scoregate.features.slices.cases import slice_name
from scoregate.kernel.compare.comparison_rows import Row
from scoregate.kernel.types.records import record
from scoregate.kernel.types.slots import Slot


@record
class SliceRow:
    """The comparison of one evaluator in one slice.

    Attributes:
        field: the name of the field.
        value: the value that the cases of the slice have.
        cases: the number of cases of the run in the slice.
        row: the comparison; its suite is the whole suite.
        limited: whether a limit names the slice.
    """

    field: str
    value: str
    cases: int
    row: Row
    limited: bool = False

    @property
    def name(self) -> str:
        """The name of the slice: `language=fr`."""
        return slice_name(self.field, self.value)


@record
class UncomparedValues:
    """The values of a field of a suite that are not compared: those with the fewest cases.

    Attributes:
        suite: the label of the suite.
        field: the name of the field.
        values: the number of these values.
        limited: how many of them a limit names.
    """

    suite: str
    field: str
    values: int
    limited: int = 0


@record
class SliceTable:
    """The rows of all slices.

    Attributes:
        rows: the rows.
        left_out: what is left out.
        limited_suites: the labels of the suites with a slice that a limit names.
        empty: the fields that no case of any suite has.
    """

    rows: tuple[SliceRow, ...] = ()
    left_out: tuple[UncomparedValues, ...] = ()
    limited_suites: frozenset[str] = frozenset()
    empty: tuple[str, ...] = ()


TABLE: Slot[SliceTable] = Slot("slices.table")
"""The rows of all slices."""
