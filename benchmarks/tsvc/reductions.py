"""Loops of the test suite for vectorising compilers: reductions, recurrences, searches, packing, rerolling.

See `dependence` for the arguments.
"""


def s311(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
    return total


def s31111(a):
    total = 0.0
    for k in range(0, 32, 4):
        for i in range(k, k + 4):
            total += a[i]
    return total


def s312(a):
    product = 1.0
    for i in range(len(a)):
        product *= 1.0 + a[i] * 0.0001
    return product


def s313(a, b):
    dot = 0.0
    for i in range(len(a)):
        dot += a[i] * b[i]
    return dot


def s314(a):
    x = a[0]
    for i in range(len(a)):
        if a[i] > x:
            x = a[i]
    return x


def s315(a):
    x, index = a[0], 0
    for i in range(len(a)):
        if a[i] > x:
            x = a[i]
            index = i
    return x, index


def s316(a):
    x = a[0]
    for i in range(1, len(a)):
        if a[i] < x:
            x = a[i]
    return x


def s317(a):
    q = 1.0
    for _ in range(len(a) // 2):
        q *= 0.999
    return q


def s318(a, inc):
    k = 0
    index = 0
    largest = abs(a[0])
    k += inc
    for i in range(1, len(a) // inc):
        if abs(a[k]) > largest:
            index = i
            largest = abs(a[k])
        k += inc
    return largest, index


def s319(a, b, c, d, e):
    total = 0.0
    for i in range(len(a)):
        a[i] = c[i] + d[i]
        total += a[i]
        b[i] = c[i] + e[i]
        total += b[i]
    return total


def s3110(aa):
    n = aa.shape[0]
    largest, row, column = aa[0, 0], 0, 0
    for i in range(n):
        for j in range(n):
            if aa[i, j] > largest:
                largest = aa[i, j]
                row = i
                column = j
    return largest, row, column


def s3111(a):
    total = 0.0
    for i in range(len(a)):
        if a[i] > 0.0:
            total += a[i]
    return total


def s3112(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        b[i] = total
    return total


def s3113(a):
    largest = abs(a[0])
    for i in range(len(a)):
        if abs(a[i]) > largest:
            largest = abs(a[i])
    return largest


def s321(a, b):
    for i in range(1, len(a)):
        a[i] += a[i - 1] * b[i]


def s322(a, b, c):
    for i in range(2, len(a)):
        a[i] = a[i] + a[i - 1] * b[i] + a[i - 2] * c[i]


def s323(a, b, c, d, e):
    for i in range(1, len(a)):
        a[i] = b[i - 1] + c[i] * d[i]
        b[i] = a[i] + c[i] * e[i]


def s331(a):
    last = -1
    for i in range(len(a)):
        if a[i] < 0.0:
            last = i
    return last


def s332(a, t):
    index, value = -2, -1.0
    for i in range(len(a)):
        if a[i] > t:
            index = i
            value = a[i]
            break
    return value + index


def s341(a, b):
    j = -1
    for i in range(len(a)):
        if b[i] > 0.0:
            j += 1
            a[j] = b[i]


def s342(a, b):
    j = -1
    for i in range(len(a)):
        if a[i] > 0.0:
            j += 1
            a[i] = b[j]


def s343(flat, aa, bb):
    n = aa.shape[0]
    k = -1
    for i in range(n):
        for j in range(n):
            if bb[j, i] > 0.0:
                k += 1
                flat[k] = aa[j, i]


def s351(a, b, s1):
    for i in range(0, len(a) - 4, 5):
        a[i] += s1 * b[i]
        a[i + 1] += s1 * b[i + 1]
        a[i + 2] += s1 * b[i + 2]
        a[i + 3] += s1 * b[i + 3]
        a[i + 4] += s1 * b[i + 4]


def s1351(a, b, c):
    for i in range(len(a)):
        a[i] = b[i] + c[i]


def s352(a, b):
    dot = 0.0
    for i in range(0, len(a) - 4, 5):
        dot = dot + a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] + a[i + 3] * b[i + 3] + a[i + 4] * b[i + 4]
    return dot


def s353(a, b, ip, s1):
    for i in range(0, len(a) - 4, 5):
        a[i] += s1 * b[ip[i]]
        a[i + 1] += s1 * b[ip[i + 1]]
        a[i + 2] += s1 * b[ip[i + 2]]
        a[i + 3] += s1 * b[ip[i + 3]]
        a[i + 4] += s1 * b[ip[i + 4]]
