"""Functions whose execution on the region tree is compared with the interpreter. Each takes two integers."""

# ruff: noqa: B012, B023, B026, B904, C416, F821, F841, PIE800 - odd programs are the point here

from __future__ import annotations

from types import SimpleNamespace

from bytecode import handlers

PROGRAMS: list = list(handlers.PROGRAMS)


def program(function):
    PROGRAMS.append(function)
    return function


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


def add(a, b=1, *, c=0, d=0):
    return a + b * 10 + c * 100 + d * 1000


@program
def arithmetic(a, b):
    x = a * b + (a - b) // 3
    x += -a
    x **= 2
    return x % 7, ~a, +b, not a, a << 2 | b & 3 ^ 1


@program
def if_elif_else(a, b):
    if a > 3:
        r = "big"
    elif a > 1:
        r = "mid"
    elif a == b:
        r = "equal"
    else:
        r = "small"
    return r


@program
def early_returns(a, b):
    if a < 0:
        return "negative"
    if a == b:
        return "equal"
    for i in range(a):
        if i == b:
            return i
    while b > 0:
        b -= 1
        if b == a:
            return "met"
    return "end"


@program
def boolean_expressions(a, b):
    x = a and b or a + b
    y = (a or b) and (b or a)
    z = a if a and b else b if a or b else "none"
    if (a > 1 and b > 1) or (a < 0 and not b) or a == b:
        x += 100
    return x, y, z, 0 < a < b < 4, not (a < b), a is None, b is not None


@program
def while_loop(a, b):
    n = 0
    while a < 10 and b < 12 or n == 0:
        a += 1
        if a == 5:
            continue
        b += 2
        if b == 9:
            break
        n += 1
    else:
        n += 1000
    return a, b, n


@program
def nested_loops(a, b):
    out = []
    for i in range(a):
        for j in range(b):
            if i * j == 6:
                break
            if (i + j) % 3 == 0:
                continue
            out.append((i, j))
        else:
            out.append("full")
            continue
        out.append("broken")
        if i > 4:
            break
    else:
        out.append("all")
    return out


@program
def while_true(a, b):
    n = 0
    while True:
        n += 1
        if n > a:
            if n > b:
                break
            n += 1
        elif n == b:
            return "b", n
    return n


@program
def infinite_with_return(a, b):
    while 1:
        a += 1
        if a > b:
            return a
        if a > 20:
            raise ValueError(a)


@program
def loop_then_loop(a, b):
    total = 0
    while a > 0:
        a -= 1
        total += a
    while b > 0:
        b -= 1
        total += 10 * b
    for i in range(total):
        total += i
    for i in range(3):
        total -= i
    return total


@program
def chained_while(a, b):
    i = 0
    while 0 <= i < a:
        j = 0
        while j < b:
            j += 1
            if i == j:
                break
        i += 1
        if i == 3:
            continue
    return i


@program
def unbound(a, b):
    if a > b:
        x = 1
    for i in range(b):
        y = i
    return x + y


@program
def deleted(a, b):
    x = a
    if b:
        del x
    return x


@program
def comprehensions(a, b):
    x = 5
    xs = [x * b for x in range(a) if x % 2 for y in range(x)]
    ys = {x: [y for y in range(x)] for x in range(b)}
    zs = {x % 3 for x in xs}
    total = sum(x + a for x in range(b))
    return xs, ys, sorted(zs), x, total


