"""Functions that emitted code calls, written in QIR: what takes too many instructions to repeat.

Those on 64-bit integers work on pairs of words, low before high, for devices that have none. QIR's shifts give 0 for counts of
the width and more, and so do these.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from quadrants_vulkan.lower import subgroup_helpers

_SHIFT_LEFT = """(%lo: u32, %hi: u32, %n: u32) -> (u32, u32) {
  %c32 = const 32 : u32
  %back = sub %c32, %n
  %over = sub %n, %c32
  %low = shl %lo, %n
  %a = shl %hi, %n
  %b = shr %lo, %back
  %c = shl %lo, %over
  %ab = or %a, %b
  %high = or %ab, %c
  return %low, %high
}"""

_SHIFT_RIGHT = """(%lo: u32, %hi: u32, %n: u32) -> (u32, u32) {
  %c32 = const 32 : u32
  %back = sub %c32, %n
  %over = sub %n, %c32
  %high = shr %hi, %n
  %a = shr %lo, %n
  %b = shl %hi, %back
  %c = shr %hi, %over
  %ab = or %a, %b
  %low = or %ab, %c
  return %low, %high
}"""

_SHIFT_RIGHT_SIGNED = """(%lo: u32, %hi: u32, %n: u32) -> (u32, u32) {
  %c31 = const 31 : i32
  %c32 = const 32 : u32
  %top = cast %hi {type=i32}
  %fill = shr %top, %c31
  %sign = cast %fill {type=u32}
  %x = xor %lo, %sign
  %y = xor %hi, %sign
  %back = sub %c32, %n
  %over = sub %n, %c32
  %h = shr %y, %n
  %a = shr %x, %n
  %b = shl %y, %back
  %c = shr %y, %over
  %ab = or %a, %b
  %l = or %ab, %c
  %low = xor %l, %sign
  %high = xor %h, %sign
  return %low, %high
}"""

# Bit by bit, from the top of the dividend: the remainder never needs more than 64 bits and a carry.
_DIVIDE = """(%a0: u32, %a1: u32, %b0: u32, %b1: u32) -> (u32, u32, u32, u32) {
  %zero = const 0 : u32
  %one = const 1 : u32
  %c31 = const 31 : u32
  %highs = or %a1, %b1
  %small = cmp %highs, %zero {pred="eq"}
  %q0, %q1, %r0, %r1 = if %small : u32, u32, u32, u32 {
    %q = floordiv %a0, %b0 {nonzero=true}
    %r = mod %a0, %b0 {nonzero=true}
    yield %q, %zero, %r, %zero
  } else {
    %last = const 63 : u32
    %s0, %s1, %t0, %t1 = loop %last, %a0, %a1, %zero, %zero {label=0, result_types=[u32, u32, u32, u32]}
        (%turn: u32, %x0: u32, %x1: u32, %p0: u32, %p1: u32) {
      %carry = shr %p1, %c31
      %p1s = shl %p1, %one
      %p0top = shr %p0, %c31
      %n1 = or %p1s, %p0top
      %p0s = shl %p0, %one
      %x1top = shr %x1, %c31
      %n0 = or %p0s, %x1top
      %x1s = shl %x1, %one
      %x0top = shr %x0, %c31
      %y1 = or %x1s, %x0top
      %y0 = shl %x0, %one
      %above = cmp %n1, %b1 {pred="gt"}
      %same = cmp %n1, %b1 {pred="eq"}
      %reach = cmp %n0, %b0 {pred="ge"}
      %level = and %same, %reach
      %over = cmp %carry, %zero {pred="ne"}
      %fits0 = or %above, %level
      %fits = or %fits0, %over
      %borrow0 = cmp %n0, %b0 {pred="lt"}
      %borrow = cast %borrow0 {type=u32}
      %d0 = sub %n0, %b0
      %d1a = sub %n1, %b1
      %d1 = sub %d1a, %borrow
      %m0 = select %fits, %d0, %n0
      %m1 = select %fits, %d1, %n1
      %bit = cast %fits {type=u32}
      %z0 = or %y0, %bit
      %done = cmp %turn, %zero {pred="eq"}
      if %done {
        break %z0, %y1, %m0, %m1 {label=0}
      } else {
        yield
      }
      %next = sub %turn, %one
      continue %next, %z0, %y1, %m0, %m1 {label=0}
    }
    yield %s0, %s1, %t0, %t1
  }
  return %q0, %q1, %r0, %r1
}"""

# To nearest even in the 10 bits of float16's fraction; by a sum below its normal numbers; infinite from 65520 on.
_ROUND_HALF = """(%x: f32) -> (f32) {
  %bits = bitcast %x {type=u32}
  %signs = const 2147483648 : u32
  %sign = and %bits, %signs
  %rest = const 2147483647 : u32
  %size = and %bits, %rest
  %c13 = const 13 : u32
  %one = const 1 : u32
  %under = const 4095 : u32
  %kept = const 4294959104 : u32
  %least = shr %size, %c13
  %odd = and %least, %one
  %up = add %size, %under
  %even = add %up, %odd
  %normal = and %even, %kept
  %abs = bitcast %size {type=f32}
  %half = const 0.5 : f32
  %sum = add %abs, %half
  %low = sub %sum, %half
  %lows = bitcast %low {type=u32}
  %normals = const 947912704 : u32
  %tiny = cmp %size, %normals {pred="lt"}
  %some = select %tiny, %lows, %normal
  %top = const 1199570944 : u32
  %inf = const 2139095040 : u32
  %large = cmp %normal, %top {pred="ge"}
  %capped = select %large, %inf, %some
  %nan = cmp %size, %inf {pred="gt"}
  %result = select %nan, %size, %capped
  %signed = or %result, %sign
  %y = bitcast %signed {type=f32}
  return %y
}"""

# The bits of a float32 that is representable as a float16.
_TO_HALF = """(%x: f32) -> (u32) {
  %bits = bitcast %x {type=u32}
  %c16 = const 16 : u32
  %c13 = const 13 : u32
  %top = shr %bits, %c16
  %signs = const 32768 : u32
  %sign = and %top, %signs
  %rest = const 2147483647 : u32
  %size = and %bits, %rest
  %bias = const 939524096 : u32
  %rebased = sub %size, %bias
  %normal = shr %rebased, %c13
  %abs = bitcast %size {type=f32}
  %scale = const 16777216.0 : f32
  %scaled = mul %abs, %scale
  %lows = cast %scaled {type=u32}
  %normals = const 947912704 : u32
  %tiny = cmp %size, %normals {pred="lt"}
  %finite = select %tiny, %lows, %normal
  %inf = const 2139095040 : u32
  %isinf = cmp %size, %inf {pred="eq"}
  %halfinf = const 31744 : u32
  %a = select %isinf, %halfinf, %finite
  %isnan = cmp %size, %inf {pred="gt"}
  %halfnan = const 32256 : u32
  %b = select %isnan, %halfnan, %a
  %result = or %b, %sign
  return %result
}"""

_FROM_HALF = """(%half: u32) -> (f32) {
  %c16 = const 16 : u32
  %c13 = const 13 : u32
  %signs = const 32768 : u32
  %sign0 = and %half, %signs
  %sign = shl %sign0, %c16
  %rest = const 32767 : u32
  %size = and %half, %rest
  %shifted = shl %size, %c13
  %bias = const 939524096 : u32
  %normal = add %shifted, %bias
  %value = cast %size {type=f32}
  %scale = const 5.9604644775390625e-08 : f32
  %scaled = mul %value, %scale
  %lows = bitcast %scaled {type=u32}
  %c1024 = const 1024 : u32
  %tiny = cmp %size, %c1024 {pred="lt"}
  %finite = select %tiny, %lows, %normal
  %halfinf = const 31744 : u32
  %special = cmp %size, %halfinf {pred="ge"}
  %inf = const 2139095040 : u32
  %infinite = or %shifted, %inf
  %some = select %special, %infinite, %finite
  %bits = or %some, %sign
  %x = bitcast %bits {type=f32}
  return %x
}"""

# A pair of words (two's complement, or without a sign) to the nearest float32, ties to even: as many bits as fit 32,
# the rest sticky.
_PAIR_TO_SINGLE = """(%lo: u32, %hi: u32) -> (f32) {
  %zero = const 0 : u32
  %some = cmp %hi, %zero {pred="ne"}
  %r = if %some : f32 {
    %c32 = const 32 : u32
    %n = clz %hi
    %back = sub %c32, %n
    %up = shl %hi, %n
    %down = shr %lo, %back
    %top = or %up, %down
    %lost = shl %lo, %n
    %inexact = cmp %lost, %zero {pred="ne"}
    %sticky = cast %inexact {type=u32}
    %all = or %top, %sticky
    %one = const 1 : u32
    %half = shr %all, %one
    %lowest = and %all, %one
    %signed = or %half, %lowest
    %whole = cast %signed {type=i32}
    %f = cast %whole {type=f32}
    %c128 = const 128 : u32
    %exponent = add %c128, %back
    %c23 = const 23 : u32
    %bits = shl %exponent, %c23
    %scale = bitcast %bits {type=f32}
    %s = mul %f, %scale
    yield %s
  } else {
    %g = cast %lo {type=f32}
    yield %g
  }
  return %r
}"""

# The whole part of a size below 2^64, as a pair of words.
_SINGLE_TO_PAIR = """(%x: f32) -> (u32, u32) {
  %bits = bitcast %x {type=u32}
  %c23 = const 23 : u32
  %c32 = const 32 : u32
  %c255 = const 255 : u32
  %c150 = const 150 : u32
  %e0 = shr %bits, %c23
  %e = and %e0, %c255
  %fraction = const 8388607 : u32
  %one = const 8388608 : u32
  %m0 = and %bits, %fraction
  %m = or %m0, %one
  %left = sub %e, %c150
  %right = sub %c150, %e
  %a = shl %m, %left
  %b = shr %m, %right
  %lo = or %a, %b
  %whole = cmp %e, %c150 {pred="eq"}
  %low = select %whole, %m, %lo
  %over = sub %left, %c32
  %back = sub %c32, %left
  %h1 = shl %m, %over
  %h2 = shr %m, %back
  %hi = or %h1, %h2
  %grows = cmp %e, %c150 {pred="gt"}
  %zero = const 0 : u32
  %high = select %grows, %hi, %zero
  return %low, %high
}"""

# The bits of a float64 to the nearest float32: 31 bits of its fraction, the rest sticky, and its exponent in two steps.
_DOUBLE_TO_SINGLE = """(%lo: u32, %hi: u32) -> (f32) {
  %zero = const 0 : u32
  %c31 = const 31 : u32
  %c20 = const 20 : u32
  %c10 = const 10 : u32
  %c22 = const 22 : u32
  %c2047 = const 2047 : u32
  %fraction = const 1048575 : u32
  %below = const 4194303 : u32
  %one = const 1073741824 : u32
  %e0 = shr %hi, %c20
  %e = and %e0, %c2047
  %top = and %hi, %fraction
  %a = shl %top, %c10
  %b = shr %lo, %c22
  %ab = or %a, %b
  %m = or %ab, %one
  %lost = and %lo, %below
  %inexact = cmp %lost, %zero {pred="ne"}
  %sticky = cast %inexact {type=u32}
  %all = or %m, %sticky
  %whole = cast %all {type=i32}
  %f = cast %whole {type=f32}
  %ei = cast %e {type=i32}
  %bias = const 1053 : i32
  %shift = sub %ei, %bias
  %low = const -240 : i32
  %high = const 240 : i32
  %s0 = max %shift, %low
  %s1 = min %s0, %high
  %two = const 1 : i32
  %half = shr %s1, %two
  %rest = sub %s1, %half
  %c127 = const 127 : i32
  %c23 = const 23 : i32
  %h0 = add %half, %c127
  %h1 = shl %h0, %c23
  %h = bitcast %h1 {type=f32}
  %r0 = add %rest, %c127
  %r1 = shl %r0, %c23
  %r = bitcast %r1 {type=f32}
  %fh = mul %f, %h
  %y = mul %fh, %r
  %special = cmp %e, %c2047 {pred="eq"}
  %parts = or %top, %lo
  %isinf = cmp %parts, %zero {pred="eq"}
  %inf = const inf : f32
  %nan = const nan : f32
  %which = select %isinf, %inf, %nan
  %size = select %special, %which, %y
  %none = cmp %e, %zero {pred="eq"}
  %nothing = const 0.0 : f32
  %finite = select %none, %nothing, %size
  %negative = shr %hi, %c31
  %minus = cmp %negative, %zero {pred="ne"}
  %mirrored = neg %finite
  %result = select %minus, %mirrored, %finite
  return %result
}"""

#: The file that helpers say they are from.
ORIGIN = "quadrants_vulkan"

TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "shift_left": _SHIFT_LEFT,
        "shift_right": _SHIFT_RIGHT,
        "shift_right_signed": _SHIFT_RIGHT_SIGNED,
        "divide": _DIVIDE,
        "round_half": _ROUND_HALF,
        "to_half": _TO_HALF,
        "from_half": _FROM_HALF,
        "pair_to_single": _PAIR_TO_SINGLE,
        "single_to_pair": _SINGLE_TO_PAIR,
        "double_to_single": _DOUBLE_TO_SINGLE,
    }
)


def text(name: str, subgroup: int) -> str:
    """The helper as a module of its own, for subgroups of a size."""
    start, rest = (TEXTS.get(name) or subgroup_helpers.text(name, subgroup)).split(" {\n", 1)
    origin = f'from "{ORIGIN}" "helpers" 1 internal'
    return f"qir 1\nentry @{name}\n\nfunc @{name}{start} {origin} {{\n{rest}\n"
