"""QD1xx: constructs of Python that the compiler does not take."""

from __future__ import annotations

from quadrants.diagnostics.catalogue.entry import Entry
from quadrants.diagnostics.codes import Code

ENTRIES = (
    Entry(
        Code.UNSUPPORTED_SYNTAX,
        "a construct that is not compiled",
        "The function uses a construct of Python that has no compiled form and no code of its own. The caret stands under it.",
        "# a template string (Python 3.14)",
        "Move the construct out of the compiled function and pass its result in.",
    ),
    Entry(
        Code.UNSUPPORTED_BYTECODE,
        "an instruction that is not known",
        "The function's bytecode has an instruction that the table of this Python version does not have. It may come from a tool "
        "that writes bytecode, or from a Python release newer than this version of Quadrants.",
        "# bytecode that the compiler of this Python version never makes",
        "Compile a function that the interpreter's own compiler made, or update Quadrants.",
    ),
    Entry(
        Code.UNSUPPORTED_GENERATOR,
        "a generator used as a value",
        "A generator expression is compiled where it is consumed at once, as in `sum(...)`. One that is stored, returned or passed "
        "on would outlive the expression that made it.",
        """
@qd.njit
def f(n):
    return (i * i for i in range(n))

f(3)
""",
        "Consume the generator where it is written, or fill an array with a loop.",
    ),
    Entry(
        Code.UNSUPPORTED_ASYNC,
        "async code",
        "`async def`, `await`, `async for` and `async with` need an event loop, which compiled code does not have.",
        """
@qd.njit
async def f(x):
    return x

f(1)
""",
        "Compile the computation as a plain function and call it from the async one.",
    ),
    Entry(
        Code.UNSUPPORTED_CLASS,
        "a class defined in a compiled function",
        "A class statement makes a new type each time it runs; the compiler needs all types before the program runs.",
        """
@qd.njit
def f(x):
    class P:
        pass
    return x

f(1)
""",
        "Define the class at module level.",
    ),
    Entry(
        Code.UNSUPPORTED_IMPORT,
        "an import that cannot be resolved",
        "An import in a compiled function is resolved when the function is compiled; this one cannot be: the module is not found, "
        "or everything is imported with `*`.",
        """
@qd.njit
def f(x):
    import no_such_module
    return no_such_module.g(x)

f(1.0)
""",
        "Import at module level.",
    ),
    Entry(
        Code.UNSUPPORTED_WITH,
        "a with statement",
        "A context manager runs Python code when it is entered and left, which compiled code cannot do for managers in general. "
        "The one that compiles is `qd.fp(mode)`, the floating-point mode of a block.",
        """
@qd.njit
def f(x):
    with x:
        return 1

f(1)
""",
        "Put the with statement around the call of the compiled function.",
    ),
    Entry(
        Code.UNSUPPORTED_YIELD,
        "a generator function",
        "A function with `yield` gives a generator, which keeps its state between calls. Compiled generators are not part of this "
        "version.",
        """
@qd.njit
def f(n):
    for i in range(n):
        yield i

f(3)
""",
        "Fill an array and return it, or write the consumer's loop in the same function.",
    ),
    Entry(
        Code.UNSUPPORTED_MATCH,
        "a pattern that is not compiled",
        "The match statement uses a pattern (a mapping or a class pattern) that has no compiled form.",
        """
@qd.njit
def f(x):
    match x:
        case {"a": 1}:
            return 1
    return 0

f(1)
""",
        "Write the cases as if and elif.",
    ),
    Entry(
        Code.UNSUPPORTED_SET,
        "a set",
        "Sets are not compiled in this version.",
        """
@qd.njit
def f(a, b):
    return len({a, b})

f(1, 2)
""",
        "Use an array of flags, np.unique, or a sorted array and np.searchsorted.",
    ),
    Entry(
        Code.UNSUPPORTED_DICT,
        "a dict",
        "Compiled code has dicts whose keys are constants, and only reads them. It does not look up keys that are computed, add or "
        "replace items.",
        """
@qd.njit
def f(k):
    d = {1: 2.0, 2: 3.0}
    return d[k]

f(1)
""",
        "Use arrays indexed by number, or a tuple or named tuple where the keys are known.",
    ),
    Entry(
        Code.UNSUPPORTED_LIST,
        "a use of a list that is not compiled",
        "A list that changes, or whose length is only known at run time, has items of one type: numbers, lists, or tuples of "
        "these.",
        """
@qd.njit
def f(n):
    rows = []
    for i in range(n):
        rows.append(np.zeros(i))
    return len(rows)

f(3)
""",
        "Use one array with a row for each, or one list a column.",
    ),
    Entry(
        Code.UNSUPPORTED_DELETE,
        "a del statement",
        "Deleting a local name or an item of a list is fine; deleting attributes and globals is not compiled. Items of "
        "arrays cannot be deleted: as in NumPy, that raises ValueError.",
        """
@qd.njit
def f(a):
    del a[0]
    return a

f(np.ones(3))
""",
        "Use np.delete, which gives a new array, or a mask: a[keep].",
    ),
    Entry(
        Code.UNSUPPORTED_FORMAT,
        "a format that is not known when the function is compiled",
        "An f-string is compiled with its format specifications as constants; here a specification is computed.",
        """
@qd.njit
def f(x, n):
    raise ValueError(f"{x:.{n}f}")

f(1.5, 2)
""",
        "Write the specification out, or return the numbers and format them in Python.",
    ),
    Entry(
        Code.UNSUPPORTED_GLOBAL_STORE,
        "assignment to a global",
        "Compiled code reads globals but does not assign to them.",
        """
count = 0

@qd.njit
def f():
    global count
    count = count + 1

f()
""",
        "Return the new value, or keep the state in an array.",
    ),
    Entry(
        Code.UNSUPPORTED_NONLOCAL,
        "assignment to a variable of an enclosing function",
        "The inner functions of a compiled function may assign its variables. A variable of an enclosing function that the "
        "interpreter runs is only read: compiled code does not change the interpreter's variables. What inner functions assign "
        "are numbers, tuples and other values of fixed size; an array or a list is changed in place, which needs no `nonlocal`. "
        "Kernels (`qd.kernel`) have no variables that inner functions assign.",
        """
def make():
    n = 0

    @qd.njit
    def f():
        nonlocal n
        n = n + 1
        return n

    return f

make()()
""",
        "Return the new value, or keep the state in an array.",
    ),
    Entry(
        Code.UNSUPPORTED_KWARGS,
        "a **kwargs parameter",
        "A parameter `**kwargs` takes any keywords. Among compiled functions these are known where the call is compiled; a "
        "function that Python calls has a fixed set of parameters. What follows `**` in a call has to be such a parameter, or a "
        "dict whose keys are written out.",
        """
@qd.njit
def f(**options):
    return 1

f(a=1)
""",
        "Name the parameters, with defaults where they are optional.",
    ),
    Entry(
        Code.UNSUPPORTED_EXCEPT,
        "an except clause that is not compiled",
        "`except*` and except clauses whose classes are not known when the function is compiled have no compiled form.",
        """
@qd.njit
def f(x, kind):
    try:
        return 1 // x
    except kind:
        return 0

f(0, 1)
""",
        "Name the exception classes directly: `except (ValueError, IndexError) as e`.",
    ),
    Entry(
        Code.UNSUPPORTED_COMPREHENSION,
        "a comprehension that is not compiled",
        "The items of a comprehension whose length is only known at run time are numbers, lists, or tuples of these.",
        """
@qd.njit
def f(n):
    return [np.ones(i) for i in range(n)]

f(3)
""",
        "Fill an array with a loop.",
    ),
    Entry(
        Code.UNDEFINED_NAME,
        "a name that is not defined",
        "The name is no local variable, and neither the module nor the builtins define it at the time of compiling.",
        """
@qd.njit
def f(x):
    return x + offset

f(1.0)
""",
        "Define the name at module level before the first call, or correct its spelling.",
    ),
    Entry(
        Code.NO_BYTECODE,
        "not a Python function",
        "Only functions written in Python can be compiled: they have bytecode. Builtins, C functions and classes have none.",
        """
qd.njit(len)
""",
        "Wrap the call in a def or a lambda.",
    ),
    Entry(
        Code.UNSUPPORTED_STAR,
        "unpacking something of unknown length",
        "`*args` in a call or a display needs a tuple, whose length is part of its type. An array's length is not.",
        "# unpacking an array into the arguments of a call",
        "Pass the array itself.",
    ),
    Entry(
        Code.UNSUPPORTED_LAMBDA,
        "a function object that is not compiled",
        "A function made in compiled code is used in a way that needs a function object of the interpreter, for example its "
        "attributes.",
        "# setting an attribute of a function made in compiled code",
        "Define the function at module level.",
    ),
    Entry(
        Code.UNSUPPORTED_RAISE,
        "a raise statement that is not compiled",
        "The argument of the exception is an array, which belongs to the function that is being left.",
        """
@qd.njit
def f(a):
    raise ValueError(a)

f(np.ones(3))
""",
        "Give the exception numbers or text.",
    ),
    Entry(
        Code.PARALLEL_EXIT,
        "a jump out of a parallel loop",
        "The turns of a loop over qd.prange() run at the same time: there is no first one that could end it for the others.",
        """
@qd.njit(parallel=True)
def f(x, y):
    for i in qd.prange(len(x)):
        if x[i] == y:
            return i
    return -1

f(np.ones(10), 2.0)
""",
        "Write range() instead, or let every turn run and keep a minimum: best = min(best, i).",
    ),
)
