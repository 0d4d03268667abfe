"""The head of every module: what emitted code calls, in MSL.

`Launch` is what the host says of a launch beside the arguments, `Here` what a thread knows of its place.
"""

from __future__ import annotations

from quadrants.host.reports import BLOCK, THREAD

PRELUDE = f"""#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct Launch {{
  device uint* report;
  uint dynamic_bytes;
  uint unused;
}};

struct Here {{
  uint3 thread_index, block, block_size, grid;
  uint lane, lanes;
  threadgroup uchar* shared;
  uint dynamic_bytes;
  device uint* report;
}};

template <typename T, typename U> inline T qd_floordiv(T a, T b) {{
  if (b == 0) return 0;
  if (b == T(-1)) return T(U(0) - U(a));
  T quotient = T(a / b);
  return T(a % b) != 0 && (a < 0) != (b < 0) ? T(quotient - 1) : quotient;
}}
template <typename T, typename U> inline T qd_mod(T a, T b) {{
  if (b == 0 || b == T(-1)) return 0;
  T rest = T(a % b);
  return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
}}
template <typename T> inline T qd_floordiv_unsigned(T a, T b) {{ return b == 0 ? T(0) : T(a / b); }}
template <typename T> inline T qd_mod_unsigned(T a, T b) {{ return b == 0 ? T(0) : T(a % b); }}

inline uint qd_popcount(uint x) {{ return popcount(x); }}
inline ulong qd_popcount(ulong x) {{ return ulong(popcount(uint(x)) + popcount(uint(x >> 32))); }}
inline uint qd_clz(uint x) {{ return clz(x); }}
inline ulong qd_clz(ulong x) {{
  uint high = uint(x >> 32);
  return ulong(high == 0u ? 32u + clz(uint(x)) : clz(high));
}}
inline uint qd_ctz(uint x) {{ return ctz(x); }}
inline uint qd_ctz(ulong x) {{
  uint low = uint(x);
  return low == 0u ? 32u + ctz(uint(x >> 32)) : ctz(low);
}}
inline uint qd_reverse(uint x) {{ return reverse_bits(x); }}
inline ulong qd_reverse(ulong x) {{
  return ulong(reverse_bits(uint(x))) << 32 | ulong(reverse_bits(uint(x >> 32)));
}}
inline uint qd_swap(uint x) {{
  return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}}
inline ulong qd_swap(ulong x) {{ return ulong(qd_swap(uint(x))) << 32 | ulong(qd_swap(uint(x >> 32))); }}

inline long qd_to_long(float x) {{
  return x >= -9223372036854775808.0f && x < 9223372036854775808.0f ? long(x) : long(0x8000000000000000ul);
}}
inline ulong qd_to_ulong(float x) {{
  return x > -1.0f && x < 18446744073709551616.0f ? ulong(fabs(x)) : 0x8000000000000000ul;
}}
inline int qd_to_int(float x) {{ return fabs(x) < 2147483648.0f ? int(x) : int(uint(ulong(qd_to_long(x)))); }}

// The bits of a float64 to the nearest float32.
inline float qd_single(ulong bits) {{
  uint sign = uint(bits >> 32) & 0x80000000u;
  int raised = int(bits >> 52 & 2047ul);
  ulong fraction = bits & 0xffffffffffffful;
  if (raised == 2047) return as_type<float>(sign | 0x7f800000u | (fraction != 0ul ? 0x400000u : 0u));
  int exponent = raised - 896;
  if (exponent > 254) return as_type<float>(sign | 0x7f800000u);
  uint shift = 29u + (exponent <= 0 ? uint(1 - exponent) : 0u);
  if (shift > 54u) return as_type<float>(sign);
  ulong all = fraction | (raised != 0 ? 0x10000000000000ul : 0ul);
  ulong kept = all >> shift, rest = all & ((1ul << shift) - 1ul), half_way = 1ul << (shift - 1u);
  kept += rest > half_way || (rest == half_way && (kept & 1ul) != 0ul) ? 1ul : 0ul;
  uint size = exponent > 0 ? (uint(exponent) << 23) + uint(kept) - 0x800000u : uint(kept);
  return as_type<float>(sign | min(size, 0x7f800000u));
}}

inline uint qd_add(device atomic_uint* cell, uint value) {{
  return atomic_fetch_add_explicit(cell, value, memory_order_relaxed);
}}

// Whether this thread is the first that reports; then it says where it is.
inline bool qd_reports(thread const Here& here, uint site) {{
  device atomic_uint* cell = reinterpret_cast<device atomic_uint*>(here.report);
  uint found = 0u;
  while (!atomic_compare_exchange_weak_explicit(cell, &found, site, memory_order_relaxed, memory_order_relaxed)) {{
    if (found != 0u) return false;
  }}
  here.report[{BLOCK}] = here.block.x;
  here.report[{BLOCK + 1}] = here.block.y;
  here.report[{BLOCK + 2}] = here.block.z;
  here.report[{THREAD}] = here.thread_index.x;
  here.report[{THREAD + 1}] = here.thread_index.y;
  here.report[{THREAD + 2}] = here.thread_index.z;
  return true;
}}

// Wait for the block; for how many threads the condition holds.
inline uint qd_count(thread const Here& here, threadgroup atomic_uint* counter, bool condition) {{
  if (here.thread_index.x == 0u && here.thread_index.y == 0u && here.thread_index.z == 0u)
    atomic_store_explicit(counter, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  if (condition) atomic_fetch_add_explicit(counter, 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  uint total = atomic_load_explicit(counter, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  return total;
}}

"""
