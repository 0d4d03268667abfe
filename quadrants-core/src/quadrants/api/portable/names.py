"""The functions of the portable language: `qd.static`, `qd.ndrange`, `qd.sqrt`, `qd.atomic_add` and so on.

In kernels inference knows them by name (`infer.portable.names`). Called on the host, functions of numbers are NumPy's, element by
element; those that mean something in a kernel only are errors.
"""

from __future__ import annotations

import itertools
import math
import random as python_random
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.types.vectors import Value, from_array, vector


class Function:
    """A function of the language. `host` computes it in the interpreter."""

    def __init__(self, name: str, doc: str, host: Callable[..., Any] | None = None) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.__quadrants_builtin__ = f"portable:{name}"
        self._host = host

    def __quadrants_key__(self) -> tuple[object, ...]:
        return (self.__quadrants_builtin__,)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if self._host is None:
            raise QuadrantsError(
                Code.OUTSIDE_KERNEL,
                f"'{self.__name__}' means something in a kernel only",
                hint="use it in a function that is decorated with @qd.kernel, or that such a kernel calls",
            )
        return self._host(*args, **keywords)

    def __repr__(self) -> str:
        return f"<function {self.__name__} of kernels>"

    def __reduce__(self) -> str:
        return self.__name__


def _numeric(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that gives Python's numbers and vectors for those."""

    def call(*args: Any) -> Any:
        plain = [arg.to_numpy() if isinstance(arg, Value) else arg for arg in args]
        with np.errstate(all="ignore"):
            found = function(*plain)
        if any(isinstance(arg, Value) for arg in args):
            return from_array(found)
        return found.item() if isinstance(found, np.generic) else found

    return call


def _ndrange(*bounds: Any, axes: Any = None) -> Iterable[Any]:
    ranges = [range(*bound) if isinstance(bound, (tuple, list)) else range(bound) for bound in bounds]
    return ranges[0] if len(ranges) == 1 else list(itertools.product(*ranges))


def _grouped(values: Any) -> Iterable[Any]:
    places = values if not hasattr(values, "shape") else list(itertools.product(*map(range, values.shape)))
    return [vector(place if isinstance(place, tuple) else (place,)) for place in places]


def _static(*values: Any) -> Any:
    return values[0] if len(values) == 1 else values


def _cast(value: Any, dtype: Any) -> Any:
    from quadrants.api.portable.tensors import scalar_of_type
    from quadrants.types.dtypes import dtype_of

    found = np.asarray(value).astype(dtype_of(scalar_of_type(dtype)))
    return from_array(found) if found.ndim else found.item()


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        found = args[0]
        for other in args[1:]:
            found = _numeric(function)(found, other)
        return found

    return call


def _fold(name: str) -> str:
    return f"{name} in one step, (x, y): x is an element of a tensor, or a variable. Gives x from before."


_LANGUAGE: Mapping[str, tuple[str, Callable[..., Any] | None]] = MappingProxyType(
    {
        "static": ("What is known when the kernel is compiled: a value, a condition, or a loop to write out.", _static),
        "static_assert": ("An error when the kernel is compiled, unless the condition holds.", None),
        "static_print": ("Nothing in kernels: accepted for other implementations' sake.", print),
        "ndrange": ("The indices of a box: sizes, or pairs (start, stop), one an axis; axes= is the order of loops.", _ndrange),
        "grouped": ("The indices of an ndrange or a tensor as vectors.", _grouped),
        "loop_config": ("What holds for the next loop: serialize=True runs it in order, in one thread.", None),
        "select": ("x1 where cond, else x2; both are computed.", _numeric(np.where)),
        "cast": ("The value converted to a type.", _cast),
        "bit_cast": ("The bits of the value as a number of another type of the same size.", None),
        "bit_shr": ("Shifted right, zeros coming in from the left.", None),
        "random": ("A random float from [0, 1), or a random integer, of a type.", lambda dtype=float: python_random.random()),
        "randn": ("A random number of the normal distribution.", lambda dt=float: python_random.gauss(0.0, 1.0)),
        "zero": ("Zero of the value's type.", _numeric(np.zeros_like)),
        "one": ("One of the value's type.", _numeric(np.ones_like)),
        "outer": ("The matrix of the products of two vectors' elements.", _numeric(np.outer)),
        "atomic_cas": ("Store `desired` where x is `expected`, in one step; gives x from before.", None),
        **{
            f"atomic_{name}": (_fold(what), None)
            for name, what in {
                "add": "Add", "sub": "Subtract", "mul": "Multiply", "min": "The smaller", "max": "The greater",
                "and": "Bitwise and", "or": "Bitwise or", "xor": "Bitwise exclusive or", "exchange": "Exchange",
            }.items()
        },
    }
)  # fmt: skip

_NUMERIC: Mapping[str, tuple[str, Callable[..., Any]]] = MappingProxyType(
    {
        "sin": ("The sine.", np.sin),
        "cos": ("The cosine.", np.cos),
        "tan": ("The tangent.", np.tan),
        "asin": ("The arcsine.", np.arcsin),
        "acos": ("The arccosine.", np.arccos),
        "atan": ("The arctangent.", np.arctan),
        "atan2": ("The angle of the point (x, y): (y, x).", np.arctan2),
        "sinh": ("The hyperbolic sine.", np.sinh),
        "cosh": ("The hyperbolic cosine.", np.cosh),
        "tanh": ("The hyperbolic tangent.", np.tanh),
        "exp": ("e to the power of x.", np.exp),
        "log": ("The natural logarithm.", np.log),
        "sqrt": ("The square root.", np.sqrt),
        "rsqrt": ("One by the square root.", lambda x: 1.0 / np.sqrt(x)),
        "floor": ("Rounded down; a second argument is the type of the result.", np.floor),
        "ceil": ("Rounded up; a second argument is the type of the result.", np.ceil),
        "round": ("Rounded to the nearest integer, halves to even ones.", np.rint),
        "abs": ("The absolute value.", np.abs),
        "pow": ("x to the power of y.", np.power),
        "raw_div": ("The quotient; of integers rounded towards zero, as in C.", lambda x, y: np.trunc(x / y)),
        "raw_mod": ("The remainder of `raw_div`.", np.fmod),
    }
)

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        **{name: Function(name, doc, host) for name, (doc, host) in _LANGUAGE.items()},
        **{name: Function(name, doc, _numeric(host)) for name, (doc, host) in _NUMERIC.items()},
        "min": Function("min", "The smallest of the values, element by element.", _extreme(np.minimum)),
        "max": Function("max", "The greatest of the values, element by element.", _extreme(np.maximum)),
    }
)