@program
def comprehension_raises(a, b):
    x = "outer"
    try:
        r = [10 // (x - a) for x in range(b)]
    except ZeroDivisionError:
        r = "zero"
    return r, x


@program
def comprehension_closure(a, b):
    functions = [lambda: x + a for x in range(b)]
    return [f() for f in functions]


@program
def comprehension_unbound(a, b):
    r = [x for x in range(a)]
    if b:
        x = 3
    return r, x


@program
def closures(a, b):
    count = a

    def inner(k, m=b):
        nonlocal count
        count += k
        return count * m

    r = inner(2), inner(3, m=4)
    if a == 2:
        del count
    return r, count


@program
def calls(a, b):
    args = (a, b)
    kwargs = {"c": 3}
    r = [add(a), add(a, b), add(b=a, a=b), add(a, c=1, d=b), add(*args), add(*args, **kwargs), add(a, **kwargs, d=1)]
    r.append(add(*[a], d=2, *(b,)))
    r.append("x-y".split("-")[a % 2].upper())
    return r


@program
def many_arguments(a, b):
    def f(*args, **kwargs):
        return args, kwargs

    return f(
        a,
        b,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        p=1,
        q=2,
        r=3,
        s=4,
        t=5,
        u=6,
        v=7,
        w=8,
        x=9,
        y=10,
        z=11,
        aa=12,
        bb=13,
        cc=14,
        dd=15,
        ee=16,
    )


@program
def slices(a, b):
    x = list(range(10))
    x[a:b] = [7, 7]
    x[b] += 3
    del x[::3]
    y = x[a:], x[:b], x[a:b], x[::2], x[-1:0:-1]
    return x, y


@program
def containers(a, b):
    t = (a, *range(b), "end")
    l = [a, *t]
    s = {a, b, *t}
    d = {"a": a, "b": b, **{"c": 3}}
    e = {a: b}
    first, *middle, last = l
    (p, q), r = (a, b), t
    p, q = q, p
    return t, l, len(s), d, e, first, middle, last, p, q, r, a in s, b not in l


@program
def unpack_errors(a, b):
    values = list(range(a))
    if b:
        x, y = values
        return x, y
    x, *y, z = values
    return x, y, z


@program
def strings(a, b):
    return f"{a}{b!r:>5}-{a:{b + 2}}{'q'!s}{a=}" + f"{b!a}"


@program
def attributes(a, b):
    p = SimpleNamespace(x=a, y=b)
    p.x += 2
    p.z = [p.x]
    p.z[0] *= 3
    del p.y
    return p.x, p.z, hasattr(p, "y")


@program
def matching(a, b):
    out = []
    for subject in (a, (a, b), [a, b, 3], {"k": a, "j": b}, Point(a, b), "text", None):
        match subject:
            case 1 | 2:
                out.append("one or two")
            case int(n) if n > 3:
                out.append(n)
            case (x, 2):
                out.append(("pair", x))
            case [x, *rest]:
                out.append((x, rest))
            case {"k": 1, **others}:
                out.append(others)
            case {"k": k}:
                out.append(k)
            case Point(x=0, y=y):
                out.append(("origin", y))
            case Point(x, y):
                out.append((x, y))
            case None:
                out.append("none")
            case _:
                out.append("other")
    return out


@program
def none_tests(a, b):
    x = None if a > 2 else a
    y = None
    n = 0
    while x is not None:
        n += 1
        x = None if n > b else n
        if y is None:
            y = n
    if y is None and x is None:
        return "none"
    return y, n


@program
def walrus_and_lambda(a, b):
    f = lambda x, k=3: x * k + b
    if (n := f(a)) > 10:
        n -= 10
    return n, f(n, k=1)


@program
def local_class(a, b):
    class C:
        z = a

        def get(self):
            return self.z + b

    return C().get()


@program
def imports(a, b):
    import math
    from os.path import join as j

    return math.gcd(a, b), j("a", "b")


@program
def deep_stack(a, b):
    return add(a, add(b, a if a > b else [x for x in range(b)] and b, c=b and a or 2), d=add(*(a, b), d=a < b))


@program
def conditional_in_call_in_try(a, b):
    try:
        return add(a if b else 1 // a, (b or 1 // b) if a > 1 else 3)
    except ZeroDivisionError:
        return "zero"


@program
def finally_break(a, b):
    n = 0
    for i in range(5):
        try:
            n += 10 // (i - a)
        finally:
            if i == b:
                break
    return n, i


@program
def except_star_free(a, b):
    # An exception in an except body, whose variable must be gone afterwards.
    try:
        try:
            1 // 0
        except ZeroDivisionError as e:
            if a:
                raise KeyError(b)
            e = 5
    except KeyError:
        pass
    return e


@program
def loop_else_raise(a, b):
    for i in range(a):
        if i == b:
            break
    else:
        raise LookupError(a)
    return i


@program
def long_jump(a, b):
    # Enough code between a jump and its target to need EXTENDED_ARG.
    while a < 5:
        a += 1
        if b:
            x0 = a + 1
            x1 = x0 + 1
            x2 = x1 + 1
            x3 = x2 + 1
            x4 = x3 + 1
            x5 = x4 + 1
            x6 = x5 + 1
            x7 = x6 + 1
            x0 = x7 + 1
            x1 = x0 + 1
            x2 = x1 + 1
            x3 = x2 + 1
            x4 = x3 + 1
            x5 = x4 + 1
            x6 = x5 + 1
            x7 = x6 + 1
            x0 = x7 + 1
            x1 = x0 + 1
            x2 = x1 + 1
            x3 = x2 + 1
            x4 = x3 + 1
            x5 = x4 + 1
            x6 = x5 + 1
            x7 = x6 + 1
            x0 = x7 + 1
            x1 = x0 + 1
            x2 = x1 + 1
            x3 = x2 + 1
            x4 = x3 + 1
            x5 = x4 + 1
            x6 = x5 + 1
            x7 = x6 + 1
            x0 = x7 + 1
            x1 = x0 + 1
            x2 = x1 + 1
            x3 = x2 + 1
            x4 = x3 + 1
            x5 = x4 + 1
            x6 = x5 + 1
            x7 = x6 + 1
            x0 = x7 + 1
            x1 = x0 + 1
            x2 = x1 + 1
            x3 = x2 + 1
            x4 = x3 + 1
            x5 = x4 + 1
            x6 = x5 + 1
            x7 = x6 + 1
            x0 = x7 + 1
            x1 = x0 + 1
            x2 = x1 + 1
            x3 = x2 + 1
            x4 = x3 + 1
            x5 = x4 + 1
            x6 = x5 + 1
            x7 = x6 + 1
            b = x7
    return a, b
