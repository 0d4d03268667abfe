"""Loops of the test suite for vectorising compilers: dependence, induction variables, data flow, symbols, order of statements.

The names are the suite's. An argument is an array of one dimension (a, b, c, d, e), of two (aa, bb, cc), of their indices (ip), or
a number, by its name (`inputs`).
"""


def s000(a, b):
    for i in range(len(a)):
        a[i] = b[i] + 1.0


def s111(a, b):
    for i in range(1, len(a), 2):
        a[i] = a[i - 1] + b[i]


def s1111(a, b, c, d):
    for i in range(len(a) // 2):
        a[2 * i] = c[i] * b[i] + d[i] * b[i] + c[i] * c[i] + d[i] * b[i] + d[i] * c[i]


def s112(a, b):
    for i in range(len(a) - 2, -1, -1):
        a[i + 1] = a[i] + b[i]


def s1112(a, b):
    for i in range(len(a) - 1, -1, -1):
        a[i] = b[i] + 1.0


def s113(a, b):
    for i in range(1, len(a)):
        a[i] = a[0] + b[i]


def s1113(a, b):
    for i in range(len(a)):
        a[i] = a[len(a) // 2] + b[i]


def s114(aa, bb):
    for i in range(aa.shape[0]):
        for j in range(i):
            aa[i, j] = aa[j, i] + bb[i, j]


def s115(a, aa):
    n = aa.shape[0]
    for j in range(n):
        for i in range(j + 1, n):
            a[i] -= aa[j, i] * a[j]


def s1115(aa, bb, cc):
    n = aa.shape[0]
    for i in range(n):
        for j in range(n):
            aa[i, j] = aa[i, j] * cc[j, i] + bb[i, j]


def s116(a):
    for i in range(0, len(a) - 5, 5):
        a[i] = a[i + 1] * a[i]
        a[i + 1] = a[i + 2] * a[i + 1]
        a[i + 2] = a[i + 3] * a[i + 2]
        a[i + 3] = a[i + 4] * a[i + 3]
        a[i + 4] = a[i + 5] * a[i + 4]


def s118(a, bb):
    for i in range(1, bb.shape[0]):
        for j in range(i):
            a[i] += bb[j, i] * a[i - j - 1]


def s119(aa, bb):
    n = aa.shape[0]
    for i in range(1, n):
        for j in range(1, n):
            aa[i, j] = aa[i - 1, j - 1] + bb[i, j]


def s1119(aa, bb):
    n = aa.shape[0]
    for i in range(1, n):
        for j in range(n):
            aa[i, j] = aa[i - 1, j] + bb[i, j]


def s121(a, b):
    for i in range(len(a) - 1):
        j = i + 1
        a[i] = a[j] + b[i]


def s122(a, b, n1, n3):
    j = 1
    k = 0
    for i in range(n1 - 1, len(a), n3):
        k += j
        a[i] += b[len(a) - k]


def s123(a, b, c, d, e):
    j = -1
    for i in range(len(a) // 2):
        j += 1
        a[j] = b[i] + d[i] * e[i]
        if c[i] > 0.0:
            j += 1
            a[j] = c[i] + d[i] * e[i]


def s124(a, b, c, d, e):
    j = -1
    for i in range(len(a)):
        if b[i] > 0.0:
            j += 1
            a[j] = b[i] + d[i] * e[i]
        else:
            j += 1
            a[j] = c[i] + d[i] * e[i]


def s125(flat, aa, bb, cc):
    n = aa.shape[0]
    k = -1
    for i in range(n):
        for j in range(n):
            k += 1
            flat[k] = aa[i, j] + bb[i, j] * cc[i, j]


def s126(flat, bb, cc):
    n = bb.shape[0]
    k = 1
    for i in range(n):
        for j in range(1, n):
            bb[j, i] = bb[j - 1, i] + flat[k - 1] * cc[j, i]
            k += 1
        k += 1


def s127(a, b, c, d, e):
    j = -1
    for i in range(len(a) // 2):
        j += 1
        a[j] = b[i] + c[i] * d[i]
        j += 1
        a[j] = b[i] + d[i] * e[i]


def s128(a, b, c, d):
    j = -1
    for i in range(len(a) // 2):
        k = j + 1
        a[i] = b[k] - d[i]
        j = k + 1
        b[k] = a[i] + c[k]


def s131(a, b):
    m = 1
    for i in range(len(a) - 1):
        a[i] = a[i + m] + b[i]


def s132(aa, b, c):
    m, j = 0, 1
    k = j
    for i in range(1, aa.shape[1]):
        aa[m, i] = aa[j, i - 1] + b[i] * c[k]


def s141(flat, bb):
    n = bb.shape[0]
    for i in range(n):
        k = (i + 1) * i // 2 + i
        for j in range(i, n):
            flat[k] += bb[j, i]
            k += j + 1


def s151s(a, b, m):
    for i in range(len(a) - 1):
        a[i] = a[i + m] + b[i]


def s151(a, b):
    s151s(a, b, 1)


def s152s(a, b, c, i):
    a[i] += b[i] * c[i]


def s152(a, b, c, d, e):
    for i in range(len(a)):
        b[i] = d[i] * e[i]
        s152s(a, b, c, i)


def s161(a, b, c, d, e):
    for i in range(len(a) - 1):
        if b[i] < 0.0:
            c[i + 1] = a[i] + d[i] * d[i]
        else:
            a[i] = c[i] + d[i] * e[i]


def s1161(a, b, c, d, e):
    for i in range(len(a) - 1):
        if c[i] < 0.0:
            b[i] = a[i] + d[i] * d[i]
        else:
            a[i] = c[i] + d[i] * e[i]


def s162(a, b, c, k):
    if k > 0:
        for i in range(len(a) - k):
            a[i] = a[i + k] + b[i] * c[i]


def s171(a, b, inc):
    for i in range(len(a) // inc):
        a[i * inc] += b[i]


def s172(a, b, n1, n3):
    for i in range(n1 - 1, len(a), n3):
        a[i] += b[i]


def s173(a, b):
    k = len(a) // 2
    for i in range(len(a) // 2):
        a[i + k] = a[i] + b[i]


def s174(a, b):
    m = len(a) // 2
    for i in range(m):
        a[i + m] = a[i] + b[i]


def s175(a, b, inc):
    for i in range(0, len(a) - inc, inc):
        a[i] = a[i + inc] + b[i]


def s176(a, b, c, half):
    for j in range(half):
        for i in range(half):
            a[i] += b[i + half - j - 1] * c[j]


def s211(a, b, c, d, e):
    for i in range(1, len(a) - 1):
        a[i] = b[i - 1] + c[i] * d[i]
        b[i] = b[i + 1] - e[i] * d[i]


def s212(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] *= c[i]
        b[i] += a[i + 1] * d[i]


def s1213(a, b, c, d):
    for i in range(1, len(a) - 1):
        a[i] = b[i - 1] + c[i]
        b[i] = a[i + 1] * d[i]


def s221(a, b, c, d):
    for i in range(1, len(a)):
        a[i] += c[i] * d[i]
        b[i] = b[i - 1] + a[i] + d[i]


def s1221(a, b):
    for i in range(4, len(a)):
        b[i] = b[i - 4] + a[i]


def s222(a, b, c, e):
    for i in range(1, len(a)):
        a[i] += b[i] * c[i]
        e[i] = e[i - 1] * e[i - 1]
        a[i] -= b[i] * c[i]


def s231(aa, bb):
    n = aa.shape[0]
    for i in range(n):
        for j in range(1, n):
            aa[j, i] = aa[j - 1, i] + bb[j, i]


def s232(aa, bb):
    n = aa.shape[0]
    for j in range(1, n):
        for i in range(1, j + 1):
            aa[j, i] = aa[j, i - 1] * aa[j, i - 1] + bb[j, i]


def s1232(aa, bb, cc):
    n = aa.shape[0]
    for j in range(n):
        for i in range(j, n):
            aa[i, j] = bb[i, j] + cc[i, j]


def s233(aa, bb, cc):
    n = aa.shape[0]
    for i in range(1, n):
        for j in range(1, n):
            aa[j, i] = aa[j - 1, i] + cc[j, i]
        for j in range(1, n):
            bb[j, i] = bb[j, i - 1] + cc[j, i]


def s2233(aa, bb, cc):
    n = aa.shape[0]
    for i in range(1, n):
        for j in range(1, n):
            aa[j, i] = aa[j - 1, i] + cc[j, i]
        for j in range(1, n):
            bb[i, j] = bb[i - 1, j] + cc[i, j]


def s235(a, b, c, aa, bb):
    n = aa.shape[0]
    for i in range(n):
        a[i] += b[i] * c[i]
        for j in range(1, n):
            aa[j, i] = aa[j - 1, i] + bb[j, i] * a[i]


def s241(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] * c[i] * d[i]
        b[i] = a[i] * a[i + 1] * d[i]


def s242(a, b, c, d, s1, s2):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + s1 + s2 + b[i] + c[i] + d[i]


def s243(a, b, c, d, e):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * d[i]
        b[i] = a[i] + d[i] * e[i]
        a[i] = b[i] + a[i + 1] * d[i]


def s244(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * d[i]
        b[i] = c[i] + b[i]
        a[i + 1] = b[i] + a[i + 1] * d[i]


def s1244(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * c[i] + b[i] * b[i] + c[i]
        d[i] = a[i] + a[i + 1]


def s2244(a, b, c, e):
    for i in range(len(a) - 1):
        a[i + 1] = b[i] + e[i]
        a[i] = b[i] + c[i]
