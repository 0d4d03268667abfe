"""Code that no compiler makes: an error or a correct tree, never a crash or an endless loop."""

from __future__ import annotations

import random
import re
import sys
from dataclasses import replace
from functools import partial

import pytest
from bytecode.executor import Broken, run, run_blocks
from bytecode.programs import PROGRAMS
from bytecode.recorded import record

from quadrants.bytecode import BytecodeError, regions
from quadrants.bytecode.blocks import build
from quadrants.bytecode.decode import function_of, table_for
from quadrants.bytecode.graph import make
from quadrants.bytecode.raw import Handler, RawInst, read


def tree(text, **kwargs):
    return function_of(record(text, **kwargs), table_for((3, 14)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FLY_AWAY", "unknown instruction FLY_AWAY"),
        ("LOAD_SMALL_INT 1", "falls off the end"),
        ("RETURN_VALUE", "does not hold"),
        ("LOAD_FAST 7\nRETURN_VALUE", "operand 7 of LOAD_FAST is out of range"),
        ("LOAD_CONST 0\nRETURN_VALUE", "out of range"),
        ("LOAD_FAST 0\nSWAP 2\nRETURN_VALUE", "stack slot 2 of 1"),
        ("LOAD_FAST 0\nBINARY_OP 0\nRETURN_VALUE", "takes 2 values"),
        ("LOAD_FAST 0\nLOAD_FAST 0\nBINARY_OP 99\nRETURN_VALUE", "unknown binary operator"),
        ("LOAD_FAST 0\nPOP_EXCEPT\nRETURN_VALUE", "does not hold"),
        ("LOAD_FAST 0\nCALL 0\nRETURN_VALUE", "stack slot"),
        ("PUSH_NULL\nPUSH_NULL\nCALL 0\nRETURN_VALUE", "does not hold a callable"),
        ("LOAD_FAST 0\nJUMP_FORWARD 50", "between instructions"),
        ("LOAD_FAST 0\nRAISE_VARARGS 3", "at most two"),
        ("LOAD_FAST 0\nPUSH_NULL\nRETURN_VALUE", "does not hold"),
        ("LOAD_FAST 0\nSET_FUNCTION_ATTRIBUTE 8\nRETURN_VALUE", "not just made"),
        ("L1: LOAD_FAST 0\nJUMP_BACKWARD (to L1)", "different stacks"),
        ("LOAD_FAST 0\nPOP_JUMP_IF_TRUE (to L1)\nLOAD_FAST 0\nL1: LOAD_FAST 0\nRETURN_VALUE", "different stacks"),
        ("L1: LOAD_FAST 0\nL2: RETURN_VALUE\nExceptionTable:\nL1 to L2 -> L2 [3]", "more on the stack"),
    ],
)
def test_message(text, message):
    with pytest.raises(BytecodeError, match=message):
        tree(text, slots=("x",))


def test_error_has_a_place():
    with pytest.raises(BytecodeError) as error:
        tree("  7  LOAD_FAST 0\nPOP_EXCEPT\nRETURN_VALUE", slots=("x",))
    assert (error.value.lineno, error.value.offset) == (7, 2)
    assert "line 7" in str(error.value)


def test_unsupported_version():
    with pytest.raises(BytecodeError, match="Python 3.9 is not supported"):
        table_for((3, 9))


def test_endless_empty_loop():
    assert "loop" in str(tree("L1: NOP\nJUMP_BACKWARD (to L1)", slots=()))


# Two entries into the cycle of L1 and L2.
IRREDUCIBLE = """
       LOAD_FAST 0 (n)
       LOAD_SMALL_INT 3
       COMPARE_OP 18 (<)
       POP_JUMP_IF_TRUE (to L2)
   L1: LOAD_FAST 1 (log)
       LOAD_ATTR 1 (append)
       LOAD_SMALL_INT 1
       CALL 1
       POP_TOP
   L2: LOAD_FAST 1 (log)
       LOAD_ATTR 1 (append)
       LOAD_FAST 0 (n)
       CALL 1
       POP_TOP
       LOAD_FAST 0 (n)
       LOAD_SMALL_INT 1
       BINARY_OP 10 (-)
       STORE_FAST 0 (n)
       LOAD_FAST 0 (n)
       LOAD_SMALL_INT 0
       COMPARE_OP 148 (>)
       POP_JUMP_IF_FALSE (to L3)
       JUMP_BACKWARD (to L1)
   L3: LOAD_FAST 1 (log)
       RETURN_VALUE
"""


def irreducible(n):
    log = []
    first = n < 3
    while True:
        if not first:
            log.append(1)
        first = False
        log.append(n)
        n -= 1
        if not n > 0:
            return log


def test_irreducible_flow_is_split():
    code = record(IRREDUCIBLE, slots=("n", "log"), names=("append",))
    table = table_for((3, 14))
    assert make(build(code, table)).splits > 0
    function = function_of(code, table)
    for n in range(6):
        assert run(function, irreducible, n, []) == irreducible(n)


