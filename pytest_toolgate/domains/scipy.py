"""SciPy: scientific computing on NumPy arrays."""

from .protocol import Domain

SCIPY = Domain(
    name="scipy",
    title="SciPy",
    packages=("scipy",),
    distributions=("scipy", "numpy"),
    notes="SciPy and NumPy are installed.",
)
