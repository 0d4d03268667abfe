"""Random typed expressions, for `generate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

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


class Expressions:
    """Writes expressions of one program.

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
        if kind.dtype not in ("bool", "complex128"):
            forms += [lambda: f"abs({e()})", lambda: f"np.maximum({e()}, {e()})", lambda: f"np.sort({e()})"]
        wider = [n for n in self.arrays(kind.ndim) if self.casts(self.scope.locals[n].dtype, kind.dtype)]
        if wider:
            forms.append(lambda: f"{self.pick(wider)}.astype(np.{kind.dtype}{'_' if kind.dtype == 'bool' else ''})")
        tables = [n for n in self.arrays(2) if self.scope.locals[n].dtype == kind.dtype]
        if kind.ndim == 2:
            forms += [lambda: f"{e()}.T", lambda: f"{e()}[{self.slice()}, {self.slice()}]"]
            forms.append(
                lambda: f"{self.array(Kind('array', kind.dtype, 1), depth - 1)}[{self.pick((':, None', 'None'))}]"
            )
            return self.pick(forms)()
        forms.append(lambda: f"{e()}[{self.mask(kind, depth - 1)}]")
        forms.append(lambda: f"np.concatenate(({e()}, {e()}))")
        forms.append(lambda: f"{e()}[np.array([{self.literal(INT)}, {self.literal(INT)}])]")
        if tables:
            forms += [lambda: f"{self.pick(tables)}[{self.index()}]", lambda: f"{self.pick(tables)}[:, {self.index()}]"]
            if kind.dtype in ("int64", "float64", "complex128"):
                forms.append(lambda: f"{self.pick(tables)}.sum(axis={self.pick((0, 1, -1))})")
            forms.append(lambda: f"{self.pick(tables)}.ravel()")
        return self.pick(forms)()

    def casts(self, source: str, target: str) -> bool:
        """Whether every conversion is defined: floats do not become integers."""
        order = ("bool", "int", "uint", "float", "complex")
        places = [next(k for k, name in enumerate(order) if dtype.startswith(name)) for dtype in (source, target)]
        return source != target and target != "bool" and (places[0] <= places[1] or max(places) <= 2)

    def mask(self, kind: Kind, depth: int) -> str:
        if kind.dtype == "bool" or kind.is_complex:
            return f"({self.array(kind, depth)} {self.pick(('==', '!='))} {self.number_for(kind.dtype)})"
        symbol = self.pick(("<", "<=", "==", "!=", ">", ">="))
        return f"({self.array(kind, depth)} {symbol} {self.number_for(kind.dtype)})"

    def new_array(self, kind: Kind) -> str:
        dims = ", ".join(str(self.choices.below(4)) for _ in range(kind.ndim))
        dtype = "np.bool_" if kind.dtype == "bool" else f"np.{kind.dtype}"
        return f"np.{self.pick(('zeros', 'ones'))}(({dims},), {dtype})"


_EXPRESSIONS: dict[str, Callable[[Expressions, Kind, int], str]] = {
    "int": Expressions.int_,
    "float": Expressions.float_,
    "bool": Expressions.bool_,
    "complex": Expressions.complex_,
    "pair": Expressions.pair,
    "np": Expressions.sized,
}
