# ruff: noqa: C416, F841 - functions to look at

"""The trees of ordinary functions, word for word: the same on every Python version."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from bytecode import shapes

from quadrants.bytecode import Code, For, If, Loop, Opcode, Seq, format, regions
from quadrants.bytecode.decode import function_of, table_for
from quadrants.bytecode.raw import read

WHILE_AND = """\
PUSH 0
STORE_LOCAL 'i'
block 0:
  loop 1:
    LOAD_LOCAL 'i'
    LOAD_LOCAL 'n'
    COMPARE '<'
    if:
      LOAD_LOCAL 'a'
      LOAD_LOCAL 'i'
      SUBSCR
      PUSH 0
      COMPARE '>'
      if:
      else:
        exit 0
      LOAD_LOCAL 'i'
      PUSH 1
      INPLACE '+'
      STORE_LOCAL 'i'
    else:
      exit 0
LOAD_LOCAL 'i'
return"""

WHILE_CONTINUE = """\
PUSH 0
STORE_LOCAL 'total'
block 0:
  loop 1:
    LOAD_LOCAL 'n'
    PUSH 0
    COMPARE '>'
    if:
      LOAD_LOCAL 'n'
      PUSH 1
      INPLACE '-'
      STORE_LOCAL 'n'
      LOAD_LOCAL 'n'
      PUSH 3
      COMPARE '=='
      if:
      else:
        LOAD_LOCAL 'total'
        LOAD_LOCAL 'n'
        INPLACE '+'
        STORE_LOCAL 'total'
    else:
      exit 0
LOAD_LOCAL 'total'
UNARY '-'
STORE_LOCAL 'total'
LOAD_LOCAL 'total'
return"""

NESTED_FOR = """\
PUSH 0.0
STORE_LOCAL 's'
LOAD_GLOBAL 'range'
LOAD_LOCAL 'n'
CALL (1, ())
GET_ITER
for 0:
  STORE_LOCAL 'i'
  LOAD_GLOBAL 'range'
  LOAD_LOCAL 'm'
  CALL (1, ())
  GET_ITER
  for 1:
    STORE_LOCAL 'j'
    LOAD_LOCAL 's'
    LOAD_LOCAL 'i'
    LOAD_LOCAL 'j'
    BINARY '*'
    INPLACE '+'
    STORE_LOCAL 's'
LOAD_LOCAL 's'
return"""

ELIF_CHAIN = """\
LOAD_LOCAL 'x'
PUSH 0
COMPARE '<'
if:
  LOAD_LOCAL 'x'
  UNARY '-'
  STORE_LOCAL 'r'
else:
  LOAD_LOCAL 'x'
  PUSH 0
  COMPARE '=='
  if:
    PUSH 1
    STORE_LOCAL 'r'
  else:
    LOAD_LOCAL 'x'
    PUSH 2
    BINARY '*'
    STORE_LOCAL 'r'
LOAD_LOCAL 'r'
return"""

TRY_AS = """\
try:
  LOAD_LOCAL 'a'
  LOAD_LOCAL 'b'
  BINARY '/'
  STORE_LOCAL 'r'
except (depth 0):
  PUSH_EXC
  try:
    LOAD_GLOBAL 'ZeroDivisionError'
    CHECK_EXC_MATCH
    if:
    else:
      reraise
    STORE_LOCAL 'e'
    try:
      LOAD_GLOBAL 'str'
      LOAD_LOCAL 'e'
      CALL (1, ())
      STORE_LOCAL 'r'
    except (depth 0):
      PUSH None
      STORE_LOCAL 'e'
      DELETE_LOCAL 'e'
      reraise
  except (depth 0):
    POP_EXCEPT
    reraise
  POP_EXCEPT
  PUSH None
  STORE_LOCAL 'e'
  DELETE_LOCAL 'e'
LOAD_LOCAL 'r'
return"""

TRY_FINALLY = """\
try:
  LOAD_LOCAL 'f'
  PUSH 1
  CALL (1, ())
except (depth 0):
  PUSH_EXC
  try:
    LOAD_LOCAL 'f'
    PUSH 2
    CALL (1, ())
    POP_TOP
    reraise
  except (depth 0):
    POP_EXCEPT
    reraise
LOAD_LOCAL 'f'
PUSH 2
CALL (1, ())
POP_TOP
return"""

WITH_AS = """\
LOAD_LOCAL 'm'
COPY 1
LOAD_SPECIAL '__exit__'
SWAP 2
LOAD_SPECIAL '__enter__'
CALL (0, ())
block 0:
  try:
    STORE_LOCAL 'x'
    LOAD_LOCAL 'x'
    LOAD_ATTR 'go'
    PUSH 1
    PUSH 2
    CALL (1, ('k',))
    POP_TOP
  except (depth 1):
    PUSH_EXC
    try:
      WITH_EXCEPT_START
      if:
      else:
        reraise
      POP_TOP
      POP_EXCEPT
      POP_TOP
      exit 0
    except (depth 1):
      POP_EXCEPT
      reraise
  PUSH None
  PUSH None
  PUSH None
  CALL (3, ())
  POP_TOP
