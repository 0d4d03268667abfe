"""The typed walk over a region tree: types, SSA form, constant folding and pruning in one go.

The environment maps locals and stack slots to abstract values. `if` walks both arms with copies and merges; a loop assumes
the types at its header, walks its body, widens and repeats until nothing changes. QIR that a trial produced is dropped with
its region; the lists of open exits are cut back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from quadrants.bytecode import nodes
from quadrants.bytecode.opcode import Loc as ByteLoc
from quadrants.diagnostics import Code
from quadrants.infer import modes
from quadrants.infer.emitter import Bounds, Emitter, NeverReturns, Options, fail
from quadrants.infer.ends import Exit, Fact, Mirror, Places, Return, Target
from quadrants.infer.headers import Solution, assumption
from quadrants.infer.merge import convert, generalise, join_types
from quadrants.infer.slots import (
    assigned_in,
    carried_by,
    get_slot,
    join_types_of,
    join_values,
    rejoined,
    set_slot,
    settle,
    substitute,
    survives,
    type_of,
    unchanged,
)
from quadrants.infer.values import Abstract, Const, Env, Exc, MaybeType, Num
from quadrants.ir import Value
from quadrants.ir.builder import Builder
from quadrants.ir.core import Loc, Op, Region
from quadrants.ir.ops import OPS
from quadrants.types import EXC, PYINT, Type

#: Walks of one loop header before it counts as a failure.
MAX_ROUNDS = 24


class ControlWalk(Emitter):
    """The control flow of the walk; the operations are in the class derived from it."""

    def __init__(self, builder: Builder, options: Options) -> None:
        super().__init__(builder, options)
        self.env: Env | None = Env()
        self.labels: dict[int, list[Target]] = {}
        self.returns: list[Return] = []
        self.mirrors: list[Mirror] = []
        self.facts: dict[Value, Fact] = {}
        self.solved: dict[object, dict[str, Type]] = {}
        self.latest: dict[object, Solution] = {}
        self.kept: dict[object, dict[str, Type | None]] = {}
        self._next_label = 0
        self.loop_depth = 0
        self.parallel_depth = 0  # how many loops around are parallel, see `portable`
        self.serialize_next = False
        self.places = Places()
        #: Locals that a store into a part of them has changed in the present loop; and by loop.
        self.rebound: set[str] = set()
        self.changed: dict[object, set[str]] = {}
        self.passing: frozenset[int] | None = None  # the `try`s of blocks with a floating-point mode, once there is one
        #: Whether returned values may be of different types, so that they are not merged before.
        self.returns_apart = False

    # to be provided by the derived class

    def run_code(self, insts: Sequence[object]) -> None:
        raise AssertionError("provided by the derived class")

    def condition(self, value: Abstract) -> Value | bool:
        raise AssertionError("provided by the derived class")

    def loop_over(self, node: nodes.For, iterable: Abstract) -> None:
        raise AssertionError("provided by the derived class")

    def raise_value(self, argc: int) -> None:
        raise AssertionError("provided by the derived class")

    # the environment

    @property
    def live_env(self) -> Env:
        assert self.env is not None
        return self.env

    def push(self, value: Abstract) -> None:
        self.places.note(value, self.b.loc)
        self.live_env.stack.append(value)

    def pop(self) -> Abstract:
        return self.live_env.stack.pop()

    def at(self, loc: ByteLoc) -> None:
        self.b.loc = Loc(loc.line or 0, loc.col or 0, loc.end_line or 0, loc.end_col or 0, loc.offset)

    def store_local(self, name: str, value: Abstract) -> None:
        """Assign a local, also in the variables that enclosing `try`s keep."""
        self.live_env.locals[name] = value
        for mirror in self.mirrors:
            if name not in mirror.types:
                continue
            refs = mirror.refs.get(name)
            if refs is None:
                known = mirror.types[name]
                mirror.types[name] = value.type if known is None else join_types(known, value.type)
            else:
                wanted = mirror.types[name]
                assert wanted is not None
                for ref, leaf in zip(refs, convert(self.b, value, wanted).leaves):
                    self.b.op("var.set", ref, leaf)

    def fresh_label(self) -> int:
        self._next_label += 1
        return self._next_label

    # nodes

    def walk(self, seq: nodes.Seq) -> None:
        """Walk a sequence as far as it is reachable."""
        for node, following in zip(seq.items, (*seq.items[1:], None)):
            if self.env is None:
                return
            if self.passing is not None:
                modes.adjust(self)
            if self.returns_apart and isinstance(node, nodes.If) and isinstance(following, nodes.Return):
                self._returning_if(node, following)
                return
            _NODES[type(node)](self, node)

    def _returning_if(self, node: nodes.If, following: nodes.Return) -> None:
        """`return x if test else y`: each arm returns what it has, without a type for both."""
        self.at(node.loc)
        test = self.condition(self.pop())
        then, orelse = (nodes.Seq((*seq.items, following)) for seq in (node.then, node.orelse))
        if isinstance(test, bool):
            self.walk(then if test else orelse)
            return
        self.branch(test, lambda: self.walk(then), lambda: self.walk(orelse))

    def in_region(self, region: Region, env: Env, body: Callable[[], None]) -> Exit | None:
        """Run `body` in the region from the environment; the open end, if it is reached."""
        with self.b.into(region):
            self.env = env
            try:
                body()
            except NeverReturns:
                self.b.op("unreachable")
                self.env = None
        end = self.env
        self.env = None
        return None if end is None else Exit(region, end, self.b.loc)

    def _if(self, node: nodes.If) -> None:
        self.at(node.loc)
        test = self.condition(self.pop())
        if isinstance(test, bool):
            self.walk(node.then if test else node.orelse)
            return
        self.branch(test, lambda: self.walk(node.then), lambda: self.walk(node.orelse), node.live)

    def branch(
        self, test: Value, then: Callable[[], None], orelse: Callable[[], None], live: Iterable[str] | None = None
    ) -> None:
        """An `if` on a register; both arms run from the present environment, narrowed by what the test says."""
        base = self.live_env
        loc = self.b.loc
        regions, exits = [], []
        for outcome, body in ((True, then), (False, orelse)):
            region = Region()
            end = self.in_region(region, self._narrowed(base, test, outcome), body)
            regions.append(region)
            if end is not None:
                exits.append(end)
        self.b.loc = loc
        self._join(base, "if", [test], regions, [(end, "yield", {}) for end in exits], {}, live)

    def _narrowed(self, base: Env, test: Value, outcome: bool) -> Env:
        env = base.copy()
        fact = self.facts.get(test)
        if fact is not None and (outcome or fact.exact):
            substitute(env, fact.optional, fact.optional.item if fact.present == outcome else Const(None))
        return env

    def _join(
        self,
        base: Env,
        name: str,
        operands: list[Value],
        regions: list[Region],
        ends: list[tuple[Exit, str, dict[str, object]]],
        attrs: dict[str, object],
        live: Iterable[str] | None,
    ) -> None:
        """Append a control op, close the ends that meet after it, and go on from their merged environment."""
        if not ends:
            self.b.region.ops.append(Op(OPS[name], operands, [], attrs, regions, self.b.loc))
            self.b.op("unreachable")
            self.env = None
            return
        merged, slots = self._merge_plan(base, [end.env for end, _, _ in ends], live)
        results = [Value(leaf, hint) for hint, type_ in slots for leaf in type_.leaves()]
        for end, terminator, end_attrs in ends:
            self._close(end, terminator, slots, end_attrs)
        self.b.region.ops.append(Op(OPS[name], operands, results, attrs, regions, self.b.loc))
        leaves = iter(results)
        for slot, type_ in slots:
            set_slot(merged, slot, rejoined(type_, leaves, [get_slot(end.env, slot) for end, _, _ in ends]))
        self.env = merged

    def _close(self, end: Exit, terminator: str, slots: list[tuple[str, Type]], attrs: dict[str, object]) -> None:
        after, self.b.loc = self.b.loc, end.loc
        with self.b.into(end.region):
            values = [leaf for slot, t in slots for leaf in convert(self.b, get_slot(end.env, slot), t).leaves]
            self.b.op(terminator, *values, regions=(), **attrs)
        self.b.loc = after

    def _merge_plan(self, base: Env, envs: list[Env], live: Iterable[str] | None) -> tuple[Env, list[tuple[str, Type]]]:
        """The environment after the merge, and the slots (locals, and "#n" for stack slots) that get a new value.

        A slot keeps its value if that is what it was before the op, or if nothing of it is in registers: registers defined
        inside a region are not visible after it.
        """
        first = envs[0]
        merged = Env({}, list(first.stack), first.handling)
        names = dict.fromkeys(name for env in envs for name in env.locals if survives(name, live, envs))
        slots: list[tuple[str, Type]] = []
        for name in names:
            values = [env.locals.get(name) for env in envs]
            if unchanged(values, base.locals.get(name)):
                assert values[0] is not None
                merged.locals[name] = values[0]
            else:
                slots.append((name, join_values(values, self.floats)))
        for position in range(len(first.stack)):
            values = [env.stack[position] for env in envs]
            if not unchanged(values, base.stack[position] if position < len(base.stack) else None):
                slots.append((f"#{position}", join_values(values, self.floats)))
        return merged, slots

    def _block(self, node: nodes.Block) -> None:
        base = self.live_env
        target = Target(self.fresh_label())
        region = Region()
        end = self._targeting(
            node.label, target, lambda: self.in_region(region, base.copy(), lambda: self.walk(node.body))
        )
        self._finish_block(base, region, target, end, node.live)

    def _finish_block(
        self, base: Env, region: Region, target: Target, end: Exit | None, live: Iterable[str] | None
    ) -> None:
        if not target.exits:
            self._splice(region)
            self.env = None if end is None else end.env
            return
        label: dict[str, object] = {"label": target.label}
        ends: list[tuple[Exit, str, dict[str, object]]] = [(exit_, "break", dict(label)) for exit_ in target.exits]
        ends += [] if end is None else [(end, "yield", {})]
        self._join(base, "block", [], [region], ends, label, live)

    def _splice(self, region: Region) -> None:
        """Append the ops of a region to the present one, and move the ends that are open there."""
        here = self.b.region
        here.ops.extend(region.ops)
        ends: list[Exit | Return] = [*self.returns]
        ends += [exit_ for targets in self.labels.values() for target in targets for exit_ in target.exits]
        for end in ends:
            if end.region is region:
                end.region = here

    def _targeting(self, label: int, target: Target, body: Callable[[], Exit | None]) -> Exit | None:
        self.labels.setdefault(label, []).append(target)
        try:
            return body()
        finally:
            self.labels[label].pop()

    def _leave(self, node: nodes.Exit | nodes.Continue) -> None:
        self.labels[node.label][-1].exits.append(Exit(self.b.region, self.live_env, self.b.loc))
        self.env = None

    def _return(self, node: nodes.Return) -> None:
        self.at(node.loc)
        self.returns.append(Return(self.b.region, self.result_of(self.pop()), self.b.loc))
        self.env = None

    def result_of(self, value: Abstract) -> Abstract:
        """What a `return` of the value gives."""
        return value

    def _raise(self, node: nodes.Raise) -> None:
        self.at(node.loc)
        self.raise_value(node.argc)
        self.env = None

    def _reraise(self, node: nodes.Reraise) -> None:
        self.at(node.loc)
        exc = self.pop()
        assert isinstance(exc, Exc)
        self.b.op("reraise", exc.value)
        self.env = None

    # loops

    def _loop(self, node: nodes.Loop) -> None:
        base = self.live_env
        loc = self.b.loc
        label = self.fresh_label()

        def run(types: dict[str, Type]) -> tuple[Region, list[Exit]]:
            return self._run_body(node.label, label, base, [], types, lambda _: self.walk(node.body))

        region, types, ends = self.solve(("loop", id(node)), base, carried_by(node, base), run)
        self._append_loop(base, region, types, ends, label, loc)

    def _append_loop(
        self, base: Env, region: Region, types: dict[str, Type], ends: list[Exit], label: int, loc: Loc | None
    ) -> None:
        """The `loop` op of a solved body: it is left by breaks and returns only."""
        inits = self._initial_values(base, types)
        for end in ends:
            self._close(end, "continue", list(types.items()), {"label": label})
        self.b.loc = loc
        self.b.region.ops.append(Op(OPS["loop"], inits, [], {"label": label, "result_types": ()}, [region], loc))
        self.b.op("unreachable")
        self.env = None

    def counted_loop(
        self, node: nodes.For, level: int, bounds: Bounds, body: Callable[[Value], None], parallel: bool = False
    ) -> None:
        """A `for` over range(*bounds). `body` gets the induction variable, and runs and ends with the iterator on the stack."""
        base = self.live_env
        loc = self.b.loc
        label = self.fresh_label()

        def run(types: dict[str, Type]) -> tuple[Region, list[Exit]]:
            return self._run_body(node.label, label, base, [bounds[0].type], types, lambda args: body(args[0]))

        region, types, ends = self.solve(("for", id(node), level), base, carried_by(node, base), run)
        inits = self._initial_values(base, types)
        for end in ends:
            self._close(end, "continue", list(types.items()), {"label": label})
        self.b.loc = loc
        results = [Value(leaf, name) for name, t in types.items() for leaf in t.leaves()]
        attrs: dict[str, object] = {"label": label, **({"parallel": True} if parallel else {})}
        self.b.region.ops.append(Op(OPS["for"], [*bounds, *inits], results, attrs, [region], loc))
        after = base.copy()
        for name in node.assigned:
            after.locals.pop(name, None)
        leaves = iter(results)
        for name, type_ in types.items():
            after.locals[name] = rejoined(type_, leaves, [base.locals.get(name)])
        self.env = after

    def growing_loop(self, node: nodes.For, size: Callable[[Value], Value], body: Callable[[Value], None]) -> None:
        """A `for` over what may grow or shrink: each turn asks for the size, by its number. `body` as in `counted_loop`."""
        base = self.live_env
        counter = f"@turn{self.loop_depth}"
        target, region = Target(self.fresh_label()), Region()
        start = base.copy()
        start.locals[counter] = Num(PYINT, self.b.i64(0))

        def leave() -> None:
            target.exits.append(Exit(self.b.region, self.live_env, self.b.loc))
            self.env = None

        def turn() -> None:
            index = self.live_env.locals[counter]
            assert isinstance(index, Num)
            more = self.b.value("cmp", index.value, size(index.value), pred="lt")
            self.branch(more, lambda: None, leave)
            self.live_env.locals[counter] = Num(PYINT, self.b.value("add", index.value, self.b.i64(1)))
            body(index.value)

        end = self._targeting(
            -target.label, target, lambda: self.in_region(region, start, lambda: self._endless(node, counter, turn))
        )
        assert end is None
        self._finish_block(base, region, target, None, None)
        self.live_env.locals.pop(counter, None)

    def _endless(self, node: nodes.For, counter: str, turn: Callable[[], None]) -> None:
        base = self.live_env
        loc = self.b.loc
        label = self.fresh_label()

        def run(types: dict[str, Type]) -> tuple[Region, list[Exit]]:
            return self._run_body(node.label, label, base, [], types, lambda _: turn())

        carried: dict[str, Type | None] = {**carried_by(node, base), counter: PYINT}
        region, types, ends = self.solve(("growing", id(node)), base, carried, run)
        self._append_loop(base, region, types, ends, label, loc)

    def _initial_values(self, base: Env, types: dict[str, Type]) -> list[Value]:
        return [leaf for name, t in types.items() for leaf in convert(self.b, base.locals.get(name), t).leaves]

    def _run_body(
        self,
        source_label: int,
        label: int,
        base: Env,
        leading: list[Type],
        types: dict[str, Type],
        body: Callable[[list[Value]], None],
    ) -> tuple[Region, list[Exit]]:
        """Walk a loop's body with the assumed header types; its region, and the ends that go to the next iteration."""
        lead = [Value(t, "i") for t in leading]
        args = [Value(leaf, name) for name, t in types.items() for leaf in t.leaves()]
        region = Region([*lead, *args])
        env = base.copy()
        leaves = iter(args)
        for name, type_ in types.items():
            env.locals[name] = rejoined(type_, leaves, [base.locals.get(name)])
        target = Target(label)
        self.loop_depth += 1
        end = self._targeting(source_label, target, lambda: self.in_region(region, env, lambda: body(lead)))
        self.loop_depth -= 1
        return region, target.exits + ([end] if end is not None else [])

    def solve(
        self,
        key: tuple[object, ...],
        base: Env,
        entry: dict[str, Type | None],
        run: Callable[[dict[str, Type]], tuple[Region, list[Exit]]],
    ) -> tuple[Region, dict[str, Type], list[Exit]]:
        """Find header types that the body keeps, and walk the body with them.

        The first assumption is what the variables are at the entry, literals included: inside, a literal still takes the type
        of what it meets (`total = 0.0` outside of two loops over float32 stays float32).
        """
        locals_ = {name: v.type for name, v in sorted(base.locals.items())}
        entry |= {name: locals_[name] for name in self.changed.get(key, ()) if name in locals_}
        memo = (*key, tuple(locals_.items()))
        types = self.solved.get(memo) or assumption(self.latest.get(key), locals_, entry)
        for round_ in range(MAX_ROUNDS):
            mark = self._mark()
            region, ends, found = self._noting_changes(run, types)
            new = {name: locals_[name] for name in found if name in locals_ and name not in entry}
            if new:  # a store into a part of a variable: no assignment in the code
                self._cut(mark)
                self.changed.setdefault(key, set()).update(new)
                entry |= new
                types = {**types, **new}
                continue
            wanted: dict[str, Type] = {}
            for name, t in entry.items():
                joined = join_types_of([t, *(type_of(end.env.locals.get(name)) for end in ends)])
                if joined is not None:
                    wanted[name] = settle(joined, types.get(name), round_, self.floats)
            if wanted == types:
                self.solved[memo] = types
                self.latest[key] = Solution(locals_, types)
                return region, types, ends
            self._cut(mark)
            types = wanted
        fail(Code.NO_FIXPOINT, "the types of the variables of this loop do not settle")

    def _noting_changes(
        self, run: Callable[[dict[str, Type]], tuple[Region, list[Exit]]], types: dict[str, Type]
    ) -> tuple[Region, list[Exit], set[str]]:
        """Walk a body; also the locals that were changed without an assignment."""
        around, self.rebound = self.rebound, set()
        region, ends = run(types)
        found = self.rebound
        self.rebound = around | found
        return region, ends, found

    def _mark(self) -> list[tuple[list[object], int]]:
        lists: list[list[object]] = [self.returns, self.decisions]  # type: ignore[list-item]
        lists += [target.exits for targets in self.labels.values() for target in targets]  # type: ignore[misc]
        return [(items, len(items)) for items in lists]

    def _cut(self, mark: list[tuple[list[object], int]]) -> None:
        for items, length in mark:
            del items[length:]

    def unrolled_loop(self, node: nodes.For, items: Sequence[Abstract]) -> None:
        """A `for` over a tuple: the body once an item, each with its own types."""
        for item in items:
            if self.env is None:
                return
            target = Target(self.fresh_label())
            region = Region()
            base = self.live_env
            env = base.copy()

            def body(item: Abstract = item) -> None:
                self.push(item)
                self.walk(node.body)

            end = self._targeting(node.label, target, lambda r=region, e=env, f=body: self.in_region(r, e, f))  # type: ignore[misc]
            self._finish_block(base, region, target, end, None)

    def _for(self, node: nodes.For) -> None:
        self.at(node.loc)
        self.loop_over(node, self.live_env.stack[-1])
        if self.env is not None:
            self.pop()
            self.walk(node.exhausted)

    # exceptions

    def _try(self, node: nodes.Try) -> None:
        if self.passing is not None and id(node) in self.passing:
            self.walk(node.body)
            return
        base = self.live_env
        loc = self.b.loc
        names = sorted(assigned_in(node.body) & node.live_handler)
        mirror = Mirror({name: type_of(base.locals.get(name)) for name in names})
        if names:
            self._try_trial(node, base, mirror)
        body = Region()
        self.mirrors.append(mirror)
        end = self.in_region(body, base.copy(), lambda: self.walk(node.body))
        self.mirrors.pop()
        self.b.loc = loc
        if not any(op.defn.raises(op) or (op.name in _POLLED and not self.options.kernel) for op in body.walk()):
            self._splice(body)
            self.env = None if end is None else end.env
            return
        self._handler(node, base, mirror, body, end)

    def _try_trial(self, node: nodes.Try, base: Env, mirror: Mirror) -> None:
        """Walk the body once to see what is stored, then declare the variables. Once an environment: a `try` inside of others is
        walked again with each of them."""
        memo = (id(node), tuple((name, value.type) for name, value in sorted(base.locals.items())))
        stored_before = self.kept.get(memo)
        if stored_before is None:
            mark = self._mark()
            self.mirrors.append(mirror)
            self.in_region(Region(), base.copy(), lambda: self.walk(node.body))
            self.mirrors.pop()
            self._cut(mark)
            self.kept[memo] = dict(mirror.types)
        else:
            mirror.types.update(stored_before)
        for name, stored in list(mirror.types.items()):
            if stored is None:
                del mirror.types[name]
                continue
            before = base.locals.get(name)
            type_ = generalise(stored)
            if before is None:
                type_ = MaybeType(type_)
            mirror.types[name] = type_
            inits = convert(self.b, before, type_).leaves
            mirror.refs[name] = [self.b.value("var", leaf) for leaf in inits]
        self.env = base

    def _handler(self, node: nodes.Try, base: Env, mirror: Mirror, body: Region, end: Exit | None) -> None:
        exc = Value(EXC, "exc")
        handler = Region([exc])
        env = base.copy()
        for name in assigned_in(node.body):
            env.locals.pop(name, None)
        del env.stack[node.depth :]

        def run() -> None:
            for name, type_ in mirror.types.items():
                assert type_ is not None
                leaves = [self.b.value("var.get", ref) for ref in mirror.refs[name]]
                self.live_env.locals[name] = rejoined(type_, iter(leaves), [base.locals.get(name)])
            self.push(Exc(exc))
            self.walk(node.handler)

        loc = self.b.loc
        handled = self.in_region(handler, env, run)
        self.b.loc = loc
        ends: list[tuple[Exit, str, dict[str, object]]] = [(e, "yield", {}) for e in (end, handled) if e is not None]
        if len(handler.ops) == 1 and handler.ops[0].name == "reraise" and handler.ops[0].operands == [exc]:
            self._splice(body)  # a handler that only raises again
            self.env = None if end is None else end.env
            return
        self._join(base, "try", [], [body, handler], ends, {}, None)


#: Ops that may take long: what a signal's handler raises, KeyboardInterrupt above all, may start there.
_POLLED = frozenset({"loop", "for", "map", "map_into"})

_NODES: dict[type, Callable[..., None]] = {
    nodes.Seq: ControlWalk.walk,
    nodes.Code: lambda w, node: w.run_code(node.insts),
    nodes.If: ControlWalk._if,
    nodes.Block: ControlWalk._block,
    nodes.Loop: ControlWalk._loop,
    nodes.For: ControlWalk._for,
    nodes.Try: ControlWalk._try,
    nodes.Exit: ControlWalk._leave,
    nodes.Continue: ControlWalk._leave,
    nodes.Return: ControlWalk._return,
    nodes.Raise: ControlWalk._raise,
    nodes.Reraise: ControlWalk._reraise,
}
