"""Which store the entities are in: that of the project around the working directory, unless told otherwise."""

from scoregate.store import current_store, use_store

__all__ = ["current_store", "use_store"]
