"""The walk of one whole function: parameters in, the IR function out."""

from __future__ import annotations

import inspect
import types as pytypes
from collections.abc import Sequence

import quadrants.bytecode as bytecode
from quadrants.diagnostics import Code, CompileError, SourceLocation
from quadrants.infer.emitter import fail
from quadrants.infer.engine import Engine, FunctionRef, Specialisation
from quadrants.infer.instructions import InstructionWalk
from quadrants.infer.merge import generalise, join_types
from quadrants.infer.names import located
from quadrants.infer.returning import check_returnable
from quadrants.infer.unions import leaves_as, union_of
from quadrants.infer.values import ConflictType, rebuild
from quadrants.ir import Function, Scope, Value
from quadrants.types import Type


class FunctionWalk(InstructionWalk):
    """Walks one function for one signature."""

    def run(self, types: Sequence[Type], entry: bool) -> tuple[Function, Type | None]:
        """Walk the function for the parameter types; the IR function and the type of its result (None: never returns)."""
        code = self.ref.code
        if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            with located(self):
                fail(Code.UNSUPPORTED_ASYNC, f"{self.ref.name}() is an async function, which cannot be compiled")
        tree = bytecode.regions(code)
        params = [Value(leaf) for type_ in types for leaf in type_.leaves()]
        leaves = iter(params)
        values = [rebuild(type_, leaves) for type_ in types]
        names = parameter_names(code)
        for name, value in zip(names, values):
            self.live_env.locals[name] = value
            for leaf in value.leaves:
                leaf.hint = name
        self.free = {name: value for (name, _), value in zip(self.ref.free, values[len(names) :])}
        self.walk(tree.body)
        result = self._finish(entry)
        result_types = () if result is None else result.leaves()
        scope = Scope(code.co_filename, code.co_qualname, code.co_firstlineno, self.ref.internal)
        attrs: dict[str, object] = {"fp": self.options.fp}
        return Function(self.spec.name, params, result_types, self.body, scope, attrs), result

    def _finish(self, entry: bool) -> Type | None:
        """Close the returns with the common type."""
        result: Type | None = None
        if entry and self.returns and self.engine.unions:
            result = union_of(end.value.type for end in self.returns)
        else:
            for end in self.returns:
                result = end.value.type if result is None else join_types(result, end.value.type)
        if result is None:
            return None
        if entry:
            result = generalise(result)
            self.b.loc = self.returns[-1].loc
            with located(self):
                check_returnable(self.ref.name, result)
        if isinstance(result, ConflictType):
            with located(self):
                fail(
                    Code.BAD_RETURN,
                    f"{self.ref.name}() returns values of types that do not unify",
                    types=[("returned", kind) for kind in result.kinds],
                    hint="Return the same type on every path.",
                )
        for end in self.returns:
            self.b.loc = end.loc
            with self.b.into(end.region):
                self.b.op("return", *leaves_as(self.b, end.value, result))
        return result


def parameter_names(code: pytypes.CodeType) -> tuple[str, ...]:
    """The locals that hold arguments, in the order in which `binding.bind` gives them."""
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[: count + bool(code.co_flags & 0x04)]


def walk_function(
    engine: Engine, ref: FunctionRef, types: Sequence[Type], spec: Specialisation, entry: bool
) -> tuple[Function, Type | None]:
    """The `Walker` of the engine."""
    walk = FunctionWalk(engine, ref, spec)
    try:
        result = walk.run(types, entry)
    except bytecode.BytecodeError as error:
        raise CompileError(Code.UNSUPPORTED_BYTECODE, str(error), SourceLocation.of_code(ref.code)) from None
    engine.decisions.extend(walk.decisions)
    return result
