"""What all entities have in common: fields that are checked, JSON and CSV, a place in the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict

from scoregate.entities.one_row import read_row, write_row
from scoregate.errors import EntityError


class Part(BaseModel):
    """Anything that is described by fields. What is assigned is checked; names that are no fields are left out."""

    model_config = ConfigDict(validate_assignment=True, extra="ignore")

    def to_dict(self) -> dict[str, Any]:
        """Its fields, as JSON has them."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """One of these fields.

        Raises:
            ValueError: pydantic's ValidationError.
        """
        return cls.model_validate(data)

    def to_csv(self, filename: str | Path) -> None:
        """Write a header and one row."""
        write_row(self.to_dict(), Path(filename))

    @classmethod
    def from_csv(cls, filename: str | Path) -> Self:
        """What `to_csv` wrote.

        Raises:
            EntityError: the file is no header and one row. OSError: it cannot be read.
        """
        return cls.from_dict(read_row(Path(filename), cls))

    def __str__(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


class Entity(Part):
    """What has a place of its own in the store, under its `id`: one of the caller's, or one that `push` gives it."""

    push_required: ClassVar[tuple[str, ...]] = ()

    id: str | None = None

    def push(self) -> dict[str, Any]:
        """Keep it, in the place of what has its id, and return what is kept.

        Raises:
            EntityError: something that it needs is missing. StoreError: it could not be written.
        """
        raise NotImplementedError

    def pull(self) -> Self:
        """Take its fields from the store, and return it.

        Raises:
            EntityError: it has no id, or there is none of this id. StoreError: it cannot be read.
        """
        raise NotImplementedError

    def delete(self) -> bool:
        """Take it out of the store; whether it was there.

        Raises:
            EntityError: it has no id. StoreError: it could not be written.
        """
        raise NotImplementedError

    def _own_id(self) -> str:
        if not self.id:
            raise EntityError("Entity has no ID")
        return self.id

    def _check_required(self) -> None:
        if missing := [name for name in self.push_required if getattr(self, name) is None]:
            raise EntityError(f"Required fields for push: {', '.join(missing)}")
