"""Teaching compiled code a function that it does not know.

Takes the function; gives a decorator for its implementation, an ordinary Python function with the same parameters.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import QuadrantsError
from quadrants.library import overloads

_Function = TypeVar("_Function")


def overload(target: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Compile calls of `target` as calls of the decorated function. The body *is* the implementation; branches on types
    (`isinstance(x, np.ndarray)`, `x is None`, `x.ndim == 2`) are pruned for each signature.

    >>> import math, quadrants as qd
    >>> @qd.overload(math.dist)
    ... def _(p, q):
    ...     return math.sqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2)
    >>> qd.njit(lambda: math.dist((0.0, 3.0), (4.0, 0.0)))()
    5.0
    """
    if not callable(target):
        raise _bad(f"{target!r} is not a function that could be called")

    def decorate(implementation: _Function) -> _Function:
        function = getattr(implementation, "py_func", implementation)
        if not isinstance(function, types.FunctionType):
            raise _bad(f"{implementation!r} is not a Python function")
        overloads.add(target, function)
        return implementation

    return decorate


def _bad(text: str) -> QuadrantsError:
    return QuadrantsError(Code.BAD_OVERLOAD, text, hint="write @qd.overload(module.function) above a Python function")
