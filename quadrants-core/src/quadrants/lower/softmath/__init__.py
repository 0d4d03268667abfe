"""Elementary functions as QIR, for targets without a library of mathematics.

Takes a module and a test of which operations the target has itself; gives the module with every other one replaced by
a call of a function of the module that computes it, made when it is first needed. Float16 is computed in float32.
Always legal: the functions have the ranges and special values of the operations, with errors of a few units in the
last place (a table in the documentation).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from quadrants.ir.builder import Builder
from quadrants.ir.core import Function, Module, Op, Region, Scope, Value
from quadrants.ir.ops import OPS
from quadrants.lower.softmath import angles, exact, functions, gammas
from quadrants.lower.softmath.code import QirCode
from quadrants.lower.vectormath import error_functions, hyperbolic, roots, trigonometric
from quadrants.lower.vectormath import functions as shared
from quadrants.types import F32, F64, Scalar

Native = Callable[[str, Scalar], bool]

#: Op name -> what writes its code.
WRITERS: Mapping[str, Callable[..., Value]] = MappingProxyType(
    {
        "rem": exact.rem,
        "math.nextafter": exact.nextafter,
        "math.fma": exact.fma,
        "math.sin": angles.sin,
        "math.cos": angles.cos,
        "math.tan": angles.tan,
        **{
            f"math.{name}": getattr(shared, name)
            for name in ("exp", "exp2", "expm1", "tanh", "log", "log2", "log10", "log1p", "atan")
        },
        **{f"math.{name}": getattr(functions, name) for name in ("asinh", "acosh", "atanh", "hypot", "pow")},
        "math.asin": trigonometric.asin,
        "math.acos": trigonometric.acos,
        "math.atan2": trigonometric.atan2,
        "math.sinh": hyperbolic.sinh,
        "math.cosh": hyperbolic.cosh,
        "math.cbrt": roots.cbrt,
        "math.gamma": gammas.gamma,
        "math.lgamma": gammas.lgamma,
        "math.erf": error_functions.erf,
        "math.erfc": error_functions.erfc,
    }
)
#: Those that have to know the width of float16 itself.
_OWN_WIDTH = frozenset({"math.nextafter"})
#: Those that need products and sums that are fused.
_FUSED = frozenset({("math.pow", 64), ("math.gamma", 64), ("math.gamma", 32)})


def expand(module: Module, native: Native, doubles: bool) -> None:
    """Replace what the target does not have. `doubles`: whether it has float64."""
    pending = list(module.functions.values())
    while pending:
        function = pending.pop()
        for op in function.body.walk():
            if op.name not in WRITERS:
                continue
            type = op.operands[0].type
            assert isinstance(type, Scalar)
            if native(op.name, type):
                continue
            name = f"qd.{op.name}.{type}"
            if name not in module.functions:
                module.functions[name] = _function(name, op, type, native, doubles)
                module.functions[name].attrs.update({k: v for k, v in function.attrs.items() if k == "level"})
                pending.append(module.functions[name])
            op.attrs = {"callee": name, "result_types": (type,), "nothrow": True}
            op.redefine(OPS["call"])


def _function(name: str, op: Op, type: Scalar, native: Native, doubles: bool) -> Function:
    """The function that computes an op on floats of the type."""
    params = [Value(type) for _ in op.operands]
    builder = Builder(Region())
    own = type.bits if op.name in _OWN_WIDTH else max(type.bits, 32)
    fused = (op.name, own) in _FUSED or native("math.fma", F64 if own == 64 else F32)
    code = QirCode(builder, own, doubles, fused and op.name != "math.fma")
    wide = [code.cast(x, code.scalar) if type != code.scalar else x for x in params]
    result = WRITERS[op.name](code, *wide)
    builder.op("return", code.cast(result, type) if type != code.scalar else result)
    scope = Scope("quadrants", name, 1, internal=True)
    return Function(name, params, (type,), builder.region, scope, {"inline": "never"})
