"""`np.random`'s functions, as its legacy generator computes them: after the same seed they give the same numbers.

The state is compiled code's own: seeding NumPy's generator in Python does not change it, nor the other way round.
"""

from __future__ import annotations

import math

import numpy as np

from quadrants.library import raw
from quadrants.library.mersenne import (
    SPARE,
    SPARE_BITS,
    double,
    fresh_state,
    seed_word,
    seed_words,
    times,
    up_to,
)
from quadrants.library.support import as_array

STATE = fresh_state()


def seed(seed=0):
    if isinstance(seed, (np.ndarray, tuple, list)):
        words = as_array(seed)
        for i in range(words.shape[0]):
            if words[i] < 0 or words[i] > 0xFFFFFFFF:
                raise ValueError("Seed must be between 0 and 2**32 - 1")
        seed_words(STATE, words.astype(np.int64))
    else:
        if seed < 0 or seed > 0xFFFFFFFF:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        seed_word(STATE, int(seed))


# one number


def gauss():
    """A normal number by the polar method, which draws two at a time."""
    if STATE[SPARE] != 0:
        STATE[SPARE] = 0
        return raw.from_bits(int(STATE[SPARE_BITS]))
    x = 2.0 * double(STATE) - 1.0
    y = 2.0 * double(STATE) - 1.0
    square = times(x, x) + times(y, y)
    while square >= 1.0 or square == 0.0:
        x = 2.0 * double(STATE) - 1.0
        y = 2.0 * double(STATE) - 1.0
        square = times(x, x) + times(y, y)
    scale = math.sqrt(-2.0 * math.log(square) / square)
    STATE[SPARE] = 1
    STATE[SPARE_BITS] = raw.bits(scale * x)
    return scale * y


def standard_exponential_of():
    return -math.log(1.0 - double(STATE))


def uniform_of(low, high):
    return low + times(high - low, double(STATE))


def normal_of(loc, scale):
    if scale < 0.0:
        raise ValueError("scale < 0")
    return loc + times(scale, gauss())


def lognormal_of(mean, sigma):
    if sigma < 0.0:
        raise ValueError("sigma < 0")
    return math.exp(mean + times(sigma, gauss()))


def exponential_of(scale, unused):
    if scale < 0.0:
        raise ValueError("scale < 0")
    return scale * standard_exponential_of()


def weibull_of(a, unused):
    if a < 0.0:
        raise ValueError("a < 0")
    if a == 0.0:
        return 0.0
    return raw.pow(standard_exponential_of(), 1.0 / a)


def pareto_of(a, unused):
    if a <= 0.0:
        raise ValueError("a <= 0")
    return math.exp(standard_exponential_of() / a) - 1.0


def laplace_of(loc, scale):
    if scale < 0.0:
        raise ValueError("scale < 0")
    u = double(STATE)
    while u == 0.0:
        u = double(STATE)
    if u >= 0.5:
        return loc - times(scale, math.log(2.0 - u - u))
    return loc + times(scale, math.log(u + u))


def logistic_of(loc, scale):
    if scale < 0.0:
        raise ValueError("scale < 0")
    u = double(STATE)
    while u == 0.0:
        u = double(STATE)
    return loc + times(scale, math.log(u / (1.0 - u)))


def gumbel_of(loc, scale):
    if scale < 0.0:
        raise ValueError("scale < 0")
    u = 1.0 - double(STATE)
    while u >= 1.0:
        u = 1.0 - double(STATE)
    return loc - times(scale, math.log(-math.log(u)))


def poisson_of(lam, unused):
    if lam < 0.0 or lam != lam:
        raise ValueError("lam < 0 or lam is NaN")
    if lam >= 10.0:
        return poisson_by_rejection(lam)
    if lam == 0.0:
        return 0
    least = math.exp(-lam)
    count = 0
    product = double(STATE)
    while product > least:
        count += 1
        product *= double(STATE)
    return count


def poisson_by_rejection(lam):
    """Hörmann's transformed rejection, for large means."""
    root = math.sqrt(lam)
    log_lam = math.log(lam)
    b = 0.931 + times(2.53, root)
    a = -0.059 + times(0.02483, b)
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    vr = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = double(STATE) - 0.5
        v = double(STATE)
        us = 0.5 - abs(u)
        k = int(math.floor(times(2 * a / us + b, u) + lam + 0.43))
        if us >= 0.07 and v <= vr:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        bound = times(k, log_lam) - lam - log_gamma(k + 1.0)
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b) <= bound:
            return k


def log_gamma(x):
    return math.lgamma(x)


# arrays of numbers


def shape_of(size):
    return size if isinstance(size, (tuple, list)) else (size,)


def random_sample(size=None):
    if size is None:
        return double(STATE)
    out = np.empty(shape_of(size), np.float64)
    line = out.reshape(-1)
    for i in range(line.shape[0]):
        raw.store(double(STATE), line, i)
    return out


def rand(*dims):
    if len(dims) == 0:
        return double(STATE)
    return random_sample(dims)


def standard_normal(size=None):
    if size is None:
        return gauss()
    out = np.empty(shape_of(size), np.float64)
    line = out.reshape(-1)
    for i in range(line.shape[0]):
        raw.store(gauss(), line, i)
    return out