def _clamp(x: Any, xmin: Any, xmax: Any) -> Any:
    return np.minimum(np.maximum(x, xmin), xmax)


def _smoothstep(edge0: Any, edge1: Any, x: Any) -> Any:
    t = _clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


#: The names of `qd.math` beside those above.
MATH: Mapping[str, tuple[str, Callable[..., Any]]] = MappingProxyType(
    {
        "clamp": ("The value within the bounds: (x, xmin, xmax).", _clamp),
        "mix": ("x for a = 0, y for a = 1, and between them: (x, y, a).", lambda x, y, a: x * (1.0 - a) + y * a),
        "step": ("0 below the edge, else 1: (edge, x).", lambda edge, x: np.where(np.less(x, edge), 0.0, 1.0)),
        "smoothstep": ("From 0 to 1 between the edges, smoothly: (edge0, edge1, x).", _smoothstep),
        "sign": ("-1, 0 or 1.", np.sign),
        "fract": ("What is behind the point: x - floor(x).", lambda x: x - np.floor(x)),
        "mod": ("The remainder, with the sign of y.", np.mod),
        "log2": ("The logarithm to base 2.", np.log2),
        "exp2": ("2 to the power of x.", np.exp2),
        "degrees": ("An angle in degrees.", np.degrees),
        "radians": ("An angle in radians.", np.radians),
        "dot": ("The scalar product.", np.dot),
        "cross": ("The vector product.", np.cross),
        "length": ("The length of a vector.", np.linalg.norm),
        "normalize": ("The vector of length 1 in the same direction.", lambda v: v / np.linalg.norm(v)),
        "distance": ("The distance of two points.", lambda x, y: np.linalg.norm(x - y)),
        "reflect": ("The vector reflected at a plane with the normal n.", lambda x, n: x - 2.0 * np.dot(n, x) * n),
        "determinant": ("The determinant of a matrix.", np.linalg.det),
        "inverse": ("The inverse of a matrix.", np.linalg.inv),
        "isnan": ("Whether it is not a number.", np.isnan),
        "isinf": ("Whether it is infinite.", np.isinf),
    }
)


def __getattr__(name: str) -> Any:
    found = FUNCTIONS.get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan})
