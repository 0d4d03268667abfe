"""Loops of the test suite for vectorising compilers: scalars that expand, control flow, crossing thresholds.

See `dependence` for the arguments.
"""


def s251(a, b, c, d):
    for i in range(len(a)):
        s = b[i] + c[i] * d[i]
        a[i] = s * s


def s1251(a, b, c, d, e):
    for i in range(len(a)):
        s = b[i] + c[i]
        b[i] = a[i] + d[i]
        a[i] = s * e[i]


def s2251(a, b, c, d, e):
    s = 0.0
    for i in range(len(a)):
        a[i] = s * e[i]
        s = b[i] + c[i]
        b[i] = a[i] + d[i]


def s3251(a, b, c, d, e):
    for i in range(len(a) - 1):
        a[i + 1] = b[i] + c[i]
        b[i] = c[i] * e[i]
        d[i] = a[i] * e[i]


def s252(a, b, c):
    t = 0.0
    for i in range(len(a)):
        s = b[i] * c[i]
        a[i] = s + t
        t = s


def s253(a, b, c, d):
    for i in range(len(a)):
        if a[i] > b[i]:
            s = a[i] - b[i] * d[i]
            c[i] += s
            a[i] = s


def s254(a, b):
    x = b[len(b) - 1]
    for i in range(len(a)):
        a[i] = (b[i] + x) * 0.5
        x = b[i]


def s255(a, b):
    x = b[len(b) - 1]
    y = b[len(b) - 2]
    for i in range(len(a)):
        a[i] = (b[i] + x + y) * 0.333
        y = x
        x = b[i]


def s256(a, aa, bb, d):
    n = aa.shape[0]
    for i in range(n):
        for j in range(1, n):
            a[j] = 1.0 - a[j - 1]
            aa[j, i] = a[j] + bb[j, i] * d[j]


def s257(a, aa, bb):
    n = aa.shape[0]
    for i in range(1, n):
        for j in range(n):
            a[i] = aa[j, i] - a[i - 1]
            aa[j, i] = a[i] + bb[j, i]


def s258(a, b, c, d, e, aa):
    s = 0.0
    for i in range(aa.shape[0]):
        if a[i] > 0.0:
            s = d[i] * d[i]
        b[i] = s * c[i] + d[i]
        e[i] = (s + 1.0) * aa[0, i]


def s261(a, b, c, d):
    for i in range(1, len(a)):
        t = a[i] + b[i]
        a[i] = t + c[i - 1]
        t = c[i] * d[i]
        c[i] = t


def s271(a, b, c):
    for i in range(len(a)):
        if b[i] > 0.0:
            a[i] += b[i] * c[i]


def s272(a, b, c, d, e, t):
    for i in range(len(a)):
        if e[i] >= t:
            a[i] += c[i] * d[i]
            b[i] += c[i] * c[i]


def s273(a, b, c, d, e):
    for i in range(len(a)):
        a[i] += d[i] * e[i]
        if a[i] < 0.0:
            b[i] += d[i] * e[i]
        c[i] += a[i] * d[i]


def s274(a, b, c, d, e):
    for i in range(len(a)):
        a[i] = c[i] + e[i] * d[i]
        if a[i] > 0.0:
            b[i] = a[i] + b[i]
        else:
            a[i] = d[i] * e[i]


def s275(aa, bb, cc):
    n = aa.shape[0]
    for i in range(n):
        if aa[0, i] > 0.0:
            for j in range(1, n):
                aa[j, i] = aa[j - 1, i] + bb[j, i] * cc[j, i]


def s2275(a, b, c, d, aa, bb, cc):
    n = aa.shape[0]
    for i in range(n):
        for j in range(n):
            aa[j, i] = aa[j, i] + bb[j, i] * cc[j, i]
        a[i] = b[i] + c[i] * d[i]


def s276(a, b, c, d):
    middle = len(a) // 2
    for i in range(len(a)):
        if i + 1 < middle:
            a[i] += b[i] * c[i]
        else:
            a[i] += b[i] * d[i]


def s277(a, b, c, d, e):
    for i in range(len(a) - 1):
        if a[i] >= 0.0:
            continue
        if b[i] < 0.0:
            a[i] += c[i] * d[i]
        b[i + 1] = c[i] + d[i] * e[i]


def s278(a, b, c, d, e):
    for i in range(len(a)):
        if a[i] > 0.0:
            c[i] = -c[i] + d[i] * e[i]
        else:
            b[i] = -b[i] + d[i] * e[i]
        a[i] = b[i] + c[i] * d[i]


def s279(a, b, c, d, e):
    for i in range(len(a)):
        if a[i] > 0.0:
            c[i] = -c[i] + e[i] * e[i]
        else:
            b[i] = -b[i] + d[i] * d[i]
            if b[i] > a[i]:
                c[i] += d[i] * e[i]
        a[i] = b[i] + c[i] * d[i]


def s1279(a, b, c, d, e):
    for i in range(len(a)):
        if a[i] < 0.0:
            if b[i] > a[i]:
                c[i] += d[i] * e[i]


def s2710(a, b, c, d, e, s1):
    for i in range(len(a)):
        if a[i] > b[i]:
            a[i] += b[i] * d[i]
            if len(a) > 10:
                c[i] += d[i] * d[i]
            else:
                c[i] = d[i] * e[i] + 1.0
        else:
            b[i] = a[i] + e[i] * e[i]
            if s1 > 0.0:
                c[i] = a[i] + d[i] * d[i]
            else:
                c[i] += e[i] * e[i]


def s2711(a, b, c):
    for i in range(len(a)):
        if b[i] != 0.0:
            a[i] += b[i] * c[i]


def s2712(a, b, c):
    for i in range(len(a)):
        if a[i] > b[i]:
            a[i] += b[i] * c[i]


def s281(a, b, c):
    n = len(a)
    for i in range(n):
        x = a[n - i - 1] + b[i] * c[i]
        a[i] = x - 1.0
        b[i] = x


def s1281(a, b, c, d, e):
    for i in range(len(a)):
        x = b[i] * c[i] + a[i] * d[i] + e[i]
        a[i] = x - 1.0
        b[i] = x


def s291(a, b):
    last = len(b) - 1
    for i in range(len(a)):
        a[i] = (b[i] + b[last]) * 0.5
        last = i


def s292(a, b):
    last = len(b) - 1
    before = len(b) - 2
    for i in range(len(a)):
        a[i] = (b[i] + b[last] + b[before]) * 0.333
        before = last
        last = i


def s293(a):
    for i in range(len(a)):
        a[i] = a[0]


def s2101(aa, bb, cc):
    for i in range(aa.shape[0]):
        aa[i, i] += bb[i, i] * cc[i, i]


def s2102(aa):
    n = aa.shape[0]
    for i in range(n):
        for j in range(n):
            aa[j, i] = 0.0
        aa[i, i] = 1.0


def s2111(aa):
    n = aa.shape[0]
    for j in range(1, n):
        for i in range(1, n):
            aa[j, i] = (aa[j, i - 1] + aa[j - 1, i]) / 1.9
