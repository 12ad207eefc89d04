"""Everything known about every attempt, appended to an SQLite database."""

from .database import Store, StoreError, as_column, new_id, now

__all__ = ["Store", "StoreError", "as_column", "new_id", "now"]
