"""The kernels of products of matrices, for every kind of numbers and every size of registers that this machine has."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import product as combinations
from typing import Any

import numpy as np
import pytest

from quadrants.host import codegen, loader, symbols
from quadrants.host.target import host_target
from quadrants.lower.abi import CTX_BYTES
from quadrants.lower.contraction import DONE, NUMBERS, SYMBOL, Number
from quadrants.lower.contraction.blocks import Blocks, blocks_for
from quadrants.lower.contraction.driver import module

_CONTEXT = ctypes.create_string_buffer(CTX_BYTES)
_LAYOUTS = ("C", "F", "A")
Kernel = Callable[..., None]


def kernel_of(number: Number, blocks: Blocks, masked: bool) -> Kernel:
    """The kernel, called with c, a, b."""
    code = codegen.compile_ir("", module(number, blocks, masked)).object_bytes
    address = loader.load(code, symbols.resolve)[SYMBOL]
    function = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(address)

    def call(c: np.ndarray, a: np.ndarray, b: np.ndarray, negate: bool = False, clear: bool = False) -> None:
        steps = [word for x in (c, a, b) for word in (x.ctypes.data, *x.strides)]
        words = np.array([*steps, *c.shape, a.shape[1], negate, clear], np.int64)
        assert function(ctypes.addressof(_CONTEXT), words.ctypes.data) == DONE

    return call


def type_of(number: Number) -> Any:
    return np.dtype(f"{'f' if number.is_float else 'i'}{number.size}")


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    if layout == "A":
        return np.repeat(np.repeat(values, 2, 0), 3, 1)[::2, ::3]
    return np.array(values, order=layout)  # type: ignore[call-overload, no-any-return]


def in_order(c: np.ndarray, a: np.ndarray, b: np.ndarray, negate: bool, clear: bool) -> np.ndarray:
    """The same by NumPy, term by term."""
    total = np.zeros_like(c) if clear else c.copy()
    for k in range(a.shape[1]):
        term = np.multiply.outer(a[:, k], b[k, :])
        total = total - term if negate else total + term
    return total


def check(kernel: Kernel, number: Number, shapes: Any, exact: bool) -> None:
    choose = np.random.default_rng(1)
    dtype = type_of(number)

    def values(*shape: int) -> np.ndarray:
        if exact and number.is_float:
            return choose.standard_normal(shape).astype(dtype)
        return choose.integers(-9, 10, shape).astype(dtype)  # sums of these are exact, fused or not

    for n, m, p in shapes:
        for number_of, (x, y, z) in enumerate(combinations(_LAYOUTS, repeat=3)):
            a, b, c = laid_out(values(n, p), x), laid_out(values(p, m), y), laid_out(values(n, m), z)
            negate, clear = bool(number_of & 1), bool(number_of & 2)
            expected = in_order(c, a, b, negate, clear)
            kernel(c, a, b, negate, clear)
            assert np.array_equal(c, expected), (n, m, p, x, y, z, negate, clear)


_SHAPES = (
    (1, 1, 1),
    (4, 1, 7),
    (5, 17, 3),
    (9, 33, 8),
    (12, 32, 5),
    (13, 16, 40),
    (26, 50, 9),
    (3, 70, 2),
    (40, 5, 64),
)


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_this_machine(number: Number) -> None:
    target = host_target()
    blocks = blocks_for(number, target.vector_bits, target.many_registers)
    check(kernel_of(number, blocks, target.vector_bits >= 256), number, _SHAPES, exact=not number.fused)


@pytest.mark.parametrize("bits, many", [(128, False), (256, False), (128, True)])
@pytest.mark.parametrize("number", [NUMBERS[0], NUMBERS[1], NUMBERS[5]], ids=str)
def test_other_registers(number: Number, bits: int, many: bool) -> None:
    if bits > host_target().vector_bits:
        pytest.skip("the registers are too large for this machine")
    check(kernel_of(number, blocks_for(number, bits, many), bits >= 256), number, _SHAPES[2:], exact=False)


def test_blocks_that_are_smaller_than_the_matrices() -> None:
    """Every loop over blocks has several turns, and a last one that is short."""
    blocks = Blocks(lanes=2, rows=4, vectors=2, depth=8, height=8, width=12)
    shapes = ((17, 30, 21), (24, 24, 24), (9, 13, 33))
    for number in (NUMBERS[1], NUMBERS[3]):
        check(packed(number, blocks), number, shapes, exact=not number.fused)


def packed(number: Number, blocks: Blocks) -> Kernel:
    """A kernel that packs whatever the size is."""
    from quadrants.lower.contraction import driver

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "FEW_ROWS", 0)
        patch.setattr(driver, "MOST_WORK", 0)
        return kernel_of(number, blocks, masked=False)


def test_nothing_to_add() -> None:
    number = NUMBERS[1]
    kernel = kernel_of(number, blocks_for(number, 128, False), masked=False)
    c = np.full((3, 4), 7.0)
    kernel(c, np.empty((3, 0)), np.empty((0, 4)))
    assert (c == 7.0).all()
    kernel(c, np.empty((3, 0)), np.empty((0, 4)), clear=True)
    assert (c == 0.0).all()


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_tiles_fit_the_registers(number: Number) -> None:
    """Accumulators, a row of the right factor and an element of the left one."""
    for bits, many in ((128, False), (128, True), (256, False), (512, True)):
        blocks = blocks_for(number, bits, many)
        assert blocks.rows * blocks.vectors + blocks.vectors + 1 <= (32 if many else 16)
        assert blocks.rows % 4 == 0 and blocks.columns % 4 == 0 and blocks.width % blocks.columns == 0
