"""What the instructions of gfx1100 compute, for the emulator: tables from names to functions.

Vector instructions take the lanes of their operands as NumPy arrays, scalar ones the bits of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

LANES = 32
ALL = (1 << LANES) - 1


def _ldexp(a: Any, b: Any) -> Any:
    return np.ldexp(a, b.astype(np.int32)).astype(a.dtype)


def fma(kind: str) -> Callable[..., Any]:
    """Rounded once: with fractions where double precision is not exact enough."""
    if kind == "f32":

        def single(a: Any, b: Any, c: Any) -> Any:
            return np.array([_exact(x, y, z, np.float32) for x, y, z in zip(a, b, c)], np.float32)

        return single

    def double(a: Any, b: Any, c: Any) -> Any:
        return np.array([_exact(x, y, z, np.float64) for x, y, z in zip(a, b, c)], np.float64)

    return double


def _exact(a: Any, b: Any, c: Any, dtype: Any) -> Any:
    if not all(map(np.isfinite, (a, b, c))):
        return dtype(a * b + c)
    total = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not total:
        return dtype(a * b + c)
    if dtype is np.float64:
        return dtype(total)
    near = np.float32(float(total))
    if Fraction(float(near)) == total or not np.isfinite(near):
        return near
    other = np.nextafter(near, np.float32(np.inf if total > Fraction(float(near)) else -np.inf))
    gap, more = abs(total - Fraction(float(near))), abs(total - Fraction(float(other)))
    return other if more < gap else near


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "ne": np.not_equal,
    "neq": np.not_equal,
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: (a == a) & (b == b),
    "u": lambda a, b: (a != a) | (b != b),
    "nlt": lambda a, b: ~(a < b),
    "nle": lambda a, b: ~(a <= b),
    "nge": lambda a, b: ~(a >= b),
    "ngt": lambda a, b: ~(a > b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
}

#: Name -> kinds of the operands, then the function of their lanes; its result has the size of the destination.
VECTOR: dict[str, tuple[str, Callable[..., Any]]] = {
    "v_mov_b32": ("u32", lambda a: a),
    "v_not_b32": ("u32", lambda a: ~a),
    **{
        f"v_{n}_b32": ("u32 u32", f)
        for n, f in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor))
    },
    "v_xnor_b32": ("u32 u32", lambda a, b: ~(a ^ b)),
    **{f"v_{n}_{k}32": (f"{k}32 {k}32", f) for n, f in (("min", np.minimum), ("max", np.maximum)) for k in "ui"},
    **{f"v_{n}_f{w}": (f"f{w} f{w}", f) for n, f in (("min", np.fmin), ("max", np.fmax)) for w in (32, 64)},
    **{f"v_add_f{w}": (f"f{w} f{w}", np.add) for w in (16, 32, 64)},
    **{f"v_mul_f{w}": (f"f{w} f{w}", np.multiply) for w in (16, 32, 64)},
    "v_sub_f32": ("f32 f32", np.subtract),
    "v_subrev_f32": ("f32 f32", lambda a, b: b - a),
    **{f"v_fma_f{w}": (f"f{w} f{w} f{w}", fma(f"f{w}")) for w in (32, 64)},
    "v_add_nc_u32": ("u32 u32", np.add),
    "v_sub_nc_u32": ("u32 u32", np.subtract),
    "v_subrev_nc_u32": ("u32 u32", lambda a, b: b - a),
    "v_mul_lo_u32": ("u32 u32", np.multiply),
    "v_mul_hi_u32": ("u32 u32", lambda a, b: (a.astype(np.uint64) * b >> np.uint64(32)).astype(np.uint32)),
    "v_mul_u32_u24": ("u32 u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    "v_mul_i32_i24": ("i32 i32", lambda a, b: (a << 8 >> 8) * (b << 8 >> 8)),
    "v_mad_u32_u24": ("u32 u32 u32", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    "v_add3_u32": ("u32 u32 u32", lambda a, b, c: a + b + c),
    "v_add_lshl_u32": ("u32 u32 u32", lambda a, b, c: (a + b) << (c & 31)),
    "v_lshl_add_u32": ("u32 u32 u32", lambda a, b, c: (a << (b & 31)) + c),
    "v_lshl_or_b32": ("u32 u32 u32", lambda a, b, c: (a << (b & 31)) | c),
    "v_and_or_b32": ("u32 u32 u32", lambda a, b, c: (a & b) | c),
    "v_or3_b32": ("u32 u32 u32", lambda a, b, c: a | b | c),
    "v_xad_u32": ("u32 u32 u32", lambda a, b, c: (a ^ b) + c),
    "v_bfi_b32": ("u32 u32 u32", lambda a, b, c: (a & b) | (~a & c)),
    "v_bfe_u32": ("u32 u32 u32", lambda a, b, c: a >> (b & 31) & ((np.uint32(1) << (c & 31)) - np.uint32(1))),
    "v_bfe_i32": (
        "i32 u32 u32",
        lambda a, b, c: a << (32 - (b & 31) - (c & 31)).astype(np.int32) >> (32 - (c & 31)).astype(np.int32),
    ),
    "v_alignbit_b32": (
        "u32 u32 u32",
        lambda a, b, c: ((a.astype(np.uint64) << np.uint64(32) | b) >> (c & 31)).astype(np.uint32),
    ),
    "v_lshlrev_b32": ("u32 u32", lambda a, b: b << (a & 31)),
    "v_lshrrev_b32": ("u32 u32", lambda a, b: b >> (a & 31)),
    "v_ashrrev_i32": ("u32 i32", lambda a, b: b >> (a & 31).astype(np.int32)),
    "v_lshlrev_b64": ("u32 u64", lambda a, b: b << (a & 63).astype(np.uint64)),
    "v_lshrrev_b64": ("u32 u64", lambda a, b: b >> (a & 63).astype(np.uint64)),
    "v_ashrrev_i64": ("u32 i64", lambda a, b: b >> (a & 63).astype(np.int64)),
    **{
        f"v_{name}3_{kind}": (f"{kind} {kind} {kind}", (lambda f: lambda a, b, c: f(f(a, b), c))(function))
        for name, function in (("min", np.fmin), ("max", np.fmax))
        for kind in ("u32", "i32", "f32")
    },
    "v_cls_i32": ("u32", lambda a: np.array([_leading(int(x)) for x in a], np.int32)),
    # Approximations are rounded here; a kernel makes exact results of them by more steps. Operands of divisions are not scaled,
    # as the hardware leaves those of moderate size.
    **{f"v_rcp_f{w}": (f"f{w}", lambda a: (1 / a).astype(a.dtype)) for w in (32, 64)},
    "v_rcp_iflag_f32": ("f32", lambda a: (1 / a).astype(a.dtype)),
    **{f"v_rsq_f{w}": (f"f{w}", lambda a: (1 / np.sqrt(a)).astype(a.dtype)) for w in (32, 64)},
    **{f"v_sqrt_f{w}": (f"f{w}", np.sqrt) for w in (32, 64)},
    **{
        f"v_div_fixup_f{w}": (f"f{w} f{w} f{w}", lambda q, b, a: np.where(np.isfinite(a / b) & (b != 0), q, a / b))
        for w in (32, 64)
    },
    **{f"v_div_fmas_f{w}": (f"f{w} f{w} f{w}", fma(f"f{w}")) for w in (32, 64)},
    "v_mul_hi_i32": ("i32 i32", lambda a, b: (a.astype(np.int64) * b >> 32).astype(np.int32)),
    "v_bcnt_u32_b32": ("u32 u32", lambda a, b: np.bitwise_count(a).astype(np.uint32) + b),
    "v_bfrev_b32": ("u32", lambda a: np.array([int(f"{x:032b}"[::-1], 2) for x in a], np.uint32)),
    "v_ctz_i32_b32": ("u32", lambda a: np.array([(int(x) & -int(x)).bit_length() - 1 for x in a], np.int32)),
    "v_clz_i32_u32": ("u32", lambda a: np.array([32 - int(x).bit_length() if x else -1 for x in a], np.int32)),
    **{f"v_cvt_f32_{k}32": (f"{k}32", lambda a: a.astype(np.float32)) for k in "ui"},
    **{f"v_cvt_f64_{k}32": (f"{k}32", lambda a: a.astype(np.float64)) for k in "ui"},
    "v_cvt_f32_ubyte0": ("u32", lambda a: (a & 255).astype(np.float32)),
    "v_cvt_f64_f32": ("f32", lambda a: a.astype(np.float64)),
    "v_cvt_f32_f64": ("f64", lambda a: a.astype(np.float32)),
    **{
        f"v_cvt_i32_f{w}": (
            f"f{w}",
            lambda a: np.clip(np.nan_to_num(np.trunc(a)), -(2.0**31), 2.0**31 - 1).astype(np.int32),
        )
        for w in (32, 64)
    },
    **{
        f"v_cvt_u32_f{w}": (f"f{w}", lambda a: np.clip(np.nan_to_num(np.trunc(a)), 0, 2.0**32 - 1).astype(np.uint32))
        for w in (32, 64)
    },
    **{
        f"v_{n}_f{w}": (f"f{w}", f)
        for n, f in (("trunc", np.trunc), ("floor", np.floor), ("ceil", np.ceil), ("rndne", np.rint))
        for w in (32, 64)
    },
    **{f"v_ldexp_f{w}": (f"f{w} i32", _ldexp) for w in (32, 64)},
}


def classes(a: np.ndarray, wanted: int) -> np.ndarray:
    """Whether floats are of one of the wanted classes."""
    tiny, negative = np.finfo(a.dtype).tiny, np.signbit(a)
    size = np.abs(a)
    kinds = [a != a, a != a, np.isinf(a) & negative, np.isfinite(a) & (size >= tiny) & negative]
    kinds += [(size > 0) & (size < tiny) & negative, (a == 0) & negative, (a == 0) & ~negative]
    kinds += [
        (size > 0) & (size < tiny) & ~negative,
        np.isfinite(a) & (size >= tiny) & ~negative,
        np.isinf(a) & ~negative,
    ]
    found = np.zeros(LANES, bool)
    for bit, kind in enumerate(kinds):
        if wanted >> bit & 1:
            found |= kind
    return found


def signed(value: int, bits: int, kind: str) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind == "i" and value >> (bits - 1) else value


def updated(what: str, kind: str, size: int, before: bytes, given: bytes) -> bytes:
    """The new content of a cell."""
    if what == "cmpswap":
        return given[:size] if before == given[size:] else before
    if kind == "f":
        both = np.frombuffer(before + given, f"f{size}")
        result: np.ndarray = {"add": np.add, "max": np.fmax, "min": np.fmin}[what](both[:1], both[1:])
        return result.tobytes()
    a, b = (signed(int.from_bytes(data, "little"), 8 * size, kind) for data in (before, given))
    results: dict[str, Callable[[], int]] = {
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "max": lambda: max(a, b),
        "min": lambda: min(a, b),
        "or": lambda: a | b,
        "and": lambda: a & b,
        "xor": lambda: a ^ b,
        "swap": lambda: b,
        "storexchg": lambda: b,
        "inc": lambda: 0 if a >= b else a + 1,
        "dec": lambda: b if a == 0 or a > b else a - 1,
    }
    return (results[what]() & (1 << 8 * size) - 1).to_bytes(size, "little")


def _carried(total: int) -> tuple[int, bool]:
    return total & 0xFFFFFFFF, not 0 <= total < 1 << 32


def _overflowed(total: int) -> tuple[int, bool]:
    return total & 0xFFFFFFFF, not -(1 << 31) <= total < 1 << 31


def _i(value: int, bits: int = 32) -> int:
    return signed(value, bits, "i")


def _leading(value: int) -> int:
    """How many bits from the top are like the sign; -1 where all are."""
    value = value ^ ALL if value >> 31 else value
    return 32 - value.bit_length() if value else -1


def _tested(value: int, bits: int = 32) -> tuple[int, bool]:
    value &= (1 << bits) - 1
    return value, value != 0


#: Name -> the function of a runner and the operands to the result and SCC, and whether SCC is written.
SCALAR: dict[str, tuple[Callable[..., tuple[int, Any]], bool]] = {
    "s_mov_b32": (lambda r, a: (a, 0), False),
    "s_mov_b64": (lambda r, a: (_i(a) & (1 << 64) - 1 if -16 <= a < 0 else a, 0), False),
    "s_movk_i32": (lambda r, a: (_i(a, 16), 0), False),
    "s_not_b32": (lambda r, a: _tested(~a), True),
    "s_not_b64": (lambda r, a: _tested(~a, 64), True),
    "s_brev_b32": (lambda r, a: (int(f"{a & ALL:032b}"[::-1], 2), 0), False),
    "s_mul_hi_i32": (lambda r, a, b: (_i(a) * _i(b) >> 32, 0), False),
    "s_cls_i32": (lambda r, a: (_leading(a & ALL), 0), False),
    "s_add_u32": (lambda r, a, b: _carried((a & ALL) + (b & ALL)), True),
    "s_addc_u32": (lambda r, a, b: _carried((a & ALL) + (b & ALL) + r.w.scc), True),
    "s_sub_u32": (lambda r, a, b: _carried((a & ALL) - (b & ALL)), True),
    "s_subb_u32": (lambda r, a, b: _carried((a & ALL) - (b & ALL) - r.w.scc), True),
    "s_add_i32": (lambda r, a, b: _overflowed(_i(a) + _i(b)), True),
    "s_sub_i32": (lambda r, a, b: _overflowed(_i(a) - _i(b)), True),
    "s_mul_i32": (lambda r, a, b: (a * b & ALL, 0), False),
    "s_mul_hi_u32": (lambda r, a, b: ((a & ALL) * (b & ALL) >> 32, 0), False),
    "s_bcnt1_i32_b32": (lambda r, a: _tested((a & ALL).bit_count()), True),
    "s_ctz_i32_b32": (lambda r, a: ((a & -a).bit_length() - 1 & ALL, 0), False),
    "s_clz_i32_u32": (lambda r, a: (32 - (a & ALL).bit_length() if a & ALL else ALL, 0), False),
    "s_cselect_b32": (lambda r, a, b: (a if r.w.scc else b, 0), False),
    "s_cselect_b64": (lambda r, a, b: (a if r.w.scc else b, 0), False),
    "s_abs_i32": (lambda r, a: _tested(abs(_i(a))), True),
    "s_sext_i32_i8": (lambda r, a: (_i(a, 8), 0), False),
    "s_sext_i32_i16": (lambda r, a: (_i(a, 16), 0), False),
    "s_min_i32": (lambda r, a, b: (min(_i(a), _i(b)), _i(a) < _i(b)), True),
    "s_max_i32": (lambda r, a, b: (max(_i(a), _i(b)), _i(a) > _i(b)), True),
    "s_min_u32": (lambda r, a, b: (min(a & ALL, b & ALL), a & ALL < b & ALL), True),
    "s_max_u32": (lambda r, a, b: (max(a & ALL, b & ALL), a & ALL > b & ALL), True),
    "s_lshl_b32": (lambda r, a, b: _tested(a << (b & 31)), True),
    "s_lshr_b32": (lambda r, a, b: _tested((a & ALL) >> (b & 31)), True),
    "s_ashr_i32": (lambda r, a, b: _tested(_i(a) >> (b & 31)), True),
    "s_lshl_b64": (lambda r, a, b: _tested(a << (b & 63), 64), True),
    "s_lshr_b64": (lambda r, a, b: _tested(a >> (b & 63), 64), True),
    "s_ashr_i64": (lambda r, a, b: _tested(_i(a, 64) >> (b & 63), 64), True),
    "s_bfe_u32": (lambda r, a, b: _tested((a & ALL) >> (b & 31) & (1 << (b >> 16 & 127)) - 1), True),
    **{
        f"s_{name}_b{bits}": ((lambda f, w: lambda r, a, b: _tested(f(a, b), w))(function, bits), True)
        for bits in (32, 64)
        for name, function in (
            ("and", lambda a, b: a & b),
            ("or", lambda a, b: a | b),
            ("xor", lambda a, b: a ^ b),
            ("and_not1", lambda a, b: a & ~b),
            ("or_not1", lambda a, b: a | ~b),
        )
    },
}
