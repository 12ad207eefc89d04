"""An interpolation matrix that tells which of the values it is multiplied with belong to one of its points.

Beside the matrix go two companions. In one of them the columns are zero that meet the values of the point if values
come component by component, in the other those that meet them if they come point by point. Each operation on the matrix
is done with the companions too. If the point is then moved, the product with one of them stays what it was: that one
lacked just the columns that met the point's values, which says how they came.
"""

from __future__ import annotations

import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    tell: Callable[..., None]

# Operations that only choose and rearrange entries; and products, linear in the matrix.
_ARRANGING = frozenset(
    {
        *(
            "array_split",
            "atleast_1d",
            "atleast_2d",
            "broadcast_to",
            "copy",
            "expand_dims",
            "flip",
            "moveaxis",
            "ravel",
        ),
        *("repeat", "reshape", "roll", "rollaxis", "squeeze", "swapaxes", "take", "tile", "transpose"),
    }
)
_PRODUCTS = frozenset(
    {"dot", "einsum", "inner", "kron", "matmul", "matvec", "multiply", "outer", "tensordot", "vecdot", "vecmat"}
)


def point_of(count: int, size: int) -> int:
    """The point whose values differ most in place between the two layouts."""

    def common(point: int) -> int:
        right, wrong = _columns(point, count, size)
        return len({*right} & {*wrong})

    return min(range(count), key=common)


def moved(points: Any, size: int) -> Any:
    """The points of an element, one of them somewhere else."""
    count = len(points)
    if count < 2 or size < 2:
        return points
    point, points = point_of(count, size), numpy.array(points)
    rest = numpy.delete(points, point, axis=0).mean(axis=0)
    points[point] += 0.15 * (rest - points[point]) + numpy.array([0.011, 0.007, 0.003])[: points.shape[1]]
    return points


def _columns(point: int, count: int, size: int) -> tuple[list[int], list[int]]:
    """The columns that meet the values of a point: component by component, and point by point."""
    return [part * count + point for part in range(size)], [point * size + part for part in range(size)]


def matrix_of(found: Any, count: int, size: int) -> Any:
    """The matrix with its companions."""
    parts = [numpy.array(found) for _ in range(3)]
    right, wrong = _columns(point_of(count, size), count, size)
    parts[1][:, right] = 0.0
    parts[2][:, wrong] = 0.0
    return _joined(parts)


def _joined(parts: Any) -> Any:
    """Parts as one matrix, or as one entry of it, or as a list of matrices."""
    if isinstance(parts[0], (list, tuple)):
        return [_joined([part[place] for part in parts]) for place in range(len(parts[0]))]
    if numpy.ndim(parts[0]) == 0:
        return Entry(parts[0], parts)
    result = numpy.asarray(parts[0]).view(Matrix)
    result.parts = tuple(parts)
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, Matrix):
        return value.view(numpy.ndarray)
    return numpy.float64(value) if isinstance(value, Entry) else value


def _watched(values: Any) -> list[Any]:
    return [value for value in values if isinstance(value, (Matrix, Entry)) and value.parts is not None]


def _with(part: int, values: Any) -> list[Any]:
    """The values, each matrix among them replaced by one of its parts."""
    return [value.parts[part] if _watched([value]) else _plain(value) for value in values]


def _noted(result: Any, product: Callable[[int], Any]) -> None:
    """Report a product: a figure each for what came out, and what comes out with each of the companions."""
    try:
        figures = [_figure(result), _figure(product(1)), _figure(product(2))]
        scale = float(numpy.max(numpy.abs(result))) if numpy.size(result) else 0.0
    except Exception:  # noqa: BLE001 - a script that does otherwise is left alone
        return
    if numpy.all(numpy.isfinite([*figures, scale])):
        tell("product", figures=figures, scale=scale)


def _figure(result: Any) -> float:
    flat = numpy.asarray(result).ravel()
    weights = 1.0 + numpy.cos(1.7 * numpy.arange(flat.size) + 0.3) / 3
    return float(weights @ flat.real + 0.61 * (weights @ flat.imag))


class Entry(numpy.float64):
    """One entry of a matrix."""

    __array_priority__ = 1000.0
    parts: Any

    def __new__(cls, value: Any, parts: Any) -> Entry:
        """The entry, with what it is in the companions."""
        made = super().__new__(cls, value)
        made.parts = tuple(map(numpy.float64, parts))
        return made

    def __mul__(self, other: Any) -> Any:
        result = numpy.float64(self) * _plain(other)
        _noted(result, lambda part: self.parts[part] * _plain(other))
        return result

    __rmul__ = __mul__


class Matrix(numpy.ndarray):
    """A matrix, or a piece of one, and the same pieces of its companions."""

    parts: Any

    def __array_finalize__(self, found: Any) -> None:
        self.parts = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if out is not None:
            options["out"] = tuple(map(_plain, out))
        call = getattr(ufunc, method)
        result = call(*map(_plain, inputs), **options)
        if out is not None or method != "__call__" or len(_watched(inputs)) != 1:
            return result
        options.pop("out", None)
        others = [value for value in inputs if not _watched([value])]
        if all(numpy.ndim(value) == 0 for value in others) and ufunc.__name__ in ("multiply", "divide", "negative"):
            return _joined([call(*_with(part, inputs), **options) for part in range(3)])
        if ufunc.__name__ in _PRODUCTS:
            _noted(result, lambda part: call(*_with(part, inputs), **options))
        return result

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        listed = [item for arg in args if isinstance(arg, (list, tuple)) for item in arg]
        if len(_watched(args)) == 1 and not _watched(listed) and not _watched(options.values()):
            if function.__name__ in _ARRANGING:
                return _joined([function(*_with(part, args), **options) for part in range(3)])
            result = function(*map(_plain, args), **options)
            if function.__name__ in _PRODUCTS:
                _noted(result, lambda part: function(*_with(part, args), **options))
            return result
        plain = [type(arg)(map(_plain, arg)) if type(arg) in (list, tuple) else _plain(arg) for arg in args]
        return function(*plain, **{name: _plain(value) for name, value in options.items()})

    def _each(self, operation: Callable[[Any], Any]) -> Any:
        if self.parts is None:
            return operation(self.view(numpy.ndarray))
        return _joined([operation(part) for part in self.parts])

    def __getitem__(self, key: Any) -> Any:
        return self._each(lambda part: part[key])

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self)))

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        return self._each(lambda part: part.T)

    def dot(self, other: Any, out: Any = None) -> Any:
        return numpy.dot(self, other) if out is None else numpy.dot(_plain(self), _plain(other), out)


def _arranging(name: str) -> Any:
    def method(self: Matrix, *args: Any, **options: Any) -> Any:
        return self._each(lambda part: getattr(part, name)(*args, **options))

    return method


for _name in ("astype", "copy", "flatten", "ravel", "repeat", "reshape", "squeeze", "swapaxes", "take", "transpose"):
    setattr(Matrix, _name, _arranging(_name))


def _converting(old: Any) -> Any:
    def function(*args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], Matrix) and args[0].parts is not None:
            return _joined([old(part, *args[1:], **options) for part in args[0].parts])
        return old(*args, **options)

    return function


for _name in ("array", "asarray", "ascontiguousarray", "asfortranarray"):
    setattr(numpy, _name, _converting(getattr(numpy, _name)))
