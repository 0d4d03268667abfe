"""The walk of one whole function: parameters in, the IR function out."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import quadrants.bytecode as bytecode
from quadrants.diagnostics import Code, CompileError, SourceLocation
from quadrants.infer import lists, texts
from quadrants.infer.binding import parameter_names
from quadrants.infer.closures import Rebox
from quadrants.infer.emitter import NeverReturns, fail
from quadrants.infer.engine import Engine, FunctionRef, Specialisation
from quadrants.infer.instructions import YIELDED, InstructionWalk
from quadrants.infer.listtypes import Elsewhere, local, note, root_of
from quadrants.infer.merge import Promote, generalise, join_types
from quadrants.infer.names import Parameter, located
from quadrants.infer.returning import check_returnable
from quadrants.infer.unions import leaves_as, union_of
from quadrants.infer.values import Abstract, ConflictType, List, ListDisplay, rebuild
from quadrants.ir import Function, Scope, Value
from quadrants.types import ArrayType, NoneType, TupleType, Type

#: A function is walked again at most so often, once a list that turns out to change or to have items of another type.
MAX_PROMOTIONS = 64


class FunctionWalk(InstructionWalk):
    """Walks one function for one signature."""

    is_entry = False
    param_types: tuple[Type, ...] = ()

    def run(self, types: Sequence[Type], entry: bool) -> tuple[Function, Type | None]:
        """Walk the function for the parameter types; the IR function and the type of its result (None: never returns)."""
        code = self.ref.code
        if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            with located(self):
                fail(Code.UNSUPPORTED_ASYNC, f"{self.ref.name}() is an async function, which cannot be compiled")
        tree = bytecode.regions(code)
        params = [Value(leaf) for type_ in types for leaf in type_.leaves()]
        leaves = iter(params)
        values = [_from_caller(rebuild(type_, leaves), k) for k, type_ in enumerate(types)]
        names = parameter_names(code)
        for name, given in zip(names, values):
            value = self.lasting(name, given, parameter=True)
            self.live_env.locals[name] = value
            for leaf in value.leaves:
                leaf.hint = name
        self.free = {name: value for (name, _), value in zip(self.ref.free, values[len(names) :])}
        if code.co_cellvars:
            self.open_boxes((code, tuple(types)))
        if self.ref.generator == "list":
            item = self.lists.get(YIELDED)
            collected = ListDisplay((), 0, YIELDED) if item is None else lists.make(self, item, (), YIELDED)
            self.live_env.locals[YIELDED] = collected
        if self.portable:
            from quadrants.infer.portable import parameters  # only the portable language needs it

            parameters.convert(self, names)
        self.returns_apart = entry and self.engine.unions and not self.portable
        self.is_entry = entry
        self.param_types = tuple(types)
        try:
            self.walk(tree.body)
        except NeverReturns:
            self.b.op("unreachable")
        result = self._finish(entry)
        result_types = () if result is None else result.leaves()
        scope = Scope(code.co_filename, code.co_qualname, code.co_firstlineno, self.ref.internal)
        attrs: dict[str, object] = {"fp": self.options.fp}
        if self.options.device and not self.spec.top:
            attrs["level"] = "device"
            if entry:
                attrs["kernel"] = True
        elif self.portable:
            attrs["portable"] = True
        return Function(self.spec.name, params, result_types, self.body, scope, attrs), result

    def result_of(self, value: Abstract) -> Abstract:
        found = super().result_of(value)
        if not self.portable:
            return found
        from quadrants.infer.portable import parameters

        return parameters.result(self, found)

    def _list_results(self) -> None:
        """Lists that are written out are lists of the interpreter's for the caller."""
        for end in self.returns:
            self.b.loc = end.loc
            with self.b.into(end.region), located(self):
                end.value = texts.as_objects(self, end.value)

    def _finish(self, entry: bool) -> Type | None:
        """Close the returns with the common type."""
        result: Type | None = None
        if entry:
            self._list_results()
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
                    hint=_return_hint(result.kinds),
                )
        for end in self.returns:
            self.b.loc = end.loc
            with self.b.into(end.region):
                self.b.op("return", *leaves_as(self.b, end.value, result))
        return result


def _return_hint(kinds: Sequence[Type]) -> str:
    """How functions with results of several types can be made to have one."""
    if any(isinstance(kind, NoneType) for kind in kinds):
        return "A path returns None, perhaps by coming to the end without a return: return a value there."
    if all(isinstance(kind, ArrayType) for kind in kinds):
        return "Give the arrays one dtype and one number of axes: .astype(np.float64), .reshape(...)."
    if all(isinstance(kind, TupleType) for kind in kinds):
        return "Return tuples of one length, with items of the same types."
    return "Return the same type on every path."


def walk_function(
    engine: Engine, ref: FunctionRef, types: Sequence[Type], spec: Specialisation, entry: bool
) -> tuple[Function, Type | None]:
    """The `Walker` of the engine."""
    key = (ref.code, tuple(types))
    known: dict[object, Type] = dict(engine.lists.get(key, ()))
    for _ in range(MAX_PROMOTIONS):
        spec.hidden = {}
        walk = FunctionWalk(engine, ref, spec)
        walk.lists = known
        try:
            result = walk.run(types, entry)
        except bytecode.BytecodeError as error:
            raise CompileError(Code.UNSUPPORTED_BYTECODE, str(error), SourceLocation.of_code(ref.code)) from None
        except Promote as promotion:
            made = root_of(promotion.site)
            if isinstance(made, Elsewhere):
                note(engine.lists.setdefault(made.key, {}), local(promotion.site), promotion.item)
            if isinstance(made, (Elsewhere, Parameter)):
                raise
            note(known, promotion.site, promotion.item)
            continue
        except Rebox as wish:
            engine.widen_box(wish.site, wish.item, wish.flagged)
            if wish.site[0] != key:
                raise
            continue
        spec.origin = _made_in(walk, key)
        engine.decisions.extend(walk.decisions)
        return result
    raise CompileError(Code.NO_FIXPOINT, "the types of the lists do not settle", SourceLocation.of_code(ref.code))


def _made_in(walk: FunctionWalk, key: object) -> object:
    """Where a comprehension makes the list that it gives."""
    sites = {getattr(end.value, "site", None) for end in walk.returns} if walk.ref.name == "<listcomp>" else set()
    site = sites.pop() if len(sites) == 1 else None
    return None if site is None or isinstance(root_of(site), (Elsewhere, Parameter)) else Elsewhere(key, site)


def _from_caller(value: Abstract, index: int) -> Abstract:
    """An argument; the list that a display stands for was made by the caller."""
    if isinstance(value, ListDisplay):
        return ListDisplay(value.items, 0, Parameter(index))
    return List(value.item, value.cells, Parameter(index)) if isinstance(value, List) else value
