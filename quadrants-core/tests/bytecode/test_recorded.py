"""The 3.14 table, on listings of 3.14: they give the trees that the running version gives for the same source."""

from __future__ import annotations

import inspect

import pytest
from bytecode import shapes
from bytecode.executor import run
from bytecode.recorded import record

from quadrants.bytecode import regions
from quadrants.bytecode.decode import function_of, table_for

WHILE_AND = record(
    """
  1            RESUME                   0
  2            LOAD_SMALL_INT           0
               STORE_FAST               2 (i)
  3    L1:     LOAD_FAST_BORROW_LOAD_FAST_BORROW 33 (i, n)
               COMPARE_OP              18 (bool(<))
               POP_JUMP_IF_FALSE       35 (to L2)
               NOT_TAKEN
               LOAD_FAST_BORROW_LOAD_FAST_BORROW 2 (a, i)
               BINARY_OP               26 ([])
               LOAD_SMALL_INT           0
               COMPARE_OP             148 (bool(>))
               POP_JUMP_IF_FALSE       13 (to L2)
               NOT_TAKEN
  4            LOAD_FAST_BORROW         2 (i)
               LOAD_SMALL_INT           1
               BINARY_OP               13 (+=)
               STORE_FAST               2 (i)
               JUMP_BACKWARD           44 (to L1)
  5    L2:     LOAD_FAST_BORROW         2 (i)
               RETURN_VALUE
""",
    slots=("a", "n", "i"),
    argcount=2,
)

NESTED_FOR = record(
    """
  1            RESUME                   0
  2            LOAD_CONST               0 (0.0)
               STORE_FAST               2 (s)
  3            LOAD_GLOBAL              1 (range + NULL)
               LOAD_FAST_BORROW         0 (n)
               CALL                     1
               GET_ITER
       L1:     FOR_ITER                37 (to L4)
               STORE_FAST               3 (i)
  4            LOAD_GLOBAL              1 (range + NULL)
               LOAD_FAST_BORROW         1 (m)
               CALL                     1
               GET_ITER
       L2:     FOR_ITER                17 (to L3)
               STORE_FAST               4 (j)
  5            LOAD_FAST_BORROW         2 (s)
               LOAD_FAST_BORROW_LOAD_FAST_BORROW 52 (i, j)
               BINARY_OP                5 (*)
               BINARY_OP               13 (+=)
               STORE_FAST               2 (s)
               JUMP_BACKWARD           19 (to L2)
  4    L3:     END_FOR
               POP_ITER
               JUMP_BACKWARD           41 (to L1)
  3    L4:     END_FOR
               POP_ITER
  6            LOAD_FAST_BORROW         2 (s)
               RETURN_VALUE
""",
    slots=("n", "m", "s", "i", "j"),
    argcount=2,
    consts=(0.0,),
    names=("range",),
)

ELIF_CHAIN = record(
    """
  1            RESUME                   0
  2            LOAD_FAST_BORROW         0 (x)
               LOAD_SMALL_INT           0
               COMPARE_OP              18 (bool(<))
               POP_JUMP_IF_FALSE        6 (to L1)
               NOT_TAKEN
  3            LOAD_FAST_BORROW         0 (x)
               UNARY_NEGATIVE
               STORE_FAST               1 (r)
               JUMP_FORWARD             5 (to L3)
  4    L1:     LOAD_FAST_BORROW         0 (x)
               LOAD_SMALL_INT           0
               COMPARE_OP              88 (bool(==))
               POP_JUMP_IF_FALSE        5 (to L2)
               NOT_TAKEN
  5            LOAD_SMALL_INT           1
               STORE_FAST               1 (r)
               JUMP_FORWARD             5 (to L3)
  7    L2:     LOAD_FAST_BORROW         0 (x)
               LOAD_SMALL_INT           2
               BINARY_OP                5 (*)
               STORE_FAST               1 (r)
  8    L3:     LOAD_FAST_BORROW         1 (r)
               RETURN_VALUE
""",
    slots=("x", "r"),
    argcount=1,
)

