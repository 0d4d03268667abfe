"""The functions of Python's `random`: after the same seed they give the same numbers. The state is compiled code's own."""

from __future__ import annotations

import math

import numpy as np

from quadrants.library import raw
from quadrants.library.mersenne import SPARE, SPARE_BITS, double, fresh_state, seed_words, times, word

STATE = fresh_state()


def seed(a=0, version=2):
    size = abs(int(a))
    if size > 0xFFFFFFFF:
        key = np.empty(2, np.int64)
        key[0] = size & 0xFFFFFFFF
        key[1] = size >> 32
        seed_words(STATE, key)
    else:
        seed_words(STATE, np.full(1, size))


def random():
    return double(STATE)


def getrandbits(k):
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    if k > 63:
        raise OverflowError("getrandbits gives at most 63 bits in compiled code")
    if k == 0:
        return 0
    if k <= 32:
        return word(STATE) >> (32 - k)
    low = word(STATE)
    return (word(STATE) >> (64 - k)) << 32 | low


def below(n):
    """An integer in [0, n)."""
    bits = 64 - raw.clz(n)
    value = getrandbits(bits)
    while value >= n:
        value = getrandbits(bits)
    return value


def randrange(start, stop=None, step=1):
    if stop is None:
        if start <= 0:
            raise ValueError("empty range for randrange()")
        return below(start)
    width = len(range(start, stop, step))
    if width <= 0:
        raise ValueError("empty range for randrange()")
    return start + step * below(width)


def randint(a, b):
    return randrange(a, b + 1)


def uniform(a, b):
    return a + times(b - a, double(STATE))


def gauss(mu=0.0, sigma=1.0):
    if STATE[SPARE] != 0:
        STATE[SPARE] = 0
        return mu + times(raw.from_bits(int(STATE[SPARE_BITS])), sigma)
    angle = double(STATE) * (2.0 * math.pi)
    size = math.sqrt(-2.0 * math.log(1.0 - double(STATE)))
    STATE[SPARE] = 1
    STATE[SPARE_BITS] = raw.bits(math.sin(angle) * size)
    return mu + times(times(math.cos(angle), size), sigma)


def normalvariate(mu=0.0, sigma=1.0):
    constant = 4.0 * math.exp(-0.5) / math.sqrt(2.0)
    while True:
        u = double(STATE)
        v = 1.0 - double(STATE)
        z = constant * (u - 0.5) / v
        if z * z / 4.0 <= -math.log(v):
            return mu + times(z, sigma)


def expovariate(lambd=1.0):
    return -math.log(1.0 - double(STATE)) / lambd


def choice(seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[below(len(seq))]


def shuffle(x):
    if isinstance(x, np.ndarray) and x.ndim > 1:
        for i in range(x.shape[0] - 1, 0, -1):
            j = below(i + 1)
            if i != j:
                row = x[i].copy()
                x[i] = x[j]
                x[j] = row
    else:
        for i in range(len(x) - 1, 0, -1):
            j = below(i + 1)
            held = x[i]
            x[i] = x[j]
            x[j] = held
