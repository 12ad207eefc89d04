"""SciPy: scientific computing on NumPy arrays."""

from pathlib import Path

from ..protocol import Domain

_HERE = Path(__file__).parent

SCIPY = Domain(
    name="scipy",
    title="SciPy",
    packages=("scipy",),
    distributions=("scipy", "numpy"),
    preload=(
        *("scipy.integrate", "scipy.interpolate", "scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.signal"),
        *("scipy.sparse.linalg", "scipy.spatial", "scipy.special", "scipy.stats"),
    ),
    notes="SciPy and NumPy are installed.",
    guide=(_HERE / "guide.md").read_text("utf-8"),
    seeds=_HERE / "seeds",
    checks=("perturb",),
)
