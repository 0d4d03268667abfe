"""QD2xx: types that do not fit."""

from __future__ import annotations

from quadrants.diagnostics.catalogue.entry import Entry
from quadrants.diagnostics.codes import Code

ENTRIES = (
    Entry(
        Code.TYPE_MISMATCH,
        "a value of another type is needed",
        "The place takes values of one type and the value has another. The text names both.",
        """
@qd.njit
def f(a):
    a[0] = (1, 2)

f(np.ones(3))
""",
        "Convert the value, for example with int(), float() or np.float32().",
    ),
    Entry(
        Code.NO_ATTRIBUTE,
        "an attribute that the type does not have",
        "The value's type has no such attribute or method, or it is not compiled in this version.",
        """
@qd.njit
def f(a):
    return a.spahe

f(np.ones(3))
""",
        "Check the spelling and the type of the value; the docs list the attributes of each type.",
    ),
    Entry(
        Code.NOT_CALLABLE,
        "a call of something that is not a function",
        "The value is called, and is not a function, a class that can be called, or a compiled function.",
        """
@qd.njit
def f(x):
    return x(1)

f(2.0)
""",
        "Check whether a variable has the name of a function that you mean.",
    ),
    Entry(
        Code.BAD_ARGUMENTS,
        "arguments that do not fit the parameters",
        "The call has too few or too many arguments, a keyword that the function does not have, or an argument given twice.",
        """
@qd.njit
def g(a, b):
    return a + b

@qd.njit
def f(x):
    return g(x)

f(1.0)
""",
        "Compare the call with the function's signature.",
    ),
    Entry(
        Code.CANNOT_UNIFY,
        "a variable with types that have no common type",
        "On different paths a variable has types that cannot be merged: a number on one and an array on the other, for example.",
        """
@qd.njit
def f(flag):
    if flag:
        x = 1.0
    else:
        x = (1, 2)
    return x

f(True)
""",
        "Give the paths values of one type, or use two variables.",
    ),
    Entry(
        Code.UNSUPPORTED_TYPE,
        "a type that is not compiled",
        "An argument, a global or a constant has a type that has no compiled form.",
        """
@qd.njit
def f(x):
    return 1

f(object())
""",
        "Pass numbers, NumPy arrays, tuples, named tuples, None or functions.",
    ),
    Entry(
        Code.UNSUPPORTED_CALL,
        "a function that the compiler does not know",
        "The function that is called is neither written in Python nor among the builtins and NumPy functions that are compiled.",
        """
import socket

@qd.njit
def f(x):
    return socket.htons(x)

f(1)
""",
        "Call it outside and pass the result in; or register an implementation with `qd.overload`.",
    ),
    Entry(
        Code.BAD_OPERAND,
        "an operator that the types do not have",
        "The operator is not defined for these operand types. The text names both types.",
        """
@qd.njit
def f(a, b):
    return a + b

f(1.0, (1, 2))
""",
        "Convert one operand, or select the part of it that is meant.",
    ),
    Entry(
        Code.BAD_INDEX,
        "an index of a wrong type or number",
        "Arrays are indexed by integers, slices, None, `...` and arrays of integers or Booleans, at most one for each axis. Too "
        "many of them raise IndexError where the program gets to it, as in NumPy; other types are errors when compiling.",
        """
@qd.njit
def f(a):
    return a[0, 0]

f(np.ones(3))
""",
        "Use as many indices as the array has axes, and convert a float index with int().",
    ),
    Entry(
        Code.NOT_ITERABLE,
        "a loop over something that is not iterable",
        "Ranges, arrays, tuples, enumerate, zip and reversed can be iterated; the value is none of them.",
        """
@qd.njit
def f(n):
    for i in n:
        pass

f(3)
""",
        "For a number, loop over range(n).",
    ),
    Entry(
        Code.BAD_UNPACK,
        "a wrong number of values to unpack",
        "The tuple on the right has another number of values than there are targets on the left. As in Python, this raises "
        "ValueError where the program gets to it; a value whose length nobody knows is an error when compiling.",
        """
@qd.njit
def f(t):
    a, b = t
    return a

f((1, 2, 3))
""",
        "Name as many targets as there are values; `*rest` takes what is left.",
    ),
    Entry(
        Code.READONLY_ARRAY,
        "a store to a read-only array",
        "The array is read-only (`flags.writeable` is False), and the function stores to it. As in NumPy, this raises ValueError "
        "where the program gets to it. Kernels, which raise nothing, refuse it when they are compiled, and so does a function in "
        "which a variable is read-only on some paths only.",
        """
@qd.njit
def f(a):
    a[0] = 1.0

a = np.ones(3)
a.flags.writeable = False
f(a)
""",
        "Pass a copy: f(a.copy()).",
    ),
    Entry(
        Code.BAD_DTYPE,
        "a dtype that is not compiled, or not known",
        "A dtype argument names a type that arrays in compiled code cannot have: their elements are Booleans or numbers.",
        """
@qd.njit
def f(n):
    return np.zeros(n, "U8")

f(3)
""",
        "Use a numeric dtype, such as np.float64.",
    ),
    Entry(
        Code.BAD_SIGNATURE,
        "a signature that cannot be read",
        "The text of a signature is not understood, or it has another number of parameters than the function.",
        """
@qd.njit("float64(flaot64)")
def f(x):
    return x
""",
        'Write the return type and the argument types: "float64(float64[:], int64)".',
    ),
    Entry(
        Code.RECURSION_TYPE,
        "recursion without an end",
        "The type of a recursive function comes from a path that returns without calling the function again; there is none.",
        """
@qd.njit
def f(n):
    return f(n - 1)

f(3)
""",
        "Add the case that ends the recursion.",
    ),
    Entry(
        Code.UNDETERMINED_TYPE,
        "a value whose type nothing fixes",
        "Nothing in the function says what type the value has: an empty container that is never filled, for example.",
        "# an empty container that is never filled",
        "Make the value with its type: np.empty(0, np.float64).",
    ),
    Entry(
        Code.BAD_CONVERSION,
        "a conversion that does not exist",
        "The value cannot be converted to the type that is asked for.",
        """
@qd.njit
def f(z):
    return float(z)

f(1j)
""",
        "Take the part that is meant: z.real or abs(z).",
    ),
    Entry(
        Code.BAD_RETURN,
        "a value that cannot be returned",
        "The function returns a value that has no form outside of compiled code, or is called by compiled code and returns "
        "different kinds on different paths.",
        """
def g(x):
    if x > 0:
        return x
    return (x, x)

@qd.njit
def f(x):
    return g(x)

f(1.0)
""",
        "Return values of one type on every path.",
    ),
    Entry(
        Code.BAD_BROADCAST,
        "shapes that cannot be broadcast",
        "The shapes, or their lengths, do not go together by NumPy's broadcasting rules. As in NumPy, this raises ValueError "
        "where the program gets to it.",
        """
@qd.njit
def f(a):
    a += np.ones((2, 3))
    return a

f(np.ones(3))
""",
        "Insert axes with None, or reshape one of the arrays.",
    ),
    Entry(
        Code.LIST_KINDS,
        "two kinds of lists",
        "A list that was passed in is the live Python object; a list made in compiled code is native. A variable cannot be both.",
        "# a variable that is a list from outside on one path, and a list made inside on another",
        "Copy the list that was passed in before merging the two: list(xs).",
    ),
    Entry(
        Code.BAD_EXCEPTION,
        "not an exception class",
        "raise and except take exception classes, which have to be known when the function is compiled.",
        """
@qd.njit
def f(x):
    raise x

f(1)
""",
        "Raise a class that derives from BaseException: raise ValueError(x).",
    ),
    Entry(
        Code.NOT_SUBSCRIPTABLE,
        "an index into something that has no items",
        "The value is indexed with `[...]`, and its type has no items.",
        """
@qd.njit
def f(x):
    return x[0]

f(1.0)
""",
        "Check the type of the value: a reduction, for example, gives a scalar.",
    ),
    Entry(
        Code.NOT_ASSIGNABLE,
        "an assignment that the type does not allow",
        "Tuples and scalars cannot be changed, and attributes of these types cannot be set.",
        """
@qd.njit
def f(t):
    t[0] = 1
    return t

f((1, 2))
""",
        "Make a new tuple, or use an array.",
    ),
    Entry(
        Code.BAD_OVERLOAD,
        "an overload that does not fit",
        "The implementation given to `qd.overload` takes other parameters than the function that it implements.",
        "# an implementation with other parameters than the function it stands for",
        "Give the implementation the same parameter names, order and defaults.",
    ),
    Entry(
        Code.NONE_OPERAND,
        "None where a value is needed",
        "The operand is None, or may be None, and the operation needs a value.",
        "# arithmetic on a value that may be None",
        "Test first: `if x is not None:`; inside the branch the value has its type.",
    ),
    Entry(
        Code.BAD_CONDITION,
        "a value without a truth value",
        "The value is used as a condition, and its type has no truth value that is known in compiled code.",
        """
@qd.njit
def f(n):
    if range(n):
        return 1
    return 0

f(3)
""",
        "Compare it with something: if n > 0.",
    ),
    Entry(
        Code.TOO_MANY_SIGNATURES,
        "many signatures of one function (a warning)",
        "The function was compiled for more than 16 combinations of argument types. Each takes time and memory; the text names the "
        "argument that differs most.",
        """
@qd.njit
def f(t):
    return len(t)

for n in range(20):
    f((1,) * n)
""",
        "Pass arrays instead of tuples of many lengths, and one dtype instead of many.",
    ),
    Entry(
        Code.ESCAPING_FUNCTION,
        "a function that leaves compiled code",
        "A function made in compiled code can be called and passed on there, but cannot be returned to the interpreter.",
        """
@qd.njit
def f(x):
    def g(y):
        return x + y
    return g

f(1)
""",
        "Return the values and build the function in Python.",
    ),
    Entry(
        Code.BAD_LENGTH,
        "a value without a length",
        "len() takes arrays, tuples and ranges.",
        "# len() of a number",
        "Check the type of the value; a 0-d array has no length either.",
    ),
)
