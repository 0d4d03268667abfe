"""`qd.math`: functions of numbers and vectors, constants, and short names of the types of vectors and matrices.

>>> import quadrants as qd
>>> qd.math.clamp(qd.math.vec3(-1, 0.5, 2), 0.0, 1.0)
[0.0, 0.5, 1.0]
"""

from __future__ import annotations

from typing import Any

from quadrants.api.portable.names import CONSTANTS, FUNCTIONS, MATH, Function, _numeric
from quadrants.api.portable.values import matrix_type, vector_type

_SHARED = "sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt floor ceil round abs pow min max".split()
_NAMES: dict[str, Any] = {
    **CONSTANTS,
    **{name: FUNCTIONS[name] for name in _SHARED},
    **{name: Function(name, doc, _numeric(host)) for name, (doc, host) in MATH.items()},
    **{f"vec{n}": vector_type(n, float) for n in (2, 3, 4)},
    **{f"ivec{n}": vector_type(n, int) for n in (2, 3, 4)},
    **{f"mat{n}": matrix_type(n, n, float) for n in (2, 3, 4)},
}
globals().update(_NAMES)  # as globals, so that code that uses one knows where it is kept
__all__ = list(_NAMES)
