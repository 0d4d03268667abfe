"""Products of matrices. The kernels that compute them are made when a program first comes to a large one."""

from __future__ import annotations

from typing import Any

import numpy as np

from quadrants.ir.core import Op
from quadrants.ir.opdef import Attr, AttrKind, Effect, OpDef
from quadrants.ir.ops import rules
from quadrants.ir.values import InterpArray
from quadrants.types import BOOL, Scalar, Type

_FUSED = Attr("fused", AttrKind.BOOL, required=False, default=False)


def can_contract(dtype: Scalar) -> bool:
    """Whether there are kernels for the type."""
    return dtype.bits in (32, 64) and (dtype.is_float or dtype.is_integer)


def _contract(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 3)
    arrays = [rules.array(type) for type in types]
    for array in arrays:
        if array.ndim != 2 or array.dtype != arrays[0].dtype or not can_contract(array.dtype):
            raise TypeError(f"takes matrices of one type of numbers of 32 or 64 bits, not {array}")
    if arrays[0].readonly:
        raise TypeError(f"writes to {arrays[0]}, which is read-only")
    return (BOOL,)


def _prepare(types: rules.Types, attrs: rules.Attrs, regions: rules.Regions) -> tuple[Type, ...]:
    rules.count(types, 0)
    dtype = rules.attr_type(attrs, "type")
    if not isinstance(dtype, Scalar) or not can_contract(dtype):
        raise TypeError(f"there is no kernel for {dtype}")
    return ()


def _multiply(op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    total, left, right = (value.numpy() for value in values if isinstance(value, InterpArray))
    if op.attr("clear"):
        total[...] = 0
    with np.errstate(all="ignore"):
        for k in range(left.shape[1]):
            products = np.multiply.outer(left[:, k], right[k, :])
            if op.attr("negate"):
                total -= products
            else:
                total += products
    return (True,)


DEFS = (
    OpDef(
        "contract",
        _contract,
        reference=_multiply,
        effects=Effect.READS | Effect.WRITES | Effect.RAISES | Effect.HOST,
        attrs=(
            Attr("clear", AttrKind.BOOL, required=False, default=False),
            Attr("negate", AttrKind.BOOL, required=False, default=False),
            _FUSED,
        ),
        doc="(c, a, b): adds the product of the matrices a and b to c, each element in the order of the sum; gives whether it did: "
        "there may be no memory for it. `clear`: c is 0 before; `negate`: it is subtracted; `fused`: a product and a sum may be "
        "rounded once. It polls. That the sizes fit, that no element of c is an element of a or b or another one of c, is "
        "promised by the maker.",
        derivative="none: after differentiation",
    ),
    OpDef(
        "contract.prepare",
        _prepare,
        reference=lambda op, values: (),
        effects=Effect.RAISES | Effect.HOST,
        attrs=(Attr("type", AttrKind.TYPE), _FUSED),
        doc="Makes ready what `contract` calls: where threads of the pool come to one, which cannot do it themselves.",
        derivative="none: after differentiation",
    ),
)
