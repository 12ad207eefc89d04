"""What a database says of a pool, its screens and its solvers: SQLite counts, pure functions judge the counts."""

from .whole import Analysis, analyse

__all__ = ["Analysis", "analyse"]
