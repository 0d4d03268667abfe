"""Writes the LLVM text of an entry: fresh names, blocks, guards, and the declarations of what it uses."""

from __future__ import annotations

from quadrants.lower.abi import FIRST_FREE_METADATA

_LIKELY = f"!prof !{FIRST_FREE_METADATA}"
#: Belongs to the end of every text that has guards.
METADATA = f'!{FIRST_FREE_METADATA} = !{{!"branch_weights", i32 2000, i32 1}}'

#: Externals that are data; all others are declared with their signature where they are used.
_DATA = "external global i8"


class Text:
    """The body of one function under construction.

    Args:
        miss: the label that guards leave to.
    """

    def __init__(self, miss: str = "miss") -> None:
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.declarations: dict[str, str] = {}
        self.block = "entry"
        self._miss = miss
        self._count = 0

    def fresh(self, hint: str) -> str:
        """A name that is not used yet, without its sigil."""
        self._count += 1
        return f"{hint}.{self._count}"

    def do(self, statement: str) -> None:
        """A statement without a result."""
        self.lines.append(f"  {statement}")

    def let(self, expression: str) -> str:
        """A statement with a result; its name."""
        name = f"%{self.fresh('t')}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def alloca(self, type: str) -> str:
        """Memory of the frame; reserved in the first block."""
        name = f"%{self.fresh('m')}"
        self.allocas.append(f"  {name} = alloca {type}, align 8")
        return name

    def begin(self, label: str) -> None:
        """Start a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.do(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def require(self, condition: str, otherwise: str) -> None:
        """Go on if the condition holds, which is likely, else to another block."""
        label = self.fresh("ok")
        self.do(f"br i1 {condition}, label %{label}, label %{otherwise}, {_LIKELY}")
        self.begin(label)

    def guard(self, condition: str) -> None:
        """Go on if the condition holds, else miss."""
        self.require(condition, self._miss)

    def data(self, name: str) -> str:
        """The address of external data."""
        self.declarations.setdefault(name, f"@{name} = {_DATA}")
        return f"@{name}"

    def call(self, result: str, name: str, *arguments: tuple[str, str]) -> str:
        """Call an external function with (type, value) arguments; the name of its result ("" for void)."""
        types = ", ".join(type for type, _ in arguments)
        self.declarations.setdefault(name, f"declare {result} @{name}({types})")
        given = ", ".join(f"{type} {value}" for type, value in arguments)
        expression = f"call {result} @{name}({given})"
        if result == "void":
            self.do(expression)
            return ""
        return self.let(expression)

    def at(self, base: str, offset: int) -> str:
        """An address plus a number of bytes."""
        return base if offset == 0 else self.let(f"getelementptr i8, ptr {base}, i64 {offset}")

    def load(self, type: str, base: str, offset: int = 0) -> str:
        return self.let(f"load {type}, ptr {self.at(base, offset)}")

    def store(self, type: str, value: str, base: str, offset: int = 0) -> None:
        self.do(f"store {type} {value}, ptr {self.at(base, offset)}")

    def equal(self, type: str, a: str, b: str | int) -> str:
        return self.let(f"icmp eq {type} {a}, {b}")

    def either(self, conditions: list[str]) -> str:
        """The disjunction of conditions."""
        found = conditions[0]
        for condition in conditions[1:]:
            found = self.let(f"or i1 {found}, {condition}")
        return found
