"""Region trees do what the interpreter does: hand-written functions, on many inputs."""

from __future__ import annotations

import copy

import pytest
from bytecode.executor import Broken, run
from bytecode.programs import PROGRAMS

from quadrants.bytecode import regions


def outcome(call):
    """The result, or the exception's type, arguments and cause."""
    try:
        return "result", call()
    except Broken as broken:
        raise AssertionError(str(broken)) from None
    except Exception as exc:  # noqa: BLE001 - the program may raise anything
        cause = exc.__cause__
        return type(exc), str(exc), type(cause)


def compare(tree, function, a, b):
    expected = outcome(lambda: copy.deepcopy(function(a, b)))
    assert outcome(lambda: run(tree, function, a, b)) == expected, (a, b, str(tree))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    tree = regions(function.__code__)
    for a in range(-1, 7):
        for b in range(-1, 6):
            compare(tree, function, a, b)