TRY_AS = record(
    """
  1            RESUME                   0
  2            NOP
  3    L1:     LOAD_FAST_BORROW_LOAD_FAST_BORROW 1 (a, b)
               BINARY_OP               11 (/)
               STORE_FAST               2 (r)
  6    L2:     LOAD_FAST                2 (r)
               RETURN_VALUE
  --   L3:     PUSH_EXC_INFO
  4            LOAD_GLOBAL              0 (ZeroDivisionError)
               CHECK_EXC_MATCH
               POP_JUMP_IF_FALSE       29 (to L7)
               NOT_TAKEN
               STORE_FAST               3 (e)
  5    L4:     LOAD_GLOBAL              3 (str + NULL)
               LOAD_FAST                3 (e)
               CALL                     1
               STORE_FAST               2 (r)
  4    L5:     POP_EXCEPT
               LOAD_CONST               0 (None)
               STORE_FAST               3 (e)
               DELETE_FAST              3 (e)
               JUMP_BACKWARD_NO_INTERRUPT 33 (to L2)
  --   L6:     LOAD_CONST               0 (None)
               STORE_FAST               3 (e)
               DELETE_FAST              3 (e)
               RERAISE                  1
  4    L7:     RERAISE                  0
  --   L8:     COPY                     3
               POP_EXCEPT
               RERAISE                  1
ExceptionTable:
  L1 to L2 -> L3 [0]
  L3 to L4 -> L8 [1] lasti
  L4 to L5 -> L6 [1] lasti
  L6 to L8 -> L8 [1] lasti
""",
    slots=("a", "b", "r", "e"),
    argcount=2,
    consts=(None,),
    names=("ZeroDivisionError", "str"),
)

TRY_FINALLY = record(
    """
  1            RESUME                   0
  2            NOP
  3    L1:     LOAD_FAST                0 (f)
               PUSH_NULL
               LOAD_SMALL_INT           1
               CALL                     1
  5    L2:     LOAD_FAST                0 (f)
               PUSH_NULL
               LOAD_SMALL_INT           2
               CALL                     1
               POP_TOP
               RETURN_VALUE
  --   L3:     PUSH_EXC_INFO
  5            LOAD_FAST                0 (f)
               PUSH_NULL
               LOAD_SMALL_INT           2
               CALL                     1
               POP_TOP
               RERAISE                  0
  --   L4:     COPY                     3
               POP_EXCEPT
               RERAISE                  1
ExceptionTable:
  L1 to L2 -> L3 [0]
  L3 to L4 -> L4 [1] lasti
""",
    slots=("f",),
)

WITH_AS = record(
    """
  1            RESUME                   0
  2            LOAD_FAST_BORROW         0 (m)
               COPY                     1
               LOAD_SPECIAL             1 (__exit__)
               SWAP                     2
               SWAP                     3
               LOAD_SPECIAL             0 (__enter__)
               CALL                     0
       L1:     STORE_FAST               1 (x)
  3            LOAD_FAST                1 (x)
               LOAD_ATTR                1 (go + NULL|self)
               LOAD_SMALL_INT           1
               LOAD_SMALL_INT           2
               LOAD_CONST               0 (('k',))
               CALL_KW                  2
               POP_TOP
  2    L2:     LOAD_CONST               1 (None)
               LOAD_CONST               1 (None)
               LOAD_CONST               1 (None)
               CALL                     3
               POP_TOP
  4    L3:     LOAD_FAST                1 (x)
               RETURN_VALUE
  2    L4:     PUSH_EXC_INFO
               WITH_EXCEPT_START
               TO_BOOL
               POP_JUMP_IF_TRUE         2 (to L5)
               NOT_TAKEN
               RERAISE                  2
       L5:     POP_TOP
       L6:     POP_EXCEPT
               POP_TOP
               POP_TOP
               POP_TOP
               JUMP_BACKWARD_NO_INTERRUPT 20 (to L3)
  --   L7:     COPY                     3
               POP_EXCEPT
               RERAISE                  1
ExceptionTable:
  L1 to L2 -> L4 [2] lasti
  L4 to L6 -> L7 [4] lasti
""",
    slots=("m", "x"),
    argcount=1,
    consts=(("k",), None),
    names=("go",),
)

CALLS = record(
    """
  1            RESUME                   0
  2            LOAD_FAST_BORROW         0 (f)
               PUSH_NULL
               LOAD_FAST_BORROW         1 (a)
               LOAD_ATTR                0 (b)
               LOAD_ATTR                3 (c + NULL|self)
               LOAD_SMALL_INT           1
               CALL                     1
               BUILD_LIST               1
               LOAD_FAST_BORROW         1 (a)
               LIST_EXTEND              1
               CALL_INTRINSIC_1         6 (INTRINSIC_LIST_TO_TUPLE)
               LOAD_CONST               0 ('x')
               LOAD_SMALL_INT           2
               BUILD_MAP                1
               LOAD_FAST_BORROW         2 (k)
               DICT_MERGE               1
               CALL_FUNCTION_EX
               RETURN_VALUE
""",
    slots=("f", "a", "k"),
    consts=("x",),
    names=("b", "c"),
)

