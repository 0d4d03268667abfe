"""Loops of the test suite for vectorising compilers: overlapping views, calls, jumps, indirect addresses, basic operations.

See `dependence` for the arguments.
"""

import numpy as np


def s421(flat, a):
    x = flat
    y = x[1:]
    for i in range(len(a) - 1):
        x[i] = y[i] + a[i]


def s1421(a, b):
    half = len(b) // 2
    x = b[half:]
    for i in range(half):
        b[i] = x[i] + a[i]


def s422(flat, a):
    x = flat[4:]
    for i in range(len(a) - 8):
        x[i] = flat[i + 8] + a[i]


def s423(flat, a):
    x = flat[64:]
    for i in range(len(a) - 65):
        flat[i + 1] = x[i] + a[i]


def s424(flat, a):
    x = flat[63:]
    for i in range(len(a) - 65):
        x[i + 1] = flat[i] + a[i]


def s431(a, b):
    k = 2 * 1 - 1 * 2
    for i in range(len(a)):
        a[i] = a[i + k] + b[i]


def s441(a, b, c, d):
    for i in range(len(a)):
        if d[i] < 0.0:
            a[i] += b[i] * c[i]
        elif d[i] == 0.0:
            a[i] += b[i] * b[i]
        else:
            a[i] += c[i] * c[i]


def s442(a, b, c, d, e, choice):
    for i in range(len(a)):
        if choice[i] == 0:
            a[i] += b[i] * b[i]
        elif choice[i] == 1:
            a[i] += c[i] * c[i]
        elif choice[i] == 2:
            a[i] += d[i] * d[i]
        else:
            a[i] += e[i] * e[i]


def s443(a, b, c, d):
    for i in range(len(a)):
        if d[i] <= 0.0:
            a[i] += b[i] * c[i]
        else:
            a[i] += b[i] * b[i]


def s451(a, b, c):
    for i in range(len(a)):
        a[i] = np.sin(b[i]) + np.cos(c[i])


def s452(a, b, c):
    for i in range(len(a)):
        a[i] = b[i] + c[i] * (i + 1)


def s453(a, b):
    s = 0.0
    for i in range(len(a)):
        s += 2.0
        a[i] = s * b[i]


def f471(number):
    return number + 1


def s471(a, b, c, d, e):
    count = 0
    for i in range(len(a)):
        a[i] = b[i] + d[i] * d[i]
        count = f471(count)
        b[i] = c[i] + d[i] * e[i]
    return count


def s481(a, b, c, d):
    for i in range(len(a)):
        if d[i] < -1e30:
            raise ValueError("d")
        a[i] += b[i] * c[i]


def s482(a, b, c):
    for i in range(len(a)):
        a[i] += b[i] * c[i]
        if c[i] > b[i] + 1e30:
            break


def s491(a, b, c, d, ip):
    for i in range(len(a)):
        a[ip[i]] = b[i] + c[i] * d[i]


def s4112(a, b, ip, s1):
    for i in range(len(a)):
        a[i] += b[ip[i]] * s1


def s4113(a, b, c, ip):
    for i in range(len(a)):
        a[ip[i]] = b[ip[i]] + c[i]


def s4114(a, b, c, d, ip, n1):
    for i in range(n1 - 1, len(a)):
        k = ip[i]
        a[i] = b[i] + c[len(c) - k - 1] * d[i]


def s4115(a, b, ip):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[ip[i]]
    return total


def s4116(a, aa, ip, inc):
    total = 0.0
    n = aa.shape[0]
    for i in range(n - 1):
        total += a[inc + i] * aa[n // 2, ip[i] % n]
    return total


def s4117(a, b, c, d):
    for i in range(len(a)):
        a[i] = b[i] + c[i // 2] * d[i]


def f4121(x, y):
    return x * y


def s4121(a, b, c):
    for i in range(len(a)):
        a[i] += f4121(b[i], c[i])


def va(a, b):
    for i in range(len(a)):
        a[i] = b[i]


def vag(a, b, ip):
    for i in range(len(a)):
        a[i] = b[ip[i]]


def vas(a, b, ip):
    for i in range(len(a)):
        a[ip[i]] = b[i]


def vif(a, b):
    for i in range(len(a)):
        if b[i] > 0.0:
            a[i] = b[i]


def vpv(a, b):
    for i in range(len(a)):
        a[i] += b[i]


def vtv(a, b):
    for i in range(len(a)):
        a[i] *= b[i]


def vpvtv(a, b, c):
    for i in range(len(a)):
        a[i] += b[i] * c[i]


def vpvts(a, b, s1):
    for i in range(len(a)):
        a[i] += b[i] * s1


def vpvpv(a, b, c):
    for i in range(len(a)):
        a[i] += b[i] + c[i]


def vtvtv(a, b, c):
    for i in range(len(a)):
        a[i] = a[i] * b[i] * c[i]


def vsumr(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
    return total


def vdotr(a, b):
    dot = 0.0
    for i in range(len(a)):
        dot += a[i] * b[i]
    return dot


def vbor(a, b, c, d, e, flat):
    for i in range(min(len(a), len(flat))):
        a1, b1, c1, d1, e1 = a[i], b[i], c[i], d[i], e[i]
        s = a1 * b1 * c1 + a1 * b1 * d1 + a1 * b1 * e1 + a1 * c1 * d1 + a1 * c1 * e1 + a1 * d1 * e1
        t = b1 * c1 * d1 + b1 * c1 * e1 + b1 * d1 * e1 + c1 * d1 * e1
        flat[i] = s * t
