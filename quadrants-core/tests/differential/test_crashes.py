"""Programs and arguments that must not crash Python, nor make the compiler fail in its own code.

Each batch runs in a process of its own, so that a crash is a failed test. Whatever is not supported gives a `QuadrantsError`;
what raises raises Python's exceptions.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PRELUDE = f"""
import os, sys
sys.path.insert(0, {str(TESTS)!r})
os.environ["QUADRANTS_CACHE"] = "0"
import numpy as np
import quadrants
from differential.running import function_of

def outcome(source, *args):
    try:
        quadrants.njit(function_of(source))(*args)
        return "fine"
    except quadrants.QuadrantsError as error:
        code = getattr(error, "code", None)
        return "internal" if "QD599" in str(error) or "does not hold together" in str(error) else "refused"
    except Exception as error:
        return type(error).__name__

def expect(wanted, source, *args):
    found = outcome(source, *args)
    if found not in wanted.split("|"):
        print("WRONG", wanted, found, repr(source[:200]), str(args)[:100])
"""


def run_batch(body: str) -> None:
    program = PRELUDE + textwrap.dedent(body) + "\nprint('END')\n"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert "WRONG" not in done.stdout, done.stdout
    assert done.stdout.rstrip().endswith("END")


REFUSED = (
    "yield x", "return (yield)", "with x: pass", "class A: pass", "global Z\n    Z = 1",
    "return {i for i in range(3)}", "return {i: 1 for i in range(3)}", "return {1, 2}", "d = {}\n    d[1] = x\n    return d",
    "d = dict(x)", "return {**x}", "return print(**x)", "return x.foo", "x.foo = 1", "del x.foo", "x[0] = 1",
    "return x[0]", "return x()", "for i in x: pass", "a, b = x", "return len(x)", "return x + 'a'", "return not_defined(x)",
    "return np.nope(x)", "return np.fft.fft(x)", "return open('x')", "return eval('1')", "exec('1')", "return locals()",
    "return lambda: x", "return range(x)", "return ValueError(x)", "try: 1 // x\n    except x: return 1", "raise x", "raise int",
    "raise ValueError(np.arange(3))", "raise ValueError from x", "assert x, np.arange(3)", "return super().x", "return input()",
    "match x:\n        case {'a': 1}: return 1", "def g(): yield 1\n    return g()", "return x.append(1)",
    "t = ()\n    for i in range(x): t = t + (i,)\n    return t", "for i in range(x): x = (x,)\n    return x", "return round(np.arange(3))",
    "def g():\n        nonlocal x\n        x = (x,)\n    g()\n    g()", "try: 1 // x\n    except ZeroDivisionError as e: return e", "return np.zeros(3, 'U5')",
    "return x @ x", "return np.zeros(3)[1.5]",
    "return np.zeros(3)['a']", "return -'a'", "return x < 1j", "return (1, 2)[x:]", "return id(x)",
    "return sorted(x)", "return np.array([1, 'a'])", "return np.zeros('a')",
    "return int(1j)", "return float(None)", "return range(1.5)", "return np.zeros(3).nope", "return np.zeros(3).nope()",
    "return np.linalg.nope(x)", "while True: f(x)", "return f(x)", "return np.concatenate(x)",
    "return min()", "return abs()", "return isinstance(x)", "return zip(*x)", "return type('A', (), {})", "print(x, file=x)",
)  # fmt: skip


def test_refused_constructs():
    """Each is refused by a QuadrantsError: no construct reaches an assertion or a KeyError of the compiler."""
    sources = [f"def f(x):\n    {body}\n" for body in REFUSED]
    run_batch(f"for source in {sources!r}:\n    expect('refused', source, 3)")


def test_what_raises_when_it_is_reached():
    run_batch("""
        expect("IndexError", "def f(x):\\n    return np.zeros(3)[x, x]", 3)
        expect("ValueError", "def f(x):\\n    del np.zeros(3)[0]", 3)
    """)


def test_async_functions():
    run_batch("""
        expect("refused", "async def f(x):\\n    return x", 1)
        expect("refused", "async def f(x):\\n    await x", 1)
        expect("refused", "async def f(x):\\n    async with x: pass", 1)
        expect("refused", "async def f(x):\\n    yield x", 1)
    """)


def test_arguments_of_other_types():
    run_batch("""
        import decimal, fractions
        values = [[1, 2], {1: 2}, {1}, object(), b"abc", bytearray(b"a"), memoryview(b"a"), range(3), slice(1, 2), iter([1]),
                  frozenset(), Ellipsis, NotImplemented, decimal.Decimal(1), fractions.Fraction(1, 2), np.array([object()]),
                  np.array(["a"]), np.zeros(2, "i4,f8"), np.array(["2020"], "M8[D]"), np.zeros(2, ">f8"), np.longdouble(1),
                  np.zeros(2, np.longdouble), np.ma.array([1]), np.matrix([[1]]), (1, [2]), (1, (2, {3})), np.array(None),
                  np.datetime64("2020"), np.recarray((2,), "i4,f8"), tuple(range(5000)), "abc".upper, [].append,
                  np.lib.stride_tricks.as_strided(np.zeros(9, "i1")[1:].view("i4"), (2,), (4,))]
        for value in values:
            expect("refused", "def f(x):\\n    return x", value)
            expect("refused", "def f(x):\\n    return 1", (value,))
        for value in [2**70, -2**70]:
            expect("OverflowError", "def f(x):\\n    return x", value)
        for value in [None, True, "a\\0b", float("nan"), np.zeros((1,) * 32), np.zeros((1,) * 64), (((((1,),),),),), np.float16(1), int,
                      np, len, tuple(range(300)), np.zeros((0, 3)), np.zeros((3, 0))[::-1], np.broadcast_to(np.zeros(3), (4, 3))]:
            expect("fine", "def f(x):\\n    return x", value)
    """)


def test_sizes_and_shapes():
    run_batch("""
        memory = "MemoryError|ValueError|OverflowError"
        for dtype in ("np.float64", "np.int8", "np.complex128"):
            expect(memory, f"def f(n): return np.empty(n, {dtype})", 2**62)
            expect(memory, f"def f(n): return np.empty((n, n), {dtype})", 2**40)
            expect(memory, f"def f(n): return np.zeros((n, n, n), {dtype})", 2**21)
            expect(memory, f"def f(n): return np.full((n, 0, n), 1, {dtype})", 2**62)
            expect("ValueError", f"def f(n): return np.ones(n, {dtype})", -1)
        expect(memory, "def f(n): return np.arange(n)", 2**62)
        expect(memory, "def f(n): return np.arange(0, 1, n)", 1e-300)
        expect("ZeroDivisionError", "def f(n): return np.arange(0, n, 0)", 1)
        expect(memory, "def f(n): return np.linspace(0, 1, n)", 2**60)
        expect("ValueError", "def f(n): return np.linspace(0, 1, n)", -1)
        expect(memory, "def f(n): return np.eye(n)", 2**40)
        expect(memory, "def f(a, n): return np.repeat(a, n)", np.arange(3), 2**62)
        expect(memory, "def f(a, n): return np.tile(a, n)", np.arange(3), 2**62)
        expect(memory, "def f(a, n): return np.broadcast_to(a, (n, 3)) * 2", np.arange(3), 2**61)
        expect("ValueError", "def f(a, n): return np.broadcast_to(a, (n, 3)).sum()", np.arange(3), -1)
        expect("ValueError", "def f(a, n): return a.reshape(n, n)", np.zeros(4), 2**33 + 2)
        expect("ValueError", "def f(a, n): return a.reshape(n, -1)", np.zeros(4), 0)
        expect("ValueError", "def f(a, n): return a.reshape(n, -1)", np.zeros(4), 3)
        expect("fine", "def f(a): return a + a", np.zeros((1,) * 64))
        expect("refused|ValueError", "def f(a): return a[(None,) * 70]", np.arange(3))
        expect("refused|ValueError", "def f(n): return np.zeros((1,) * 70)", 1)
        for source in ("a.max()", "a.min(axis=0)", "np.argmax(a)", "np.argmin(a)"):
            expect("ValueError", f"def f(a): return {source}", np.zeros((0, 3)))
        for source in ("a.sum()", "a.mean()", "np.median(a)", "a @ a.T", "a.T @ a", "np.sort(a)", "np.cumsum(a)", "a.min(axis=1)",
                       "np.concatenate((a, a))", "a[a > 0]", "a.ravel()[::-1]", "np.where(a > 0, a, 1.0)", "a.T.copy()", "a[::-1, ::2] * 2"):
            expect("fine", f"def f(a): return {source}", np.zeros((0, 3)))
            expect("fine", f"def f(a): return {source.replace('a.min(axis=1)', 'a')}", np.zeros((3, 0)))
        expect("IndexError", "def f(a): return a[0]", np.zeros(0))
        expect("IndexError", "def f(a): return a[-1]", np.zeros(0))
    """)


def test_extremes_of_loops_and_numbers():
    run_batch("""
        top = 2**63 - 1
        for form in ("range(0, n, n)", "range(-n, n, n)", "range(n - 2, n)", "range(n, -n, -n)", "range(n, n - 5, -2)"):
            expect("fine", f"def f(n):\\n    c = 0\\n    for i in {form}: c += 1\\n    return c", top)
        expect("fine", "def f(n):\\n    c = 0\\n    for i in range(n, 0, n): c += 1\\n    return c", -2**63)
        expect("ValueError", "def f(n):\\n    for i in range(0, 5, n): pass", 0)
        for symbol in ("//", "%", "<<", ">>"):
            for x in (-2**63, top, -1, 0):
                for y in (-2**63, top, -1, 1, 64, 10**18):
                    expect("fine|ValueError", f"def f(x, y): return x {symbol} y", x, y)
                    expect("fine", f"def f(x, y): return x {symbol} y", np.int64(x), np.int64(y))
        expect("fine", "def f(a): return a.astype(np.int32), a.astype(np.uint8)", np.array([np.nan, np.inf, 1e300, -1e300]))
        expect("OverflowError", "def f(x): return int(x)", 1e300)
        expect("ValueError", "def f(x): return int(x)", float("nan"))
    """)


def test_recursion_without_end():
    run_batch("""
        expect("RecursionError", "def f(n):\\n    if n < 0: return 0\\n    return f(n + 1) + 1", 0)
        expect("RecursionError", "def f(n, a):\\n    if n < 0: return a\\n    b = a * 2\\n    return f(n + 1, b)", 0, np.arange(3.0))
        mutual = "def g(n): return h(n + 1) if n >= 0 else 1\\ndef h(n): return g(n + 1)\\ndef f(n): return g(n)"
        expect("RecursionError", mutual, 0)
        expect("RecursionError", "def f(n):\\n    def g(k): return g(k + 1) + 1 if k >= 0 else 0\\n    return g(n)", 0)
        expect("fine", "def f(n):\\n    try: return f(n + 1) if n >= 0 else 0\\n    except RecursionError: return -1", 0)
        expect("refused", "def f(n): return f(n + 1)", 0)
        expect("refused", "def f(x): return (lambda y: y(y))(lambda y: y(y))", 1)
    """)


@pytest.mark.slow
def test_long_and_deep_functions():
    run_batch("""
        lines = "\\n".join(f"    x = x * {i % 7} + {i}" for i in range(5000))
        expect("fine", f"def f(x):\\n{lines}\\n    return x", 1)
        lines = "\\n".join(f"    v{i} = x + {i}" for i in range(300))
        expect("fine", f"def f(x):\\n{lines}\\n    return {' + '.join(f'v{i}' for i in range(300))}", 1)
        names = [f"a{i}" for i in range(100)]
        expect("fine", f"def f({', '.join(names)}): return {' + '.join(names)}", *range(100))
        nest = "\\n".join(" " * (i + 1) + f"if x > {i}:" for i in range(50))
        expect("fine", f"def f(x):\\n{nest}\\n{' ' * 51}return 1\\n return 0", 60)
        nest = "\\n".join(" " * (i + 1) + f"for i{i} in range(x):" for i in range(15))
        expect("fine", f"def f(x):\\n s = 0\\n{nest}\\n{' ' * 17}s += 1\\n return s", 1)
        expect("fine", "def f(x): return " + "(" * 150 + "x" + " + 1)" * 150, 1)
        expect("fine", "def f(x):\\n" + "\\n".join(f" if x == {i}: return {i * 2}" for i in range(300)) + "\\n return -1", 250)
        expect("fine", "def f(x):\\n" + "\\n".join(f" if x == {i}: y = {i}" for i in range(200)) + "\\n return y", 150)
        expect("fine", f"def f(x): return ({', '.join(['x'] * 300)})", 1)
    """)


def test_wrong_shapes_at_run_time():
    run_batch("""
        expect("ValueError", "def f(a, b): return a + b", np.zeros((2, 3)), np.zeros((3, 2)))
        expect("ValueError", "def f(a, b): a += b", np.zeros((2, 3)), np.zeros((3, 2)))
        expect("ValueError", "def f(a, b): a[:] = b", np.zeros(3), np.zeros(4))
        expect("refused|ValueError", "def f(a, b): a += b", np.zeros(3), np.zeros((2, 3)))
        expect("refused|TypeError", "def f(a, b): a += b", np.zeros(3, int), np.zeros(3))
        expect("OverflowError", "def f(a, b): a += b", np.zeros(3, np.uint8), 300)
        expect("LinAlgError", "def f(a): return np.linalg.inv(a)", np.zeros((3, 3)))
        expect("LinAlgError", "def f(a): return np.linalg.solve(a, a)", np.zeros((3, 2)))
        expect("ValueError", "def f(a): return np.dot(a, a)", np.zeros((2, 3)))
        expect("refused|ValueError", "def f(a): a[0] = 1", np.broadcast_to(np.zeros(3), (4, 3)))
    """)
