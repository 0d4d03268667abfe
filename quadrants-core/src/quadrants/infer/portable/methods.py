"""The methods of vectors and matrices, and functions of them: each from abstract values to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from quadrants.diagnostics import Code
from quadrants.infer import builtins, kernelmath, operators
from quadrants.infer.emitter import Emitter, describe, fail
from quadrants.infer.portable import vectors
from quadrants.infer.portable.vectors import items_of
from quadrants.infer.values import Abstract, Const, Tup

Method = Callable[..., Abstract]
#: Inverses and determinants are written out up to this size.
MOST_ROWS = 4


def mul(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    return operators.binary(w, "*", x, y)


def _norm_sqr(w: Emitter, v: Abstract) -> Abstract:
    return vectors.dot(w, v, v)


def sqrt(w: Emitter, x: Abstract) -> Abstract:
    """The square root of a number, in its type."""
    return kernelmath.call(w, "sqrt", x)


def _norm(w: Emitter, v: Abstract, eps: Abstract | None = None) -> Abstract:
    squared = _norm_sqr(w, v)
    return sqrt(w, squared if eps is None else operators.binary(w, "+", squared, eps))


def _norm_inv(w: Emitter, v: Abstract, eps: Abstract | None = None) -> Abstract:
    return operators.binary(w, "/", Const(1.0), _norm(w, v, eps))


def _normalized(w: Emitter, v: Abstract, eps: Abstract | None = None) -> Abstract:
    length = _norm(w, v)
    if eps is not None:
        length = operators.binary(w, "+", length, eps)
    return vectors.binary(w, "/", v, length)


def cross(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    """The vector product; of two elements the one number that it is."""
    a, b = items_of(x), items_of(y)
    if len(a) != len(b) or len(a) not in (2, 3):
        fail(Code.BAD_OPERAND, f"cross() takes two vectors of 2 or 3 elements, not {describe(x)} and {describe(y)}")

    def minor(i: int, j: int) -> Abstract:
        return operators.binary(w, "-", mul(w, a[i], b[j]), mul(w, a[j], b[i]))

    return minor(0, 1) if len(a) == 2 else vectors.vector([minor(1, 2), minor(2, 0), minor(0, 1)])


def outer(w: Emitter, x: Abstract, y: Abstract) -> Abstract:
    """The matrix of the products of the elements."""
    return vectors.matrix([vectors.vector([mul(w, a, b) for b in items_of(y)]) for a in items_of(x)])


def _rows(m: Abstract, what: str) -> list[list[Abstract]]:
    if not vectors.is_matrix(m):
        fail(Code.BAD_OPERAND, f"{what}() is of matrices, not of {describe(m)}")
    rows = [list(items_of(row)) for row in items_of(m)]
    if len(rows) != len(rows[0]):
        fail(Code.BAD_OPERAND, f"{what}() is of square matrices, not of {len(rows)} x {len(rows[0])}")
    return rows


def _trace(w: Emitter, m: Abstract) -> Abstract:
    return vectors.total(w, [row[k] for k, row in enumerate(_rows(m, "trace"))])


def _small(rows: list[list[Abstract]], what: str) -> list[list[Abstract]]:
    if len(rows) > MOST_ROWS:
        fail(Code.BAD_OPERAND, f"{what}() is of matrices of up to {MOST_ROWS} rows, not of {len(rows)}")
    return rows


def _minor(rows: Sequence[list[Abstract]], i: int, j: int) -> list[list[Abstract]]:
    return [[item for c, item in enumerate(row) if c != j] for r, row in enumerate(rows) if r != i]


def _det(w: Emitter, rows: list[list[Abstract]]) -> Abstract:
    if len(rows) == 1:
        return rows[0][0]
    if len(rows) == 2:
        return operators.binary(w, "-", mul(w, rows[0][0], rows[1][1]), mul(w, rows[0][1], rows[1][0]))
    result: Abstract | None = None
    for j, item in enumerate(rows[0]):
        term = mul(w, item, _det(w, _minor(rows, 0, j)))
        result = term if result is None else operators.binary(w, "-" if j % 2 else "+", result, term)
    assert result is not None
    return result


def determinant(w: Emitter, m: Abstract) -> Abstract:
    """The determinant, by cofactors."""
    return _det(w, _small(_rows(m, "determinant"), "determinant"))


def inverse(w: Emitter, m: Abstract) -> Abstract:
    """The inverse, by cofactors."""
    rows = _small(_rows(m, "inverse"), "inverse")
    scale = operators.binary(w, "/", Const(1.0), _det(w, rows))
    n = len(rows)
    if n == 1:
        return vectors.matrix([vectors.vector([scale])])

    def entry(i: int, j: int) -> Abstract:
        cofactor = _det(w, _minor(rows, j, i))
        return mul(w, scale, operators.unary(w, "-", cofactor) if (i + j) % 2 else cofactor)

    return vectors.matrix([vectors.vector([entry(i, j) for j in range(n)]) for i in range(n)])


def extreme(w: Emitter, name: str, *args: Abstract) -> Abstract:
    """`min` or `max` of numbers, element by element."""
    result = args[0]
    for other in args[1:]:
        result = vectors.elementwise(w, lambda a, b: _extreme(w, name, a, b), result, other)
    return result


def _extreme(w: Emitter, name: str, a: Abstract, b: Abstract) -> Abstract:
    import builtins as python  # the functions of the same names

    return builtins.BUILTINS[getattr(python, name)](w, (a, b), {})


def _fold(name: str) -> Method:
    return lambda w, v: extreme(w, name, *vectors.flat(v))


def _truths(w: Emitter, v: Abstract) -> list[Abstract]:
    return [operators.unary(w, "bool", item) for item in vectors.flat(v)]


def every(w: Emitter, v: Abstract) -> Abstract:
    """Whether all elements are true."""
    return vectors.total(w, _truths(w, v), "&")


def some(w: Emitter, v: Abstract) -> Abstract:
    """Whether any element is true."""
    return vectors.total(w, _truths(w, v), "|")


def _cast(w: Emitter, v: Abstract, to: Abstract) -> Abstract:
    return w.call_value(Const(_CASTER), (v, to), {})  # type: ignore[attr-defined, no-any-return]


def _to_list(w: Emitter, v: Abstract) -> Abstract:
    return Tup(tuple(_to_list(w, item) if vectors.is_value(item) else item for item in items_of(v)))


class _Caster:
    """Stands for `qd.cast` as a value that is called."""

    __quadrants_builtin__ = "portable:cast"


_CASTER = _Caster()

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "dot": vectors.dot,
        "cross": cross,
        "outer_product": outer,
        "norm": _norm,
        "norm_sqr": _norm_sqr,
        "norm_inv": _norm_inv,
        "normalized": _normalized,
        "transpose": lambda w, m: vectors.transposed(m),
        "trace": _trace,
        "determinant": determinant,
        "inverse": inverse,
        "frobenius_inner": vectors.dot,
        "sum": lambda w, v: vectors.total(w, vectors.flat(v)),
        "max": _fold("max"),
        "min": _fold("min"),
        "all": every,
        "any": some,
        "cast": _cast,
        "to_list": _to_list,
        "get_shape": lambda w, v: Tup(tuple(map(Const, vectors.shape(v)))),
    }
)


def get_attr(w: Emitter, value: Tup, name: str) -> Abstract | None:
    """`v.x`, `v.n`, `v.shape`; None for methods and unknown names."""
    size = vectors.shape(value)
    if name in ("n", "m"):
        sizes = (*size, 1)
        return Const(sizes["nm".index(name)])
    return vectors.swizzle(value, name)
