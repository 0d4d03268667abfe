"""Functions with handlers, `finally` and `with`, run on the region tree and in the interpreter. Each takes two integers."""

# ruff: noqa: B012, B016 - odd programs are the point here

from __future__ import annotations

PROGRAMS: list = []


def program(function):
    PROGRAMS.append(function)
    return function


class Manager:
    def __init__(self, log: list, swallow: bool = False) -> None:
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter")
        return len(self.log)

    def __exit__(self, kind, value, traceback):
        self.log.append(("exit", kind, str(value)))
        return self.swallow


@program
def try_except(a, b):
    try:
        r = a // b
    except ZeroDivisionError:
        r = -1
    return r


@program
def try_full(a, b):
    log = []
    try:
        log.append(a // b)
        if a == 3:
            return log
        [1, 2, 3][a]
    except ZeroDivisionError as e:
        log.append(str(e))
    except (IndexError, TypeError) as e:
        log.append(type(e).__name__)
        if b == 2:
            raise ValueError("b is two") from e
    else:
        log.append("else")
    finally:
        log.append("finally")
    log.append("after")
    return log


@program
def try_in_loop(a, b):
    out = []
    for i in range(-2, a):
        try:
            if i == b:
                continue
            if i == b + 3:
                break
            out.append(10 // i)
        except ZeroDivisionError:
            out.append("zero")
            if b == 1:
                continue
            if b == 2:
                break
            if b == 3:
                return out
        finally:
            out.append(i)
    else:
        out.append("else")
    return out


@program
def loop_in_try(a, b):
    n = 0
    try:
        while True:
            n += 1
            for i in range(n):
                if i == a:
                    raise KeyError(i)
                n += 10 // (b - i)
            if n > 30 or n < 0:
                return n
    except KeyError as e:
        return e.args, n
    except ZeroDivisionError:
        n += 1000
    finally:
        n += 1
    return n


@program
def while_try_break(a, b):
    it = iter(range(a))
    seen = []
    while True:
        try:
            x = next(it)
        except StopIteration:
            break
        seen.append(x)
    seen.append(b)
    for x in seen:
        b += x
    return b, seen


@program
def nested_try(a, b):
    log = []
    try:
        try:
            try:
                log.append(1 // a)
            except ZeroDivisionError:
                log.append("a")
                log.append(1 // b)
            finally:
                log.append("f1")
                [0][b]
        except ZeroDivisionError as e:
            log.append("b")
            raise TypeError("inner") from e
    except (TypeError, IndexError) as e:
        log.append((type(e).__name__, type(e.__cause__).__name__))
        try:
            raise
        except IndexError:
            log.append("again")
        except TypeError:
            log.append("type")
    return log


@program
def return_in_finally(a, b):
    for i in range(a):
        try:
            if i == b:
                return "try", i
            1 // (i - 2)
        except ZeroDivisionError:
            return "except", i
        finally:
            if i == 3:
                return "finally", i
    return "end"


@program
def except_continues(a, b):
    n = 0
    while n < a:
        n += 1
        try:
            if n % 2:
                raise ValueError(n)
            if n == b:
                raise KeyError(n)
        except ValueError as e:
            if e.args[0] == b:
                return "odd", n
            continue
        except KeyError:
            break
    else:
        return "else", n
    return "break", n


@program
def reraise_without(a, b):
    if a:
        raise
    return b


@program
def raise_kinds(a, b):
    if a == 0:
        raise ValueError
    if a == 1:
        raise ValueError("text", b)
    if a == 2:
        raise 3
    assert a != 3, f"a is {a}"
    assert b
    return "fine"


@program
def with_statement(a, b):
    log = []
    with Manager(log) as first, Manager(log, swallow=b > 1) as second:
        log.append(first + second)
        if a == 1:
            return log
        log.append(1 // a)
    log.append("after")
    return log


@program
def with_in_loop(a, b):
    log = []
    for i in range(a):
        with Manager(log, swallow=True):
            if i == b:
                break
            if i % 2:
                continue
            log.append(1 // (i - 2))
        log.append(i)
    else:
        log.append("else")
    return log


@program
def with_needs_manager(a, b):
    with a as x:
        return x
    return b
