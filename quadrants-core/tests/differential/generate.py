"""Random typed programs: the source of a function `f` and of its helpers, and arguments for it.

Every local has a kind that it keeps (`int`, `float`, `bool`, `complex`, a NumPy scalar, an array, a tuple), so that a program
has types that compiled code can know; what is random is everything else: control flow, expressions, indices that may be out of
range, shapes that may not fit, exceptions that are caught or not. Python ints stay small, because compiled ones have 64 bits.

`Choices` decides; hypothesis behind it shrinks a failing program, `random` makes many of them fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

T = TypeVar("T")


class Choices(Protocol):
    """The source of all decisions."""

    def below(self, n: int) -> int:
        """A number in [0, n)."""


@dataclass(frozen=True)
class Kind:
    """What a local is: a Python number ("int", "float", "bool", "complex"), "np" of a dtype, "array", or "pair"."""

    name: str
    dtype: str = ""
    ndim: int = 0

    @property
    def is_float(self) -> bool:
        return self.name == "float" or self.dtype.startswith("float")

    @property
    def is_complex(self) -> bool:
        return self.name == "complex" or self.dtype.startswith("complex")


INT, FLOAT, BOOL, COMPLEX, PAIR = (Kind(name) for name in ("int", "float", "bool", "complex", "pair"))
INT_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOAT_DTYPES = ("float32", "float64")
DTYPES = (*INT_DTYPES, *FLOAT_DTYPES, "bool", "complex128")
ERRORS = ("ValueError", "KeyError", "ZeroDivisionError", "IndexError", "ArithmeticError", "LookupError", "Exception")


@dataclass(frozen=True)
class Program:
    """A function's source and the arguments of a call of it.

    Args:
        source: defines `f`.
        args: of the call.
        exact: whether no operation rounds, so that contraction changes nothing.
    """

    source: str
    args: tuple[object, ...]
    exact: bool


@dataclass
class Scope:
    """The locals of the function being written, by kind; the loops around; what may be called."""

    locals: dict[str, Kind] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)
    loops: int = 0
    functions: list[tuple[str, tuple[Kind, ...], Kind]] = field(default_factory=list)


class Writer:
    """Writes one program.

    Args:
        choices: decides.
        exact: whether to leave out operations that round.
        size: about how many statements.
    """

    def __init__(self, choices: Choices, exact: bool, size: int) -> None:
        self.choices = choices
        self.exact = exact
        self.left = size
        self.scope = Scope()
        self.count = 0

    # decisions

    def pick(self, options: Sequence[T]) -> T:
        return options[self.choices.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.choices.below(100) >= 100 - percent

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def names(self, kind: Kind, writable: bool = False) -> list[str]:
        scope = self.scope
        return [n for n, k in scope.locals.items() if k == kind and not (writable and n in scope.frozen)]

    def arrays(self, ndim: int | None = None) -> list[str]:
        return [n for n, k in self.scope.locals.items() if k.name == "array" and (ndim is None or k.ndim == ndim)]

    # expressions

    def expression(self, kind: Kind, depth: int = 2) -> str:
        """An expression of the kind."""
        known = self.names(kind)
        if kind.name == "array":
            return self.array(kind, depth)
        if depth <= 0 or self.chance(25):
            return self.pick(known) if known and self.chance(70) else self.literal(kind)
        if self.chance(8) and self.calls(kind):
            return self.call(self.pick(self.calls(kind)), depth - 1)
        if self.chance(8):
            return f"({self.expression(kind, depth - 1)} if {self.condition(depth - 1)} else {self.expression(kind, depth - 1)})"
        return _EXPRESSIONS[kind.name](self, kind, depth - 1)

    def literal(self, kind: Kind) -> str:
        if kind == PAIR:
            return f"({self.choices.below(9) - 2}, {self.literal(FLOAT)})"
        if kind == BOOL:
            return self.pick(("True", "False"))
        if kind == INT:
            return str(self.choices.below(23) - 6)
        if kind == FLOAT:
            return str((self.choices.below(41) - 16) / 4)
        if kind == COMPLEX:
            return f"complex({self.literal(FLOAT)}, {self.literal(FLOAT)})"
        return f"np.{kind.dtype}{'_' if kind.dtype == 'bool' else ''}({self.number_for(kind.dtype)})"

    def number_for(self, dtype: str) -> str:
        if dtype.startswith("float"):
            return self.literal(FLOAT)
        if dtype.startswith("complex"):
            return self.literal(COMPLEX)
        if dtype == "bool":
            return self.pick(("True", "False"))
        low = -6 if dtype.startswith("int") else 0
        return str(self.pick((low + self.choices.below(17), self.choices.below(100), 127)))

    def calls(self, kind: Kind) -> list[tuple[str, tuple[Kind, ...], Kind]]:
        return [function for function in self.scope.functions if function[2] == kind]

    def call(self, function: tuple[str, tuple[Kind, ...], Kind], depth: int) -> str:
        name, parameters, _ = function
        args = [self.expression(kind, depth) for kind in parameters]
        if len(args) > 1 and self.chance(30):
            return f"{name}({args[0]})"  # the others have defaults
        if len(args) > 1 and self.chance(30):
            return f"{name}({args[0]}, {', '.join(f'p{i}={arg}' for i, arg in enumerate(args) if i)})"
        return f"{name}({', '.join(args)})"

    def int_(self, kind: Kind, depth: int) -> str:
        def e() -> str:
            return self.expression(INT, depth)

        forms: list[Callable[[], str]] = [
            lambda: f"({e()} {self.pick('+-&|^')} {e()})",
            lambda: f"({e()} {self.pick('+-')} {e()})",
            lambda: f"({e()} * {self.choices.below(9) - 3})",
            lambda: f"({e()} {self.pick(('//', '%'))} {e()})",
            lambda: f"({e()} << {self.choices.below(5)})",
            lambda: f"({e()} >> {self.choices.below(70)})",
            lambda: f"{self.pick(('-', '~', 'abs', '+'))}({e()})",
            lambda: f"{self.pick(('min', 'max'))}({e()}, {e()})",
            lambda: f"int({self.expression(BOOL, depth)})",
            lambda: f"({e()}) ** {self.choices.below(3)} % 101",
            lambda: f"{self.expression(PAIR, depth)}[0]",
            lambda: f"divmod({e()}, {e()})[{self.choices.below(2)}]",
        ]
        if self.arrays():
            forms.append(lambda: f"len({self.pick(self.arrays())})")
            forms.append(lambda: f"{self.pick(self.arrays())}.shape[-1]")
        return self.pick(forms)()

    def float_(self, kind: Kind, depth: int) -> str:
        def e() -> str:
            return self.expression(FLOAT, depth)

        forms: list[Callable[[], str]] = [
            lambda: f"({e()} {self.pick('+-*')} {e()})",
            lambda: f"({e()} {self.pick('+-*')} {self.expression(INT, depth)})",
            lambda: f"{self.pick(('-', 'abs', '+', 'float'))}({e()})",
            lambda: f"{self.pick(('min', 'max'))}({e()}, {e()})",
            lambda: f"float({self.expression(INT, depth)})",
            lambda: f"{self.expression(PAIR, depth)}[1]",
        ]
        if not self.exact:
            forms += [
                lambda: f"({e()} {self.pick(('/', '//', '%'))} {e()})",
                lambda: f"({self.expression(INT, depth)} / {self.expression(INT, depth)})",
                lambda: f"math.{self.pick(('sqrt', 'floor', 'fabs'))}({e()}) * 1.0",
                lambda: f"round({e()}, {self.choices.below(3)})",
            ]
        return self.pick(forms)()

    def bool_(self, kind: Kind, depth: int) -> str:
        return self.condition(depth)

    def condition(self, depth: int) -> str:
        """A Python bool."""

        def number() -> str:
            return self.expression(self.pick((INT, FLOAT)), depth - 1)

        forms: list[Callable[[], str]] = [
            lambda: f"({number()} {self.pick(('<', '<=', '==', '!=', '>', '>='))} {number()})",
            lambda: f"({number()} < {number()} <= {number()})",
            lambda: f"(not {self.expression(BOOL, depth - 1)})",
            lambda: (
                f"({self.expression(BOOL, depth - 1)} {self.pick(('and', 'or'))} {self.expression(BOOL, depth - 1)})"
            ),
            lambda: f"({self.expression(INT, depth - 1)} in ({self.literal(INT)}, {self.literal(INT)}, 3))",
            lambda: f"bool({number()})",
        ]
        return self.pick(forms)() if depth > 0 else self.pick(self.names(BOOL) or ["True"])

    def complex_(self, kind: Kind, depth: int) -> str:
        e = self.expression
        return self.pick(
            (
                lambda: f"({e(COMPLEX, depth)} {self.pick('+-*')} {e(COMPLEX, depth)})",
                lambda: f"({e(COMPLEX, depth)} {self.pick('+-*')} {e(FLOAT, depth)})",
                lambda: f"complex({e(FLOAT, depth)}, {e(FLOAT, depth)})",
                lambda: f"(-{e(COMPLEX, depth)})",
                lambda: f"{e(COMPLEX, depth)}.conjugate()",
            )
        )()

    def pair(self, kind: Kind, depth: int) -> str:
        return f"({self.expression(INT, depth)} % 1000, {self.expression(FLOAT, depth)})"

    def sized(self, kind: Kind, depth: int) -> str:
        """A NumPy scalar."""

        def e() -> str:
            return self.expression(kind, depth)

        forms: list[Callable[[], str]] = [lambda: f"({e()} {self.operator(kind)} {e()})"]
        if kind.dtype != "bool":
            forms.append(lambda: f"({e()} {self.operator(kind)} {self.number_for(kind.dtype)})")
            forms.append(lambda: f"{self.pick(('min', 'max'))}({e()}, {e()})")
        arrays = [n for n in self.arrays() if self.scope.locals[n].dtype == kind.dtype]
        if arrays:
            forms += [lambda: self.element(self.pick(arrays))] * 3
            if kind.dtype in ("int64", "float64", "uint64", "complex128"):
                forms.append(lambda: f"{self.pick(arrays)}.sum()")
            if kind.dtype != "bool" and not kind.is_complex:
                forms.append(lambda: f"{self.pick(arrays)}.{self.pick(('max', 'min'))}()")
        return self.pick(forms)()

    def operator(self, kind: Kind) -> str:
        if kind.dtype == "bool":
            return self.pick("&|^")
        if kind.is_float or kind.is_complex:
            return self.pick("+-*" if self.exact or kind.is_complex else "+-*/")
        return self.pick(("+", "-", "*", "&", "|", "^", "//", "%"))

    def index(self) -> str:
        return self.pick((lambda: str(self.choices.below(6) - 3), lambda: self.expression(INT, 1)))()

    def element(self, array: str) -> str:
        ndim = self.scope.locals[array].ndim
        return f"{array}[{', '.join(self.index() for _ in range(ndim))}]"

    def slice(self) -> str:
        start, stop = (self.pick(("", str(self.choices.below(7) - 3), self.expression(INT, 1))) for _ in range(2))
        step = self.pick(("", "", ":2", ":-1", ":-2"))
        return f"{start}:{stop}{step}"

    def array(self, kind: Kind, depth: int) -> str:
        """An array."""
        known = self.names(kind)
        if depth <= 0 or (known and self.chance(40)):
            return self.pick(known) if known else self.new_array(kind)

        def e() -> str:
            return self.array(kind, depth - 1)

        forms: list[Callable[[], str]] = [
            lambda: f"({e()} {self.operator(kind)} {e()})",
            lambda: f"{e()}[{self.slice()}]",
            lambda: f"{e()}.copy()",
        ]
        if kind.dtype != "bool":
            forms.append(lambda: f"({e()} {self.operator(kind)} {self.number_for(kind.dtype)})")
            forms.append(lambda: f"np.where({self.mask(kind, depth - 1)}, {e()}, {e()})")
        if kind.ndim == 1:
            forms.append(lambda: f"{e()}[{self.mask(kind, depth - 1)}]")
        else:
            forms += [lambda: f"{e()}.T", lambda: f"{e()}[{self.slice()}, {self.slice()}]"]
        return self.pick(forms)()

    def mask(self, kind: Kind, depth: int) -> str:
        if kind.dtype == "bool" or kind.is_complex:
            return f"({self.array(kind, depth)} {self.pick(('==', '!='))} {self.number_for(kind.dtype)})"
        symbol = self.pick(("<", "<=", "==", "!=", ">", ">="))
        return f"({self.array(kind, depth)} {symbol} {self.number_for(kind.dtype)})"

    def new_array(self, kind: Kind) -> str:
        dims = ", ".join(str(self.choices.below(4)) for _ in range(kind.ndim))
        dtype = "np.bool_" if kind.dtype == "bool" else f"np.{kind.dtype}"
        return f"np.{self.pick(('zeros', 'ones'))}(({dims},), {dtype})"

    # statements

    def block(self, depth: int, count: int) -> list[str]:
        """Statements, indented once."""
        lines: list[str] = []
        for _ in range(1 + self.choices.below(count)):
            if self.left <= 0:
                break
            self.left -= 1
            lines += self.statement(depth)
        return ["    " + line for line in lines or ["pass"]]

    def statement(self, depth: int) -> list[str]:
        forms: list[Callable[[int], list[str]]] = [self.assign] * 5 + [self.augment] * 3
        if self.arrays():
            forms += [self.store] * 4
        if depth > 0:
            forms += [self.if_, self.if_, self.for_, self.for_, self.for_, self.while_, self.try_]
        if self.scope.loops:
            forms.append(self.leave_loop)
        forms += [self.raise_, self.return_, self.assert_]
        return self.pick(forms)(depth)

    def writable(self) -> list[str]:
        return [n for n in self.scope.locals if n not in self.scope.frozen]

    def assign(self, depth: int) -> list[str]:
        name = self.pick(self.writable())
        kind = self.scope.locals[name]
        if kind == INT:
            return [f"{name} = {self.expression(kind, 3)} % {self.pick((7, 100, 1009))}"]
        if kind == PAIR and self.chance(30) and self.names(INT, True) and self.names(FLOAT, True):
            left = f"{self.pick(self.names(INT, True))}, {self.pick(self.names(FLOAT, True))}"
            return [f"{left} = {self.expression(PAIR)}"]
        if kind.is_float and self.exact:
            return [f"{name} = {self.bounded(kind)}"]
        return [f"{name} = {self.expression(kind, 3)}"]

    def bounded(self, kind: Kind) -> str:
        """A float of the kind that stays small, so that nothing rounds."""
        value = self.expression(kind, 2)
        cast = "" if kind.name == "float" else f"np.{kind.dtype}"
        return f"{cast}({value}) if abs({value}) < 1000 else {self.literal(kind)}" if kind.name != "array" else value

    def augment(self, depth: int) -> list[str]:
        name = self.pick(self.writable())
        kind = self.scope.locals[name]
        if kind == INT:
            return [f"{name} {self.pick(('+', '-', '&', '|', '^'))}= {self.expression(INT, 2)}", f"{name} %= 1009"]
        if kind.name == "array" and self.exact:
            return [f"{name}[...] = {self.number_for(kind.dtype)}"]
        if kind in (BOOL, PAIR) or (self.exact and (kind.is_float or kind.is_complex)):
            return self.assign(depth)
        symbol = self.pick("+-*") if kind.name in ("float", "complex") else self.operator(kind)
        symbol = "+" if symbol == "/" and kind.name == "array" else symbol
        return [f"{name} {symbol}= {self.expression(kind, 2)}"]

    def store(self, depth: int) -> list[str]:
        name = self.pick(self.arrays())
        kind = self.scope.locals[name]
        element = Kind("np", kind.dtype)
        value = self.number_for(kind.dtype) if self.exact else self.expression(element, 2)
        forms = [f"{self.element(name)} = {value}", f"{name}[{self.slice()}] = {value}"]
        forms.append(f"{name}[{self.mask(kind, 0)}] = {value}")
        forms.append(f"{name}[{self.slice()}] = {name}[{self.slice()}]")
        if not self.exact:
            forms.append(f"{self.element(name)} {self.operator(kind).replace('/', '+')}= {value}".replace("++", "//"))
            forms.append(f"{name}[...] = {self.array(kind, 2)}")
        return [self.pick(forms)]

    def if_(self, depth: int) -> list[str]:
        lines = [f"if {self.condition(2)}:", *self.block(depth - 1, 3)]
        if self.chance(30):
            lines += [f"elif {self.condition(2)}:", *self.block(depth - 1, 3)]
        if self.chance(50):
            lines += ["else:", *self.block(depth - 1, 3)]
        return lines

    def loop_body(self, depth: int) -> list[str]:
        self.scope.loops += 1
        body = self.block(depth - 1, 4)
        self.scope.loops -= 1
        return body

    def with_locals(self, new: dict[str, Kind], body: Callable[[], list[str]]) -> list[str]:
        """The body with more locals, which it does not assign."""
        self.scope.locals.update(new)
        self.scope.frozen.update(new)
        lines = body()
        for name in new:
            del self.scope.locals[name]
            self.scope.frozen.discard(name)
        return lines

    def for_(self, depth: int) -> list[str]:
        name, other = self.fresh("i"), self.fresh("x")
        header, new = self.pick(
            (
                self._over_range,
                self._over_range,
                self._over_array,
                self._over_enumerate,
                self._over_zip,
                self._over_tuple,
            )
        )(name, other)
        lines = [header, *self.with_locals(new, lambda: self.loop_body(depth))]
        if self.chance(20):
            lines += ["else:", *self.block(depth - 1, 2)]
        return lines

    def _over_range(self, i: str, x: str) -> tuple[str, dict[str, Kind]]:
        form = self.pick(
            (
                f"range({self.expression(INT, 1)} % 7)",
                f"range({self.literal(INT)}, {self.literal(INT)})",
                f"range({self.literal(INT)}, {self.literal(INT)}, {self.pick((1, 2, 3, -1, -2))})",
                f"reversed(range({self.choices.below(6)}))",
            )
        )
        return f"for {i} in {form}:", {i: INT}

    def _over_array(self, i: str, x: str) -> tuple[str, dict[str, Kind]]:
        if not self.arrays(1):
            return self._over_range(i, x)
        array = self.pick(self.arrays(1))
        element = Kind("np", self.scope.locals[array].dtype)
        return f"for {x} in {self.pick((array, f'{array}[::-1]', f'{array}[:{self.index()}]'))}:", {x: element}

    def _over_enumerate(self, i: str, x: str) -> tuple[str, dict[str, Kind]]:
        if not self.arrays(1):
            return self._over_range(i, x)
        array = self.pick(self.arrays(1))
        element = Kind("np", self.scope.locals[array].dtype)
        return f"for {i}, {x} in enumerate({array}, {self.choices.below(3)}):", {i: INT, x: element}

    def _over_zip(self, i: str, x: str) -> tuple[str, dict[str, Kind]]:
        if not self.arrays(1):
            return self._over_range(i, x)
        array = self.pick(self.arrays(1))
        element = Kind("np", self.scope.locals[array].dtype)
        return f"for {i}, {x} in zip(range({self.choices.below(6)}), {array}):", {i: INT, x: element}

    def _over_tuple(self, i: str, x: str) -> tuple[str, dict[str, Kind]]:
        items = ", ".join(self.expression(INT, 1) for _ in range(1 + self.choices.below(3)))
        return f"for {i} in ({items},):", {i: INT}

    def while_(self, depth: int) -> list[str]:
        counter = self.fresh("n")
        body = self.with_locals({counter: INT}, lambda: self.loop_body(depth))
        lines = [f"{counter} = {self.choices.below(5)}", f"while {counter} > 0 and {self.condition(1)}:"]
        lines += [f"    {counter} -= 1", *body]
        if self.chance(20):
            lines += ["else:", *self.block(depth - 1, 2)]
        return lines

    def leave_loop(self, depth: int) -> list[str]:
        return [f"if {self.condition(1)}:", f"    {self.pick(('break', 'continue'))}"]

    def try_(self, depth: int) -> list[str]:
        lines = ["try:", *self.block(depth - 1, 4)]
        catches = self.chance(85)
        if catches:
            for _ in range(1 + self.choices.below(2)):
                classes = self.pick(ERRORS) if self.chance(70) else f"({self.pick(ERRORS)}, {self.pick(ERRORS)})"
                lines += [f"except {classes}{self.pick(('', ' as e'))}:", *self.block(depth - 1, 2)]
                if self.chance(15):
                    lines.append("    raise")
        if catches and self.chance(25):
            lines += ["else:", *self.block(depth - 1, 2)]
        if not catches or self.chance(30):
            lines += ["finally:", *self.block(0, 2)]
        return lines

    def raise_(self, depth: int) -> list[str]:
        error = self.pick(ERRORS[:4])
        argument = self.pick((lambda: f"'e{self.choices.below(9)}'", lambda: self.expression(INT, 1), lambda: ""))()
        return [f"if {self.condition(1)}:", f"    raise {error}({argument})"]

    def assert_(self, depth: int) -> list[str]:
        return [f"assert {self.condition(2)} or {self.condition(1)}, {self.expression(INT, 1)}"]

    def return_(self, depth: int) -> list[str]:
        return [f"if {self.condition(1)}:", f"    return {self.result()}"]

    def result(self) -> str:
        return self.returned

    # functions

    def helper(self, name: str) -> list[str]:
        """A function of numbers with defaults for all parameters but the first, recursive at times."""
        outer = self.scope
        kinds = tuple(
            self.pick((INT, FLOAT, INT, Kind("np", self.pick(DTYPES)))) for _ in range(1 + self.choices.below(3))
        )
        result = self.pick((INT, FLOAT, kinds[0]))
        self.scope = Scope({f"p{i}": kind for i, kind in enumerate(kinds)}, functions=list(outer.functions))
        parameters = [f"p{i}" if not i else f"p{i}={self.literal(kind)}" for i, kind in enumerate(kinds)]
        self.returned = self.literal(result)
        lines = [f"def {name}({', '.join(parameters)}):", *self.block(1, 3)]
        lines.append(f"    return {self.expression(result, 2)}")
        self.scope = outer
        outer.functions.append((name, kinds, result))
        return lines

    def program(self) -> Program:
        """The program."""
        lines: list[str] = []
        for _ in range(self.choices.below(3)):
            lines += self.helper(self.fresh("g"))
        count = 1 + self.choices.below(4)
        kinds = [self.pick((INT, FLOAT, BOOL, *_argument_kinds(self))) for _ in range(count)]
        names = [f"a{i}" for i in range(count)]
        self.scope.locals = dict(zip(names, kinds))
        head: list[str] = []
        for _ in range(2 + self.choices.below(4)):
            kind = self.pick((INT, FLOAT, BOOL, COMPLEX, PAIR, Kind("np", self.pick(DTYPES)), INT, FLOAT))
            name = self.fresh("v")
            head.append(f"    {name} = {self.literal(kind)}")
            self.scope.locals[name] = kind
        self.returned = f"({', '.join(n for n, k in self.scope.locals.items())},)"
        body = self.block(3, 10)
        lines += [f"def f({', '.join(names)}):", *head, *body, f"    return {self.returned}"]
        args = tuple(argument(self, kind) for kind in kinds)
        return Program("\n".join(lines) + "\n", args, self.exact)


_EXPRESSIONS: dict[str, Callable[[Writer, Kind, int], str]] = {
    "int": Writer.int_,
    "float": Writer.float_,
    "bool": Writer.bool_,
    "complex": Writer.complex_,
    "pair": Writer.pair,
    "np": Writer.sized,
}


def _argument_kinds(w: Writer) -> tuple[Kind, ...]:
    dtype = w.pick(DTYPES)
    return (
        Kind("np", dtype),
        Kind("array", dtype, 1),
        Kind("array", w.pick(DTYPES), 2),
        Kind("array", w.pick(DTYPES), 1),
    )


def argument(w: Writer, kind: Kind) -> object:
    """A value of the kind; arrays come in every layout, some read-only, some empty."""
    numbers = {INT: lambda: w.choices.below(40) - 10, FLOAT: lambda: (w.choices.below(41) - 16) / 4}
    if kind in numbers:
        return numbers[kind]()
    if kind == BOOL:
        return w.chance(50)
    if kind.name == "np":
        return np.dtype(kind.dtype).type((w.choices.below(20)) / (4 if kind.is_float else 1))
    shape = tuple(w.choices.below(6) for _ in range(kind.ndim))
    seed = w.choices.below(1000)
    base = np.random.default_rng(seed).integers(0, 40, tuple(2 * n for n in shape))
    values = (base / 4 if kind.is_float or kind.is_complex else base).astype(kind.dtype)
    layout = w.choices.below(4)
    cut = tuple(slice(0, n) for n in shape)
    if layout == 0:
        array = values[cut].copy()
    elif layout == 1:
        array = np.asfortranarray(values[cut])
    elif layout == 2:
        array = values[tuple(slice(None, None, 2) for _ in shape)]
    else:
        array = values[cut][::-1]
    return array