LISTCOMP = record(
    """
  1            RESUME                   0
  2            LOAD_GLOBAL              1 (range + NULL)
               LOAD_FAST_BORROW         0 (n)
               CALL                     1
               GET_ITER
               LOAD_FAST_AND_CLEAR      1 (i)
               SWAP                     2
       L1:     BUILD_LIST               0
               SWAP                     2
       L2:     FOR_ITER                18 (to L5)
               STORE_FAST_LOAD_FAST    17 (i, i)
               TO_BOOL
       L3:     POP_JUMP_IF_TRUE         3 (to L4)
               NOT_TAKEN
               JUMP_BACKWARD           10 (to L2)
       L4:     LOAD_FAST_BORROW_LOAD_FAST_BORROW 16 (i, n)
               BINARY_OP                5 (*)
               LIST_APPEND              2
               JUMP_BACKWARD           20 (to L2)
       L5:     END_FOR
               POP_ITER
       L6:     SWAP                     2
               STORE_FAST               1 (i)
               RETURN_VALUE
  --   L7:     SWAP                     2
               POP_TOP
  2            SWAP                     2
               STORE_FAST               1 (i)
               RERAISE                  0
ExceptionTable:
  L1 to L3 -> L7 [2]
  L4 to L6 -> L7 [2]
""",
    slots=("n", "i"),
    argcount=1,
    names=("range",),
)

SLICES = record(
    """
  1            RESUME                   0
  2            LOAD_FAST_BORROW_LOAD_FAST_BORROW 1 (a, i)
               LOAD_CONST               0 (None)
               BINARY_SLICE
               LOAD_FAST_BORROW         0 (a)
               LOAD_SMALL_INT           1
               LOAD_FAST_BORROW         1 (i)
               STORE_SLICE
  3            LOAD_FAST_BORROW         0 (a)
               LOAD_CONST               2 (slice(None, None, 2))
               DELETE_SUBSCR
  4            LOAD_FAST_BORROW_LOAD_FAST_BORROW 1 (a, i)
               COPY                     2
               COPY                     2
               BINARY_OP               26 ([])
               LOAD_SMALL_INT           1
               BINARY_OP               13 (+=)
               SWAP                     3
               SWAP                     2
               STORE_SUBSCR
  5            LOAD_FAST_BORROW_LOAD_FAST_BORROW 1 (a, i)
               LOAD_CONST               1 (Ellipsis)
               BUILD_TUPLE              2
               BINARY_OP               26 ([])
               RETURN_VALUE
""",
    slots=("a", "i"),
    consts=(None, ..., slice(None, None, 2)),
)

CLOSURE = record(
    """
  --           MAKE_CELL                0 (n)
               MAKE_CELL                2 (m)
  1            RESUME                   0
  2            LOAD_SMALL_INT           1
               STORE_DEREF              2 (m)
  4            LOAD_CONST               1 ((3,))
               LOAD_FAST_BORROW         2 (m)
               LOAD_FAST_BORROW         0 (n)
               BUILD_TUPLE              2
               LOAD_CONST               2 (<code object inner>)
               MAKE_FUNCTION
               SET_FUNCTION_ATTRIBUTE   8 (closure)
               SET_FUNCTION_ATTRIBUTE   1 (defaults)
               STORE_FAST               1 (inner)
  7            LOAD_FAST_BORROW         1 (inner)
               PUSH_NULL
               LOAD_DEREF               2 (m)
               CALL                     1
               RETURN_VALUE
""",
    slots=("n", "inner", "m"),
    argcount=1,
    consts=(None, (3,), next(c for c in shapes.closure.__code__.co_consts if inspect.iscode(c))),
    cells=("n", "m"),
)