def test_two_irreducible_cycles_nested():
    # Every block can jump into the middle of every other: the copies must end.
    text = ["LOAD_FAST 0", "POP_JUMP_IF_TRUE (to L1)"]
    for i in range(5):
        text += [f"L{i}: LOAD_FAST 0", f"POP_JUMP_IF_TRUE (to L{(i * 2 + 1) % 5})", "LOAD_FAST 0"]
        text += [f"POP_JUMP_IF_FALSE (to L{(i * 3 + 2) % 5})"]
    text += ["LOAD_FAST 0", "RETURN_VALUE"]
    code = record("\n".join(text), slots=("n",))
    rows = [r for r in code.insts if r.opname.startswith("POP_JUMP")]
    assert len(rows) == 11
    try:
        function_of(code, table_for((3, 14)))
    except BytecodeError as error:
        assert "too many jumps" in str(error) or "between" in str(error)


COVERS_ITSELF = """
   L1: LOAD_FAST 0 (x)
       RETURN_VALUE
   L2: PUSH_EXC_INFO
       POP_TOP
       POP_EXCEPT
   L3: LOAD_FAST 0 (x)
       RETURN_VALUE
   L4: NOP
ExceptionTable:
   L1 to L2 -> L2 [0]
   L2 to L4 -> L2 [0]
"""


def test_handler_that_covers_itself():
    assert "try" in str(tree(COVERS_ITSELF, slots=("x",)))


def test_very_long_chains():
    """Neither a long elif chain nor many statements in a row recurse deeply, here or in whoever walks the tree."""
    chain = "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(700))
    loops = "    for i in range(x):\n        y += i\n" * 300
    tests = " or ".join(f"(x > {i} and y < {i})" for i in range(300))
    source = f"def f(x):\n    y = 0\n    if x < 0:\n        y = -1\n{chain}{loops}    if {tests}:\n        y += 1\n    return y\n"
    values: dict = {}
    exec(compile(source, "<long>", "exec"), values)  # the test's own program
    limit = sys.getrecursionlimit()
    function = regions(values["f"].__code__)
    for x in (-1, 0, 3, 7):
        assert run(function, values["f"], x) == values["f"](x)
    assert len(str(function)) > 10_000 and sys.getrecursionlimit() == limit


def changed(inst: RawInst, opname: str, arg: int) -> RawInst:
    return RawInst(opname, arg, inst.loc, inst.start, inst.next)


def mutate(code, rng: random.Random):
    """Random changes of real instructions. (Of raw ones: the interpreter itself does not survive code objects like that.)"""
    names = sorted(table_for())
    insts = list(code.insts)
    for _ in range(rng.randint(1, 4)):
        i, j = rng.randrange(len(insts)), rng.randrange(len(insts))
        kind = rng.random()
        if kind < 0.4:
            insts[i] = changed(insts[i], rng.choice(names), insts[i].arg)
        elif kind < 0.8:
            insts[i] = changed(insts[i], insts[i].opname, rng.randrange(0, 40))
        else:
            one, two = insts[i], insts[j]
            insts[i] = changed(one, two.opname, two.arg)
            insts[j] = changed(two, one.opname, one.arg)
    handlers = list(code.handlers)
    if rng.random() < 0.5:
        start, end, target = sorted(rng.choice(insts).start for _ in range(3))
        if rng.random() < 0.5:
            start, end, target = end, target, start
        handlers.append(Handler(start, end, target, rng.randrange(3), rng.random() < 0.5))
    return replace(code, insts=tuple(insts), handlers=tuple(handlers))


def outcome(call):
    """What a call gives, as text; None if it does not end."""
    try:
        return "result " + repr(call())
    except Broken as broken:
        if "does not end" in str(broken):
            return None
        raise AssertionError(str(broken)) from None
    except Exception as exc:  # noqa: BLE001 - the changed program may raise anything
        return f"{type(exc).__name__}: {exc}"


ADDRESS = re.compile(r"0x[0-9a-f]+")


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_mutated_code(function):
    """What is accepted does on the tree what it does on its basic blocks, however odd the flow is."""
    rng = random.Random(function.__name__)
    code = read(function.__code__)
    refused = 0
    for _ in range(60):
        changed = mutate(code, rng)
        try:
            tree = function_of(changed, table_for(), function.__code__)
        except BytecodeError:
            refused += 1
            continue
        assert str(tree)
        for a, b in ((0, 1), (3, 2)):
            expected = outcome(partial(run_blocks, build(changed, table_for()), tree, function, a, b))
            actual = outcome(partial(run, tree, function, a, b, strict=False))
            if expected is not None and actual is not None:
                assert ADDRESS.sub("", actual) == ADDRESS.sub("", expected), str(tree)
    assert refused


def test_broken_is_not_an_exception():
    assert not issubclass(Broken, Exception)