LOAD_LOCAL 'x'
return"""

SLICES = """\
LOAD_LOCAL 'a'
LOAD_LOCAL 'i'
PUSH None
BUILD_SLICE 2
SUBSCR
LOAD_LOCAL 'a'
PUSH 1
LOAD_LOCAL 'i'
BUILD_SLICE 2
STORE_SUBSCR
LOAD_LOCAL 'a'
PUSH None
PUSH None
PUSH 2
BUILD_SLICE 3
DELETE_SUBSCR
LOAD_LOCAL 'a'
LOAD_LOCAL 'i'
COPY 2
COPY 2
SUBSCR
PUSH 1
INPLACE '+'
SWAP 3
SWAP 2
STORE_SUBSCR
LOAD_LOCAL 'a'
LOAD_LOCAL 'i'
PUSH Ellipsis
BUILD_TUPLE 2
SUBSCR
return"""

EXPECTED = {
    "while_and": WHILE_AND,
    "while_continue": WHILE_CONTINUE,
    "nested_for": NESTED_FOR,
    "elif_chain": ELIF_CHAIN,
    "try_as": TRY_AS,
    "try_finally": TRY_FINALLY,
    "with_as": WITH_AS,
    "slices": SLICES,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_tree(name):
    assert shapes.shape(regions(getattr(shapes, name).__code__)) == EXPECTED[name]


def nodes(node):
    """The node and all below it."""
    yield node
    for field in ("items", "then", "orelse", "body", "exhausted", "handler"):
        below = getattr(node, field, ())
        for child in below if isinstance(below, tuple) else (below,):
            yield from nodes(child)


def find(function, kind):
    return [node for node in nodes(regions(function.__code__).body) if isinstance(node, kind)]


def test_a_while_test_is_there_once():
    (loop,) = find(shapes.while_and, Loop)
    code, test = loop.body.items
    assert isinstance(code, Code) and isinstance(test, If)
    compares = [i for c in find(shapes.while_and, Code) for i in c.insts if i.op is Opcode.COMPARE]
    assert [i.arg for i in compares] == ["<", ">"]


def test_for_else_is_kept():
    (loop,) = find(shapes.for_else, For)
    assert loop.assigned == {"x"}


def test_variables():
    (loop,) = find(shapes.while_continue, Loop)
    assert loop.live == {"n", "total"} and loop.assigned == {"n", "total"}
    outer, inner = find(shapes.nested_for, For)
    assert outer.live == {"m", "s"} and outer.assigned == {"s", "i", "j"}
    assert inner.live == {"m", "s", "i"} and inner.assigned == {"s", "j"}


def test_live_after_if():
    def f(a, b):
        if a:
            c = 1
            b = 2
        else:
            c = 2
        return c

    (node,) = find(f, If)
    assert node.live == {"c"}


def test_comprehension_variable_is_not_live_before():
    def f(n):
        x = [i for i in range(n)]
        if n:
            i = 2
        return x, n

    for node in find(f, If):
        assert "i" not in node.live


def test_cells_are_always_live():
    def f(a, n):
        for _ in range(n):
            pass
        return lambda: a

    (loop,) = find(f, For)
    assert "a" in loop.live and "n" not in loop.live


def test_locations():
    def f(a, b):
        return a + b * 2

    first = f.__code__.co_firstlineno
    (code,) = find(f, Code)
    product = next(i for i in code.insts if i.op is Opcode.BINARY and i.arg == "*")
    assert (product.loc.line, product.loc.col, product.loc.end_col) == (first + 1, 19, 24)
    assert product.loc.offset in range(0, len(f.__code__.co_code), 2)
    assert isinstance(regions(f.__code__).body, Seq)


def test_parameters_and_text():
    def f(a, b=1, /, c=2, *rest, d, **others):
        return a

    function = regions(f.__code__)
    p = function.params
    assert (p.argcount, p.posonly, p.kwonly, p.varargs, p.varkw) == (3, 2, 1, True, True)
    assert function.names == ("a", "b", "c", "d", "rest", "others")
    assert "(a, b, /, c, *rest, d, **others)" in str(function)
    assert not function.is_generator

    def g(*, k):
        yield k

    function = regions(g.__code__)
    assert function.is_generator and "(*, k)" in str(function)
    assert "YIELD" in str(function)


def test_cache_is_by_identity():
    source = "def f(a):\n    return a\n"
    one, two = (compile(source, name, "exec").co_consts[0] for name in ("one.py", "two.py"))
    assert regions(one) is regions(one)
    assert regions(one).filename == "one.py" and regions(two).filename == "two.py"


def test_specialised_and_traced_code_reads_the_same():
    def f(n):
        s = 0
        for i in range(n):
            s += i * 2
            if s > 10:
                s -= 3
        return s

    before = format(function_of(read(f.__code__), table_for()))
    for _ in range(100):
        f(50)
    sys.settrace(lambda *args: None)
    try:
        f(50)
        during = format(function_of(read(f.__code__), table_for()))
    finally:
        sys.settrace(None)
    assert before == during == format(function_of(read(f.__code__), table_for()))


def test_threads_share_the_cache():
    codes = [getattr(shapes, name).__code__ for name in EXPECTED]
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(regions, codes * 20))
    assert all(tree == regions(code) for tree, code in zip(trees, codes * 20))


def test_code_without_columns():
    source = "def f(a, n):\n    while n and a:\n        n -= 1\n        a += n\n    return a\n"
    run = "import sys; from quadrants.bytecode import regions; v = {}; exec(sys.argv[1], v); print(regions(v['f'].__code__))"
    out = subprocess.run([sys.executable, "-X", "no_debug_ranges", "-c", run, source], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert out.stdout.count("loop") == 1 and out.stdout.count("INPLACE '-'") == 1
