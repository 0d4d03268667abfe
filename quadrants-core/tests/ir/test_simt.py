"""The reference interpreter of device code."""

from __future__ import annotations

import random

import numpy as np
import pytest

from quadrants.ir.memcheck import Race, Uninitialised
from quadrants.ir.parser import parse_module
from quadrants.ir.simt import Divergence, run_grid
from quadrants.ir.spec import verify
from quadrants.ir.text import print_module
from quadrants.ir.threads import Geometry
from quadrants.ir.values import Raised

HEAD = 'qir 1\nentry @k\n\nfunc @k({params}) -> () from "k.py" "k" 1 with {{kernel=true, level="device"}} {{\n'
INDEX = """
  %tx32 = thread.index {axis=0} : i32
  %bx32 = block.index {axis=0} : i32
  %nx32 = block.size {axis=0} : i32
  %t = cast %tx32 {type=i64} : i64
  %b = cast %bx32 {type=i64} : i64
  %n = cast %nx32 {type=i64} : i64
  %first = mul %b, %n : i64
  %i = add %first, %t : i64
"""


def kernel(params: str, body: str):
    """A kernel from its parameters and body; valid, and equal after a round through text."""
    module = parse_module(HEAD.format(params=params) + INDEX + body + "\n  return\n}\n")
    verify(module)
    assert print_module(parse_module(print_module(module))) == print_module(module)
    return module


def launch(module, args, grid=1, block=1, **options) -> None:
    run_grid(module, args, Geometry((grid, 1, 1), (block, 1, 1), options.pop("shared_bytes", 0)), **options)


SAXPY = kernel(
    "%a: f32, %x: array<f32, 1, C, ro>, %y: array<f32, 1, C>",
    """
  %size = dim %y {axis=0} : i64
  %inside = cmp %i, %size {pred="lt"} : bool
  if %inside {
    %xi = load %x, %i : f32
    %yi = load %y, %i : f32
    %p = mul %a, %xi : f32
    %s = add %p, %yi : f32
    store %s, %y, %i
    yield
  } else {
    yield
  }
""",
)


def test_threads_cover_the_grid() -> None:
    x, y = np.arange(100, dtype=np.float32), np.ones(100, dtype=np.float32)
    launch(SAXPY, (2.0, x, y), grid=4, block=32, checks=True)
    assert np.array_equal(y, 2 * x + 1)


def test_zero_grid_does_nothing() -> None:
    y = np.ones(3, dtype=np.float32)
    launch(SAXPY, (2.0, y.copy(), y), grid=0, block=32)
    assert np.array_equal(y, np.ones(3))


REVERSE = """
  %tile = shared.array {shape=[64], type=array<f32, 1, C, shared>} : array<f32, 1, C, shared>
  %v = load %x, %i : f32
  store %v, %tile, %t
  {barrier}
  %one = const 1 : i64
  %last = sub %n, %one : i64
  %other = sub %last, %t : i64
  %w = load %tile, %other : f32
  store %w, %x, %i
"""


@pytest.mark.parametrize("seed", range(4))
def test_barrier_and_shared_memory(seed: int) -> None:
    module = kernel("%x: array<f32, 1, C>", REVERSE.replace("{barrier}", "barrier"))
    x = np.arange(192, dtype=np.float32)
    shuffled = random.Random(seed)
    launch(module, (x,), 3, 64, checks=True, order=lambda n: shuffled.sample(n, len(n)))
    assert np.array_equal(x, np.arange(192).reshape(3, 64)[:, ::-1].ravel())


def test_missing_barrier_is_a_race_or_a_read_of_nothing() -> None:
    module = kernel("%x: array<f32, 1, C>", REVERSE.replace("{barrier}", ""))
    with pytest.raises((Race, Uninitialised), match="element 63"):
        launch(module, (np.zeros(64, np.float32),), 1, 64, checks=True)


