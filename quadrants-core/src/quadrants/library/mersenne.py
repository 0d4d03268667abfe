"""The Mersenne Twister, as NumPy's legacy generator and Python's `random` use it.

A state is an array of int64: 624 words of 32 bits, the place of the next one, and a second normal number that was drawn together
with the last one (whether there is one, and its bits).
"""

from __future__ import annotations

import os

import numpy as np

from quadrants.library import raw

WORDS = 624
PLACE = 624
SPARE = 625
SPARE_BITS = 626
LOW = 0xFFFFFFFF


def seed_word(state, seed):
    """The state of a seed of 32 bits."""
    word = seed & LOW
    for k in range(WORDS):
        raw.store(word, state, k)
        word = (1812433253 * (word ^ (word >> 30)) + k + 1) & LOW
    state[PLACE] = WORDS
    state[SPARE] = 0


def seed_words(state, key):
    """The state of a seed of several words."""
    seed_word(state, 19650218)
    n = key.shape[0]
    i = 1
    j = 0
    for _ in range(max(WORDS, n)):
        before = state[i - 1]
        state[i] = ((state[i] ^ ((before ^ (before >> 30)) * 1664525)) + key[j] + j) & LOW
        i += 1
        j += 1
        if i >= WORDS:
            state[0] = state[WORDS - 1]
            i = 1
        if j >= n:
            j = 0
    for _ in range(WORDS - 1):
        before = state[i - 1]
        state[i] = ((state[i] ^ ((before ^ (before >> 30)) * 1566083941)) - i) & LOW
        i += 1
        if i >= WORDS:
            state[0] = state[WORDS - 1]
            i = 1
    state[0] = 0x80000000


def mixed(high, low):
    """One step of the twist: the top bit of one word and the others of the next."""
    y = (high & 0x80000000) | (low & 0x7FFFFFFF)
    return (y >> 1) ^ ((y & 1) * 0x9908B0DF)


def refill(state):
    for k in range(WORDS - 397):
        raw.store(raw.load(state, k + 397) ^ mixed(raw.load(state, k), raw.load(state, k + 1)), state, k)
    for k in range(WORDS - 397, WORDS - 1):
        raw.store(raw.load(state, k - 227) ^ mixed(raw.load(state, k), raw.load(state, k + 1)), state, k)
    state[WORDS - 1] = state[396] ^ mixed(state[WORDS - 1], state[0])
    state[PLACE] = 0


def word(state):
    """The next 32 bits."""
    if state[PLACE] >= WORDS:
        refill(state)
    place = int(state[PLACE])
    y = int(state[place])
    state[PLACE] = place + 1
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)


def double(state):
    """A number in [0, 1) with 53 bits."""
    high = word(state) >> 5
    low = word(state) >> 6
    return (high * 67108864 + low) / 9007199254740992.0


def mask_of(most):
    """All ones from the top bit of a number downwards."""
    mask = most
    mask |= mask >> 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    return mask | mask >> 32


def up_to(state, most):
    """An integer from 0 to `most`: bits are drawn until they are not larger."""
    mask = mask_of(most)
    if most == 0:
        return 0
    if most <= LOW:
        value = word(state) & mask
        while value > most:
            value = word(state) & mask
        return value
    value = long_word(state) & mask
    while value > most:
        value = long_word(state) & mask
    return value


def long_word(state):
    """The next 63 bits of 64."""
    high = word(state) & 0x7FFFFFFF
    return (high << 32) | word(state)


def times(x, y):
    """The product, rounded by itself: not fused with a sum that follows."""
    return raw.fma(x, y, 0.0)


def fresh_state():
    """A state that nobody can foresee, for programs that do not seed."""
    state = np.zeros(WORDS + 3, np.int64)
    seed_words(state, np.frombuffer(os.urandom(4 * WORDS), np.uint32).astype(np.int64))
    return state