TEXT = record(
    """
  1            RESUME                   0
  2            LOAD_FAST_BORROW         0 (a)
               TO_BOOL
               POP_JUMP_IF_TRUE        10 (to L1)
               NOT_TAKEN
               LOAD_COMMON_CONSTANT     0 (AssertionError)
               LOAD_CONST               0 ('no')
               CALL                     0
               RAISE_VARARGS            1
  3    L1:     LOAD_FAST_BORROW         0 (a)
               CONVERT_VALUE            2 (repr)
               LOAD_CONST               1 ('>')
               LOAD_FAST_BORROW         1 (b)
               FORMAT_SIMPLE
               BUILD_STRING             2
               FORMAT_WITH_SPEC
               LOAD_CONST               2 (' ')
               LOAD_FAST_BORROW         1 (b)
               FORMAT_SIMPLE
               BUILD_STRING             3
               RETURN_VALUE
""",
    slots=("a", "b"),
    consts=("no", ">", " "),
)

ALL_OF = record(
    """
  1            RESUME                   0
  2            LOAD_GLOBAL              0 (all)
               COPY                     1
               LOAD_COMMON_CONSTANT     3 (all)
               IS_OP                    0 (is)
               POP_JUMP_IF_FALSE       20 (to L4)
               NOT_TAKEN
               POP_TOP
               LOAD_FAST_BORROW         0 (xs)
               GET_ITER
       L1:     FOR_ITER                10 (to L2)
               TO_BOOL
               POP_JUMP_IF_TRUE         4 (to L3)
               NOT_TAKEN
               POP_ITER
               LOAD_CONST               1 (False)
               RETURN_VALUE
       L3:     JUMP_BACKWARD           10 (to L1)
       L2:     END_FOR
               POP_ITER
               LOAD_CONST               0 (True)
               RETURN_VALUE
       L4:     PUSH_NULL
               LOAD_FAST_BORROW         0 (xs)
               CALL                     1
               RETURN_VALUE
""",
    slots=("xs",),
    consts=(True, False),
    names=("all",),
)

SAME = {
    "while_and": WHILE_AND,
    "nested_for": NESTED_FOR,
    "elif_chain": ELIF_CHAIN,
    "try_as": TRY_AS,
    "try_finally": TRY_FINALLY,
    "with_as": WITH_AS,
    "calls": CALLS,
    "closure": CLOSURE,
}


def tree(code):
    return function_of(code, table_for((3, 14)))


@pytest.mark.parametrize("name", SAME)
def test_same_tree_as_here(name):
    here = regions(getattr(shapes, name).__code__)
    assert shapes.shape(tree(SAME[name])) == shapes.shape(here)


def call(code, function, *args):
    return run(tree(code), function, *args)


class Log(list):
    """A context manager and callable that records what happens to it."""

    def __enter__(self):
        self.append("enter")
        return self

    def __exit__(self, kind, value, traceback):
        self.append(kind)
        return kind is KeyError

    def go(self, n, k):
        self.append((n, k))
        if self[0] != "enter":
            raise self[0]


def test_with_runs():
    for first in ([], [KeyError()], [ValueError()]):
        one, two = Log(first), Log(first)
        try:
            expected = shapes.with_as(one)
        except ValueError:
            with pytest.raises(ValueError):
                call(WITH_AS, shapes.with_as, two)
        else:
            assert call(WITH_AS, shapes.with_as, two) == expected
        assert one == two


def test_comprehension_runs():
    assert call(LISTCOMP, shapes.listcomp, 6) == shapes.listcomp(6)

    class OnlyIndex:
        def __index__(self):
            return 3

    with pytest.raises(TypeError, match="unsupported operand"):
        call(LISTCOMP, shapes.listcomp, OnlyIndex())
    assert "FOR_NEXT" not in str(tree(LISTCOMP))


def test_slices_run():
    one, two = list(range(9)), list(range(9))

    class Items(list):
        def __getitem__(self, key):
            return key if isinstance(key, tuple) else list.__getitem__(self, key)

    expected = shapes.slices(Items(one), 2)
    assert call(SLICES, shapes.slices, Items(two), 2) == expected


def test_text_runs():
    assert call(TEXT, shapes.text, "q", 7) == shapes.text("q", 7)
    with pytest.raises(AssertionError, match="no"):
        call(TEXT, shapes.text, "", 7)


def test_guarded_builtin_runs():
    assert call(ALL_OF, shapes.text, [1, 2]) is True
    assert call(ALL_OF, shapes.text, [1, 0]) is False


def test_every_instruction_of_the_listings_is_in_the_table():
    table = table_for((3, 14))
    for code in (*SAME.values(), LISTCOMP, SLICES, TEXT, ALL_OF):
        assert all(inst.opname in table for inst in code.insts)
