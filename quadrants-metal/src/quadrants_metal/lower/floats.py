"""The functions of floats that MSL has with exact results. The others are expanded into these before (`softmath`)."""

from __future__ import annotations

from quadrants.ir.core import Op
from quadrants_metal.lower.emit import Emitter, FunctionEmitter, scalar


def _exact(name: str) -> Emitter:
    """A function that is computed in float32: its result, rounded to float16, is that of float16."""

    def emit(e: FunctionEmitter, op: Op) -> None:
        if scalar(op.result).bits == 16:
            operands = ", ".join(f"float({part})" for part in e.all(op.operands))
            e.set(op, f"half({name}({operands}))")
        else:
            e.set(op, f"{name}({', '.join(e.all(op.operands))})")

    return emit


EMITTERS: dict[str, Emitter] = {
    "math.sqrt": _exact("precise::sqrt"),
    "math.floor": _exact("floor"),
    "math.ceil": _exact("ceil"),
    "math.trunc": _exact("trunc"),
    "math.rint": _exact("rint"),
    "math.fma": _exact("fma"),
    "math.fmin": _exact("fmin"),
    "math.fmax": _exact("fmax"),
    "math.copysign": _exact("copysign"),
}