def test_race_names_both_threads() -> None:
    module = kernel(
        "%x: array<i64, 1, C>",
        """
  %zero = const 0 : i64
  store %t, %x, %zero""",
    )
    with pytest.raises(Race, match=r"element 0 .* thread \(1, 0, 0\) writes it, .* thread \(0, 0, 0\) writes it"):
        launch(module, (np.zeros(1, np.int64),), 1, 2, checks=True)
    with pytest.raises(Race, match=r"block \(1, 0, 0\), thread \(0, 0, 0\) writes it, block \(0, 0, 0\)"):
        launch(kernel("%x: array<i64, 1, C>", "  %z = const 0 : i64\n  store %b, %x, %z"), (np.zeros(1, np.int64),), 2, 1,
               checks=True)  # fmt: skip


def test_atomics_do_not_race() -> None:
    module = kernel(
        "%x: array<i64, 1, C>",
        """
  %zero = const 0 : i64
  %one = const 1 : i64
  %old = atomic %one, %x, %zero {op="add"} : i64
  %places = atomic %i, %x, %one {op="max"} : i64
""",
    )
    x = np.zeros(2, np.int64)
    launch(module, (x,), 5, 7, checks=True)
    assert x.tolist() == [35, 34]


def test_divergent_barrier() -> None:
    module = kernel(
        "",
        """
  %three = const 3 : i64
  %some = cmp %t, %three {pred="lt"} : bool
  if %some {
    barrier
    yield
  } else {
    yield
  }
""",
    )
    launch(module, (), 1, 3)
    with pytest.raises(Divergence, match=r"thread \(0, 0, 0\) waits for all of the block, but .* \(3, 0, 0\) has left"):
        launch(module, (), 1, 4)


def test_barriers_that_count() -> None:
    module = kernel(
        "%out: array<i32, 2, C>",
        """
  %two = const 2 : i64
  %rest = mod %t, %two : i64
  %zero = const 0 : i64
  %one = const 1 : i64
  %odd = cmp %rest, %zero {pred="ne"} : bool
  %count = barrier.count %odd : i32
  %all = barrier.all %odd : bool
  %any = barrier.any %odd : bool
  %all32 = cast %all {type=i32} : i32
  %any32 = cast %any {type=i32} : i32
  store %count, %out, %t, %zero
  store %all32, %out, %t, %one
  store %any32, %out, %t, %two
""",
    )
    out = np.zeros((5, 3), np.int32)
    launch(module, (out,), 1, 5, checks=True)
    assert np.array_equal(out, np.tile([2, 0, 1], (5, 1)))


def test_subgroups() -> None:
    module = kernel(
        "%out: array<i32, 2, C>",
        """
  %one = const 1 : i32
  %c1 = const 1 : i64
  %c0 = const 0 : i64
  %c2 = const 2 : i64
  %c3 = const 3 : i64
  %up = shuffle %tx32, %one {mode="up"} : i32
  %down = shuffle %tx32, %one {mode="down"} : i32
  %sum = subgroup.reduce %tx32 {op="add"} : i32
  %before = subgroup.scan %tx32 {inclusive=false, op="add"} : i32
  store %up, %out, %t, %c0
  store %down, %out, %t, %c1
  store %sum, %out, %t, %c2
  store %before, %out, %t, %c3
""",
    )
    out = np.zeros((40, 4), np.int32)
    launch(module, (out,), 1, 40)
    lanes = np.arange(40)
    assert np.array_equal(out[:, 0], np.where(lanes % 32 == 0, lanes, lanes - 1))
    assert np.array_equal(out[:, 1], np.where((lanes % 32 == 31) | (lanes == 39), lanes, lanes + 1))
    assert np.array_equal(out[:, 2], np.where(lanes < 32, sum(range(32)), sum(range(32, 40))))
    first = np.cumsum(lanes[:32]) - lanes[:32]
    assert np.array_equal(out[:, 3], [*first, *(np.cumsum(lanes[32:]) - lanes[32:])])


