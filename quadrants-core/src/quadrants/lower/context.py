"""What the functions of one module share while they are lowered: symbols, sites, exception classes, runtime helpers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache

from quadrants._frozen import frozen, record
from quadrants.ir.core import Function, Module, Op
from quadrants.lower import runtime, vectormath
from quadrants.lower.abi import Site, SiteKind, components
from quadrants.lower.analysis import Exceptions
from quadrants.lower.nodes import Nodes
from quadrants.types import Type

LOOPS = ("for", "loop")


@frozen
class LowerOptions:
    """What lowering needs to know of the target and of the call.

    Args:
        native_f16: whether the target converts between half and float by an instruction (else by code of ours).
        holds_gil: whether the function runs with the GIL held, so that `poll` may ask the interpreter.
        vector_bits: the size of the target's largest vector registers; 0: loops call elementary functions one element at a time.
        simd: whether LLVM may vectorise.
        emitters: what writes the ops (op name -> emitter), where it is not the table of the CPU.
        interpreter: whether there is an interpreter to ask: on a device nothing polls, and no error is Python's own.
        atomic_scope: who takes part in atomic operations, as LLVM writes it with a space behind.
        attributes: of every function, as LLVM writes them with a space before.
    """

    native_f16: bool = True
    holds_gil: bool = True
    vector_bits: int = 0
    simd: bool = True
    emitters: Mapping[str, Callable[..., None]] | None = None
    interpreter: bool = True
    atomic_scope: str = ""
    attributes: str = ""


@cache
def width(type: Type) -> int:
    """How many components a value of the type has."""
    return len(components(type))


@record(eq=False)
class ModuleContext:
    """See the module's docstring.

    Args:
        module: the module.
        options: see `LowerOptions`.
        exceptions: which functions raise, and the class table.
    """

    module: Module
    options: LowerOptions
    exceptions: Exceptions
    sites: list[Site] = field(default_factory=list)
    declarations: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)  # symbol -> text
    nodes: Nodes = field(default_factory=Nodes)
    _has_loops: bool | None = None
    _parallel: bool | None = None

    def width(self, type: Type) -> int:
        """How many components a value of the type has."""
        return width(type)

    def site(self, kind: SiteKind, function: Function, op: Op | None, **fields: object) -> int:
        """Register a site; its number."""
        self.sites.append(Site(kind, op.loc if op else None, function.scope, **fields))  # type: ignore[arg-type]
        return len(self.sites) - 1

    def external(self, name: str, declaration: str) -> str:
        """Use an external symbol; the operand that names it."""
        self.declarations.setdefault(name, declaration)
        return "@" + name

    def runtime(self, name: str) -> str:
        """Use a function of the runtime that all modules share; the operand that names it."""
        return self.external(name, runtime.DECLARATIONS[name])

    def counting(self, name: str, arguments: str = "") -> str:
        """A call of a function of the runtime that counts references or blocks: what follows "call" and the type."""
        if not self.is_parallel():
            return f"{self.runtime(name)}({arguments})"
        symbol = self.external(f"{name}_shared", runtime.shared_declaration(name))
        return f"{symbol}({', '.join(filter(None, ('ptr %ctx', arguments)))})"

    def helper(self, name: str) -> str:
        """Use a small function that the module gets for itself; the operand that names it."""
        self.helpers[name] = runtime.HELPERS[name]
        return "@" + name

    def has_loops(self) -> bool:
        """Whether a function of the module has a loop."""
        if self._has_loops is None:
            ops = (op for function in self.module.functions.values() for op in function.body.walk())
            self._has_loops = any(op.name in LOOPS for op in ops)
        return self._has_loops

    def is_parallel(self) -> bool:
        """Whether the module has parallel regions: then several threads may run any of its functions."""
        if self._parallel is None:
            ops = (op for function in self.module.functions.values() for op in function.body.walk())
            self._parallel = any(op.name == "fork" for op in ops)
        return self._parallel

    def vector_variants(self, symbol: str, name: str, bits: int, arity: int) -> str:
        """What a call of a scalar function says of the vector functions that may take its place in a loop; "" for nothing."""
        if not self.options.vector_bits or not self.has_loops():
            return ""
        declared = vectormath.declarations(name, bits, arity, self.options.vector_bits)
        if not declared:
            return ""
        if declared[0].name not in self.helpers:
            self.helpers.update((function.name, function.text) for function in declared)
            self.helpers[vectormath.KEPT] = vectormath.kept(self.helpers)
        return vectormath.variants(symbol, name, bits, arity, self.options.vector_bits)

    def vector_function(self, name: str, bits: int, arity: int, lanes: int) -> tuple[str, int] | None:
        """A vector function for up to so many lanes, a power of 2: the operand that names it, and its lanes."""
        declared = vectormath.declarations(name, bits, arity, self.options.vector_bits)
        sizes = dict(zip(vectormath.lanes(bits, self.options.vector_bits), declared[::2]))
        size = max((size for size in sizes if size <= lanes), default=0)
        if not size:
            return None
        self.helpers[sizes[size].name] = sizes[size].text
        return "@" + sizes[size].name, size
