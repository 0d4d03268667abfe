"""What stays after calls, and what interrupts them: array memory, reference counts, Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from differential.running import function_of

import quadrants
from quadrants.host.symbols import live_blocks

#: Functions that make arrays on the way: some return them, some fail in the middle, in a callee, or in a `try`.
MAKERS = {
    "def f(a, n): return a * 2 + a[n]": 3,
    "def f(a, n):\n    b = a * 2\n    c = b[1:] + 1\n    return c[n]": 3,
    "def f(a, n):\n    b = a.copy()\n    for i in range(n): b = b + a\n    return b, b[1:]": 5,
    "def g(a, n):\n    c = a + 1\n    if n > 2: raise ValueError(n)\n    return c\ndef f(a, n): return g(a * 3, n)": 3,
    "def f(a, n):\n    b = a + 1\n    try:\n        b = b * 2\n        c = b[n] + np.ones(n)\n        return c\n"
    "    except IndexError:\n        d = b + 1\n        return d": 3,
    "def f(a, n):\n    t = (a + 1, a + 2)\n    for x in t:\n        if n == 3: return x\n    return t[0]": 3,
    "def f(a, n):\n    s = 0.0\n    while n > 0:\n        b = np.zeros(n) + a[0]\n        n -= 1\n        if n == 5: continue\n"
    "        if n == 2: break\n        s += b.sum()\n    return s": 9,
    "def f(a, n):\n    if n == 0: return a + 1\n    return f(a * 2, n - 1)[::-1]": 4,
    "def f(a, n):\n    def inner(x): return x + a\n    return inner(a * 2)[n]": 3,
    "def f(a, n): return np.sort(a[a > 0])[n]": 2,
    "def f(a, n): return np.linalg.solve(np.eye(3) * n, a[:3])": 0,
    "def f(a, n): return np.concatenate((a, a[::-1]))[np.array([0, n])]": 3,
}


@pytest.mark.parametrize("source", MAKERS, ids=lambda source: source.replace("\n", " ")[:50])
def test_no_memory_is_left(source):
    compiled = quadrants.njit(function_of(source))
    array = np.linspace(-1, 1, 6)
    numbers = (0, MAKERS[source], 3, 100)
    counts = sys.getrefcount(array), live_blocks()
    for _ in range(20):
        for n in numbers[:3] if "f(a" in source and "n - 1)" in source else numbers:
            try:
                compiled(array, n)
            except (IndexError, ValueError, np.linalg.LinAlgError):
                pass
    assert (sys.getrefcount(array), live_blocks()) == counts


def test_results_keep_their_memory():
    compiled = quadrants.njit(lambda a: (a * 2)[1:])
    before = live_blocks()
    result = compiled(np.arange(4.0))
    assert live_blocks() == before + 1
    np.testing.assert_array_equal(result, [2.0, 4.0, 6.0])
    del result
    assert live_blocks() == before


LOOPS = {
    "while": "def f(n):\n    k = 0\n    while k >= 0: k = (k + n) % 1000\n    return k",
    "for": "def f(n):\n    s = 0.0\n    for i in range(10**15): s += (i * n) % 7\n    return s",
    "nested": "def f(n):\n    s = 0\n    for i in range(10**8):\n        for j in range(10**8): s += i ^ j * n\n    return s",
    "array": "def f(n):\n    a = np.zeros(100)\n    for k in range(10**13):\n        for i in range(100): a[i] += n * 0.5\n    return a[0]",
    "recursion": "def f(n):\n    def g(k): return 0 if k == 0 else g(k - 1) + g(k - 1)\n    return g(60 + n)",
}


@pytest.mark.parametrize("name", LOOPS)
def test_interrupt(name):
    """SIGINT ends a running kernel with KeyboardInterrupt."""
    program = (
        "import numpy as np, quadrants\nscope = {'np': np}\n"
        f"exec({LOOPS[name]!r}, scope)\ncompiled = quadrants.njit(scope['f'], cache=False)\n"
        "print('ready', flush=True)\n"
        "try:\n    compiled(1)\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        for _ in range(120):  # the first signals may come while it compiles
            time.sleep(1.0)
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGINT)
        assert "interrupted" in process.stdout.read()
    finally:
        process.kill()
        process.wait()
