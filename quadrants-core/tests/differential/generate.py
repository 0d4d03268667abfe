"""Random typed programs: the source of a function `f` and of its helpers, and arguments for it.

Every local has a kind that it keeps (`int`, `float`, `bool`, `complex`, a NumPy scalar, an array, a tuple), so that a program
has types that compiled code can know; what is random is everything else: control flow, expressions, indices that may be out of
range, shapes that may not fit, exceptions that are caught or not. Python ints stay small, because compiled ones have 64 bits.

`Choices` decides; hypothesis behind it shrinks a failing program, `random` makes many of them fast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from differential.expressions import (
    BOOL,
    COMPLEX,
    DTYPES,
    ERRORS,
    FLOAT,
    INT,
    PAIR,
    Expressions,
    Kind,
    Program,
    Scope,
)


class Writer(Expressions):
    """Writes one program."""

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
        forms += [
            self.raise_,
            self.return_,
            self.assert_,
            self.optional,
            self.unbound,
            self.closure,
            self.shared,
            self.swap,
            self.row_loop,
        ]
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

    def optional(self, depth: int) -> list[str]:
        """A local that is None on some paths."""
        name, kind = self.fresh("o"), self.pick((INT, FLOAT))
        wanted = self.names(kind, True)
        if not wanted:
            return self.assign(depth)
        use = [f"if {name} is not None:", f"    {self.pick(wanted)} = {name}"]
        return [f"{name} = None", f"if {self.condition(1)}:", f"    {name} = {self.expression(kind, 1)}", *use]

    def unbound(self, depth: int) -> list[str]:
        """A local that is not bound on some paths."""
        wanted = self.names(INT, True)
        if not wanted:
            return self.assign(depth)
        name = self.fresh("u")
        lines = [f"if {self.condition(1)}:", f"    {name} = {self.choices.below(9)}"]
        if self.chance(30):
            lines.append(f"    del {name}")
        return [*lines, f"{self.pick(wanted)} = {name}"]

    def closure(self, depth: int) -> list[str]:
        """A function made here, which sees the locals as they are when it is called."""
        kind = self.pick((INT, FLOAT))
        wanted = self.names(kind, True)
        if not wanted:
            return self.assign(depth)
        name = self.fresh("h")
        body = self.with_locals({"q": kind}, lambda: [self.expression(kind, 2)])[0]
        argument = self.expression(kind, 1)
        make = f"{name} = lambda q: {body}" if self.chance(50) else f"def {name}(q, *r): return {body}"
        return [make, *self.assign(0), f"{self.pick(wanted)} = {name}({argument})"]

    def shared(self, depth: int) -> list[str]:
        """A function made here that assigns locals, called once or twice."""
        wanted = [name for name in self.writable() if self.scope.locals[name].name != "array"]
        targets = self.names(INT, True)
        if not wanted or not targets:
            return self.assign(depth)
        chosen = sorted({self.pick(wanted) for _ in range(1 + self.choices.below(3))})
        name, parameter = self.fresh("h"), self.fresh("q")
        scope, returned = self.scope, self.returned
        frozen, loops = set(scope.frozen), scope.loops
        scope.frozen |= set(scope.locals) - set(chosen)
        scope.loops, self.returned = 0, self.literal(INT)
        body = self.with_locals({parameter: INT}, lambda: self.block(min(depth, 1), 3))
        result = self.expression(INT, 1)
        scope.frozen, scope.loops, self.returned = frozen, loops, returned
        make = [f"def {name}({parameter}):", f"    nonlocal {', '.join(chosen)}", *body, f"    return {result}"]
        uses = [
            f"{self.pick(targets)} = {name}({self.expression(INT, 1)}) % 1009" for _ in range(1 + self.choices.below(2))
        ]
        between = self.assign(0) if self.chance(50) else []
        return [*make, *uses[:1], *between, *uses[1:]]

    def swap(self, depth: int) -> list[str]:
        kind = self.scope.locals[self.pick(self.writable())]
        left, right = (self.pick(self.names(kind, True)) for _ in range(2))
        return [f"{left}, {right} = {right}, {left}"]

    def row_loop(self, depth: int) -> list[str]:
        if not self.arrays(2):
            return self.assign(depth)
        name, table = self.fresh("r"), self.pick(self.arrays(2))
        dtype = self.scope.locals[table].dtype
        row = {name: Kind("array", dtype, 1)}
        return [f"for {name} in {table}:", *self.with_locals(row, lambda: self.loop_body(min(depth, 2)))]

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
