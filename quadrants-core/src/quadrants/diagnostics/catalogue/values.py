"""QD3xx: values and constants."""

from __future__ import annotations

from quadrants.diagnostics.catalogue.entry import Entry
from quadrants.diagnostics.codes import Code

ENTRIES = (
    Entry(
        Code.NOT_CONSTANT,
        "a value that has to be known at compile time",
        "The place decides a type (a dtype, the number of dimensions, the bounds of a slice of a tuple), so its value has to be "
        "a constant of the program.",
        """
@qd.njit
def f(point, n):
    return point[:n]

f((1.0, 2.0, 3.0), 2)
""",
        "Write the value as a literal, or make it a global constant.",
    ),
    Entry(
        Code.BAD_VALUE,
        "a constant that is not allowed here",
        "The value is known when the function is compiled, and the operation does not take it. What Python raises for a value, "
        "compiled code raises where it gets to it.",
        """
@qd.njit
def f():
    return 1.0 + float(10**400)

f()
""",
        "Choose a value that the text allows.",
    ),
    Entry(
        Code.CONSTANT_OVERFLOW,
        "a constant that does not fit its type",
        "Integers in compiled code have 64 bits; this constant needs more, or does not fit the NumPy type that it meets.",
        """
@qd.njit
def f(x):
    return x + 2**70

f(1)
""",
        "Use a float (2.0**70), or a wider type.",
    ),
    Entry(
        Code.BAD_AXIS,
        "an axis that the array does not have",
        "The axis is out of range for the number of dimensions, or is given twice. As in NumPy, this raises where the program gets "
        "to it.",
        """
@qd.njit
def f(a):
    return np.transpose(a, (0, 0))

f(np.ones((2, 2)))
""",
        "Axes count from 0 to ndim - 1; negative ones count from the end.",
    ),
    Entry(
        Code.BAD_SHAPE,
        "a shape that cannot be used",
        "A shape is an integer or a tuple of integers whose length is known when the function is compiled; reshape takes one -1. "
        "What does not fit raises where the program gets to it, as in NumPy.",
        """
@qd.njit
def f(a):
    return a.reshape(-1, -1)

f(np.ones(4))
""",
        "Write the shape as a tuple of integers.",
    ),
    Entry(
        Code.BAD_OPTION,
        "an option that does not exist",
        "The decorator does not have this option, or the option does not take this value.",
        """
@qd.njit(fastmaths=True)
def f(x):
    return x
""",
        "The text lists the options and their values.",
    ),
    Entry(
        Code.CONSTANT_INDEX,
        "a tuple of different types needs a constant index",
        "The items of the tuple have different types, so the type of the result depends on the index.",
        """
@qd.njit
def f(i):
    t = (1, (2, 3))
    return t[i]

f(0)
""",
        "Index it with a literal, or walk it with a for loop, which is unrolled.",
    ),
    Entry(
        Code.UNSUPPORTED_CONSTANT,
        "a global that cannot be a constant",
        "The function reads a global or a variable of an enclosing function whose value has no compiled form.",
        """
table = {"a": 1}

@qd.njit
def f(x):
    return x + table["a"]

f(1)
""",
        "Keep numbers, tuples or NumPy arrays in globals that compiled functions read.",
    ),
    Entry(
        Code.BAD_FORMAT_SPEC,
        "a format specification that is not valid",
        "The part after the colon in an f-string does not fit the type of the value.",
        """
@qd.njit
def f(x):
    return f"{x:.2q}"

f(1.5)
""",
        "See Python's format specification language.",
    ),
    Entry(
        Code.TOO_LARGE,
        "a program that gets too large",
        "Unrolling a loop over a tuple, or a chain of inlined calls, would make more code than the limit allows.",
        "# a tuple of tens of thousands of items, iterated in compiled code",
        "Use an array instead of a long tuple.",
    ),
    Entry(
        Code.NO_FIXPOINT,
        "types that never settle",
        "The types of the variables of a loop change with each round, so that there is no type for them.",
        "# variables of a loop whose types change in every round",
        "Use an array for what grows.",
    ),
    Entry(
        Code.BAD_IR,
        "code that does not hold together",
        "The intermediate representation of the program breaks one of its own rules: a bug of Quadrants.",
        "# an operation on types that it does not have, in the text of a module",
        "Report the program that shows it.",
    ),
    Entry(
        Code.CARRIED_DEPENDENCE,
        "a parallel loop whose turns depend on each other",
        "The turns of a loop over qd.prange() run at the same time, in no order. Here a turn needs what an earlier one computed, "
        "so the result would depend on chance. Sums, products, minima and maxima are no such dependence: they are recognised.",
        """
@qd.njit(parallel=True)
def f(x):
    for i in qd.prange(1, len(x)):
        x[i] = x[i - 1] + 1.0

f(np.ones(10))
""",
        "Write range() instead: the loop then runs in order. Or read from another array than the one that the loop stores to.",
    ),
)