def test_lanes_meet_again_behind_a_branch() -> None:
    module = kernel(
        "%out: array<u64, 2, C>",
        """
  %two = const 2 : i64
  %zero = const 0 : i64
  %one = const 1 : i64
  %rest = mod %t, %two : i64
  %odd = cmp %rest, %zero {pred="ne"} : bool
  if %odd {
    %inside = lane.active : u64
    store %inside, %out, %t, %zero
    yield
  } else {
    yield
  }
  %behind = lane.active : u64
  store %behind, %out, %t, %one
""",
    )
    out = np.zeros((8, 2), np.uint64)
    launch(module, (out,), 1, 8)
    assert out[:, 1].tolist() == [0xFF] * 8
    assert out[:, 0].tolist() == [0, 0xAA] * 4


def test_dynamic_shared_memory_is_one_buffer() -> None:
    module = kernel(
        "%out: array<i32, 1, C>",
        """
  %ints = shared.dynamic {type=array<i32, 1, C, shared>} : array<i32, 1, C, shared>
  %words = shared.dynamic {type=array<i64, 1, C, shared>} : array<i64, 1, C, shared>
  %zero = const 0 : i64
  %one = const 1 : i64
  %value = const 4294967298 : i64
  store %value, %words, %zero
  %low = load %ints, %zero : i32
  %high = load %ints, %one : i32
  store %low, %out, %zero
  store %high, %out, %one
  %size = dim %ints {axis=0} : i64
  %size32 = cast %size {type=i32} : i32
  %two = const 2 : i64
  store %size32, %out, %two
""",
    )
    out = np.zeros(3, np.int32)
    launch(module, (out,), 1, 1, shared_bytes=24)
    assert out.tolist() == [2, 1, 6]


def test_local_arrays_belong_to_a_thread() -> None:
    module = kernel(
        "%out: array<i64, 1, C>",
        """
  %mine = local.array {shape=[2], type=array<i64, 1, C, local>} : array<i64, 1, C, local>
  %zero = const 0 : i64
  store %t, %mine, %zero
  barrier
  %v = load %mine, %zero : i64
  store %v, %out, %i
""",
    )
    out = np.zeros(6, np.int64)
    launch(module, (out,), 2, 3, checks=True)
    assert out.tolist() == [0, 1, 2, 0, 1, 2]


def test_grid_barrier() -> None:
    module = kernel(
        "%x: array<i64, 1, C>, %y: array<i64, 1, C>",
        """
  store %i, %x, %i
  grid.barrier
  %size = dim %x {axis=0} : i64
  %one = const 1 : i64
  %last = sub %size, %one : i64
  %other = sub %last, %i : i64
  %v = load %x, %other : i64
  store %v, %y, %i
""",
    )
    x, y = np.zeros(12, np.int64), np.zeros(12, np.int64)
    launch(module, (x, y), 3, 4, checks=True)
    assert y.tolist() == list(range(12))[::-1]


def test_exceptions_know_their_thread() -> None:
    module = kernel("%x: array<i64, 1, C>", "  %v = load %x, %i : i64\n  store %v, %x, %i")
    with pytest.raises(Raised, match="index 5 is out of bounds") as caught:
        launch(module, (np.zeros(5, np.int64),), 2, 4)
    assert str(caught.value.thread) == "block (1, 0, 0), thread (1, 0, 0)"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("%s = shared.array {shape=[0], type=array<f32, 1, C, shared>} : array<f32, 1, C, shared>", "positive ints"),
        ("%s = shared.array {shape=[4], type=array<f32, 1, C>} : array<f32, 1, C>", "in shared memory"),
        ('%s = shuffle %t, %t {mode="up"} : i64', "must be i32"),
        ('%s = atomic %t, %x, %t {op="and"} : f32', "integers"),
        ('%s = subgroup.reduce %some {op="add"} : bool', "does not combine"),
    ],
)
def test_type_rules(text: str, reason: str) -> None:
    head = HEAD.format(params="%x: array<f32, 1, C>, %some: bool") + INDEX
    text = text.replace("atomic %t", "atomic %v")
    module = parse_module(head + "  %v = const 1.0 : f32\n  " + text + "\n  return\n}\n")
    with pytest.raises(Exception, match=reason):
        verify(module)