def randn(*dims):
    if len(dims) == 0:
        return gauss()
    return standard_normal(dims)


def standard_exponential(size=None):
    return drawn(exponential_of, 1.0, 0.0, size, np.float64)


def drawn(draw, p, q, size, dtype):
    """Numbers with the parameters p and q, which may be arrays."""
    if np.ndim(p) == 0 and np.ndim(q) == 0:
        a = float(p)
        b = float(q)
        if size is None:
            return draw(a, b)
        out = np.empty(shape_of(size), dtype)
        line = out.reshape(-1)
        for i in range(line.shape[0]):
            line[i] = draw(a, b)
        return out
    shape = np.broadcast_shapes(np.shape(p), np.shape(q)) if size is None else shape_of(size)
    ps = np.broadcast_to(as_array(p), shape)
    qs = np.broadcast_to(as_array(q), shape)
    out = np.empty(shape, dtype)
    for index in np.ndindex(shape):
        out[index] = draw(float(ps[index]), float(qs[index]))
    return out


def uniform(low=0.0, high=1.0, size=None):
    return drawn(uniform_of, low, high, size, np.float64)


def normal(loc=0.0, scale=1.0, size=None):
    return drawn(normal_of, loc, scale, size, np.float64)


def lognormal(mean=0.0, sigma=1.0, size=None):
    return drawn(lognormal_of, mean, sigma, size, np.float64)


def exponential(scale=1.0, size=None):
    return drawn(exponential_of, scale, 0.0, size, np.float64)


def weibull(a, size=None):
    return drawn(weibull_of, a, 0.0, size, np.float64)


def pareto(a, size=None):
    return drawn(pareto_of, a, 0.0, size, np.float64)


def laplace(loc=0.0, scale=1.0, size=None):
    return drawn(laplace_of, loc, scale, size, np.float64)


def logistic(loc=0.0, scale=1.0, size=None):
    return drawn(logistic_of, loc, scale, size, np.float64)


def gumbel(loc=0.0, scale=1.0, size=None):
    return drawn(gumbel_of, loc, scale, size, np.float64)


def poisson(lam=1.0, size=None):
    return drawn(poisson_of, lam, 0.0, size, np.int64)


def randint(low, high=None, size=None, dtype=int):
    if np.dtype(dtype).itemsize < 4:
        raise TypeError("randint gives integers of 32 or 64 bits in compiled code: convert them with astype")
    first = 0 if high is None else int(low)
    end = int(low) if high is None else int(high)
    if end <= first:
        raise ValueError("high <= 0" if high is None else "low >= high")
    most = end - 1 - first
    if size is None:
        return first + up_to(STATE, most)
    out = np.empty(shape_of(size), dtype)
    line = out.reshape(-1)
    for i in range(line.shape[0]):
        line[i] = first + up_to(STATE, most)
    return out


def shuffle(x):
    if isinstance(x, np.ndarray) and not x.flags.writeable:
        raise ValueError("array is read-only")
    for i in range(x.shape[0] - 1, 0, -1):
        j = up_to(STATE, i)
        if x.ndim == 1:
            held = x[i]
            x[i] = x[j]
            x[j] = held
        elif i != j:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row


def permutation(x):
    if isinstance(x, (np.ndarray, tuple, list)):
        a = as_array(x)
        if a.ndim == 1:
            out = a.copy()
            shuffle(out)
            return out
        order = np.arange(a.shape[0])
        shuffle(order)
        return a[order]
    order = np.arange(x)
    shuffle(order)
    return order


def choice(a, size=None, replace=True, p=None):
    n = as_array(a).shape[0] if isinstance(a, (np.ndarray, tuple, list)) else int(a)
    if n <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if size is None:
        place = chosen_place(n, p)
        return as_array(a)[place] if isinstance(a, (np.ndarray, tuple, list)) else place
    shape = shape_of(size)
    places = np.empty(shape, np.int64)
    line = places.reshape(-1)
    if replace:
        fill_places(line, n, p)
    else:
        if p is not None:
            raise ValueError("choice without replacement takes no probabilities in compiled code")
        if line.shape[0] > n:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        line[:] = permutation(n)[: line.shape[0]]
    return as_array(a)[places] if isinstance(a, (np.ndarray, tuple, list)) else places


def chosen_place(n, p):
    if p is None:
        return up_to(STATE, n - 1)
    return int(np.searchsorted(shares(n, p), double(STATE), side="right"))


def fill_places(line, n, p):
    if p is None:
        for i in range(line.shape[0]):
            line[i] = up_to(STATE, n - 1)
    else:
        sums = shares(n, p)
        for i in range(line.shape[0]):
            line[i] = np.searchsorted(sums, double(STATE), side="right")


def shares(n, p):
    """The running sums of probabilities, with 1 at the end."""
    given = as_array(p)
    if given.shape[0] != n:
        raise ValueError("'a' and 'p' must have same size")
    total = 0.0
    for i in range(n):
        if given[i] < 0:
            raise ValueError("probabilities are not non-negative")
        total += float(given[i])
    if abs(total - 1.0) > 1.5e-8:
        raise ValueError("probabilities do not sum to 1")
    sums = np.cumsum(given)
    return sums / sums[n - 1]
