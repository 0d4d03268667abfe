"""Region trees do what the interpreter does: generated programs with nested control flow."""

from __future__ import annotations

import textwrap
from functools import partial

import pytest
from bytecode.executor import Broken, run
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrants.bytecode import regions

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")

NAMES = ("a", "b", "c", "d")
LIMIT = 300


class TooLong(BaseException):
    """The generated program runs for too long."""


class Clock:
    """Counts events; programs tick in every loop, so that none runs for ever."""

    def __init__(self) -> None:
        self.left = LIMIT
        self.log: list = []

    def tick(self, value):
        self.left -= 1
        self.log.append(value)
        if self.left < 0:
            raise TooLong
        return value

    def __enter__(self):
        return self.tick(1)

    def __exit__(self, kind, value, traceback):
        self.tick(kind)
        return kind is KeyError


expressions = st.recursive(
    st.sampled_from([*NAMES, "0", "1", "2", "-1", "None"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(inner, st.sampled_from(["<", "==", "and", "or"]), inner).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(inner, inner).map("({0[0]} < {0[1]} < 3)".format),
        inner.map("(not {})".format),
        inner.map("({} is None)".format),
        inner.map("t({})".format),
        st.tuples(st.sampled_from(NAMES), inner).map("[{0[1]} for {0[0]} in range(2) if {0[0]}]".format),
    ),
    max_leaves=5,
)


def indent(lines: list[str]) -> str:
    return textwrap.indent("\n".join(lines), "    ")


@st.composite
def block(draw, depth: int, loop: bool) -> list[str]:
    """The lines of a few statements."""
    count = draw(st.integers(1, 3))
    return [line for _ in range(count) for line in draw(statement(depth, loop))]


def compound(kind: str, draw, depth: int, loop: bool) -> list[str]:
    def body(inside: bool = loop) -> str:
        return indent(draw(block(depth - 1, inside)))

    e = lambda: draw(expressions)
    lines: list[str]
    match kind:
        case "if":
            lines = [f"if {e()}:", body()]
            for _ in range(draw(st.integers(0, 2))):
                lines += [f"elif {e()}:", body()]
        case "while":
            lines = [f"while t({e()}):" if draw(st.booleans()) else f"while {e()} and t(1):", body(True)]
        case "while_true":
            lines = ["while True:", "    t(0)", body(True)]
        case "for":
            lines = [f"for {draw(st.sampled_from(NAMES))} in range({draw(st.integers(0, 3))}):", body(True)]
        case "with":
            lines = [f"with m as {draw(st.sampled_from(NAMES))}:", body()]
        case _:
            lines = ["try:", body()]
            for _ in range(draw(st.integers(0 if kind == "finally" else 1, 2))):
                name = draw(st.sampled_from(["ZeroDivisionError", "KeyError", "(TypeError, NameError)"]))
                lines += [f"except {name}{draw(st.sampled_from(['', ' as d']))}:", body()]
            if len(lines) > 2 and draw(st.booleans()):
                lines += ["else:", body()]
            if kind == "finally":
                lines += ["finally:", body()]
    if kind in ("if", "while", "for") and draw(st.booleans()):
        lines += ["else:", body()]
    return lines


@st.composite
def statement(draw, depth: int, loop: bool) -> list[str]:
    e = lambda: draw(expressions)
    simple = ["assign", "assign", "augment", "return", "raise", "tick", "delete", "assert"]
    if loop:
        simple += ["break", "continue"]
    kinds = simple if depth == 0 else ["if", "while", "for", "try", "finally", "with", "while_true"] * 2 + simple
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "assign":
            return [f"{draw(st.sampled_from(NAMES))} = {e()}"]
        case "augment":
            return [f"{draw(st.sampled_from(NAMES))} += {e()}"]
        case "tick":
            return [f"t({e()})"]
        case "return":
            return [f"return {e()}"]
        case "raise":
            return [
                draw(
                    st.sampled_from(["raise KeyError(a)", "raise ZeroDivisionError", "raise", "raise KeyError from c"])
                )
            ]
        case "delete":
            return [f"del {draw(st.sampled_from(NAMES))}"]
        case "assert":
            return [f"assert {e()}"]
        case "break" | "continue":
            return [kind]
    return compound(kind, draw, depth, loop)


def outcome(clock: Clock, call) -> tuple:
    try:
        result = ("result", repr(call()))
    except TooLong:
        result = ("too long",)
    except Broken as broken:
        raise AssertionError(str(broken)) from None
    except Exception as exc:  # noqa: BLE001 - the program may raise anything
        result = (type(exc), str(exc), type(exc.__cause__))
    return *result, repr(clock.log)


def compare(source: str) -> None:
    values: dict = {}
    exec(compile(source, "<generated>", "exec"), values)  # the test's own generated program
    function = values["f"]
    tree = regions(function.__code__)
    for a in (0, 1, 2):
        for b in (-1, 2):
            one, two = Clock(), Clock()
            expected = outcome(one, partial(function, one.tick, one, a, b))
            actual = outcome(two, partial(run, tree, function, two.tick, two, a, b))
            assert actual == expected, f"f({a}, {b})\n{source}\n{tree}"


@given(st.lists(block(3, False), min_size=1, max_size=2))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_generated_program(blocks):
    lines = [line for lines in blocks for line in lines]
    compare("def f(t, m, a, b):\n    c = 1\n" + indent(lines))


@pytest.mark.slow
@given(st.lists(block(4, False), min_size=1, max_size=3))
@settings(max_examples=300, deadline=None)
def test_generated_program_long(blocks):
    lines = [line for lines in blocks for line in lines]
    compare("def f(t, m, a, b):\n    c = 1\n" + indent(lines))
