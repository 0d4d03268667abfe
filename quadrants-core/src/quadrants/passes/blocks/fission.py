"""The kernel as loops over the threads of a block: see the package."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from quadrants.ir import Function, Module, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import clone_function, is_removable, max_label
from quadrants.passes.blocks import collectives
from quadrants.passes.blocks.inline import inline
from quadrants.passes.blocks.structure import BARRIERS, Plan, Refused, has_collective, is_collective, plan, sources_of
from quadrants.passes.blocks.threads import BYTES, Launch, State, ThreadLoop, host_type, read, write
from quadrants.types import I32, I64, ArrayType, LiteralType, TupleType

#: The exception of a barrier that only some threads reach: a class with a message, which the launch makes an error of the user's.
DIVERGENCE = "quadrants.simt.signals:BarrierDivergence"
#: Where a thread waits that has left the kernel.
_LEFT = -1
#: Ops that are cheaper than a load, and how many of them.
_CHEAP = frozenset(
    ("add", "sub", "mul", "and", "or", "xor", "not", "cast", "cmp", "min", "max", "select", "shl", "shr")
)
_NEAR, _FAR = 8, 1 << 20
_SHARED = frozenset(("shared.array", "shared.dynamic"))
#: What arrays that differ between threads, or come out of where threads part, are made by again.
_REMADE = _SHARED | {"view", "local.array"}
_TEXT = "some threads of the block wait at the barrier, and others do not reach it"


def run(module: Module) -> Module:
    """The module of the host level; the one that is given stays as it is."""
    kernel = clone_function(module.functions[module.entry])
    inline(module, kernel)
    entry = _Fission(kernel).function()
    others = {
        name: f for name, f in module.functions.items() if name != module.entry and _is_called(name, module, entry)
    }
    functions = {entry.name: entry}
    for name, function in others.items():
        functions[name] = clone_function(function)
        _to_host(functions[name])
    return Module(functions, entry.name)


def _is_called(name: str, module: Module, entry: Function) -> bool:
    """Whether a function is reached from what is left of the kernel."""
    pending, seen = [entry], set()
    while pending:
        for op in pending.pop().body.walk():
            callee = op.attrs.get("callee")
            if isinstance(callee, str) and callee not in seen:
                seen.add(callee)
                pending.append(module.functions[callee])
    return name in seen


def _to_host(function: Function) -> None:
    """The types and attributes of a function of the host."""
    function.attrs.pop("level", None)
    function.result_types = tuple(map(host_type, function.result_types))
    values = list(function.params)
    for op in function.body.walk():
        values += op.results
        values += [arg for region in op.regions for arg in region.args]
        op.attrs = {k: host_type(v) if isinstance(v, ArrayType) else v for k, v in op.attrs.items()}
        if "result_types" in op.attrs:
            op.attrs["result_types"] = tuple(map(host_type, op.attr("result_types")))
    for value in values:
        value.type = host_type(value.type)


@dataclass(eq=False, slots=True)
class _Wide:
    """A wide op around the present place: where its jumps go.

    Args:
        op: the op of the kernel.
        masked: whether threads part in it.
        ends: where threads wait that have left it.
        turns: where they wait for the next turn, in a loop.
        label: that of the op that is made for it, unless it is an `if`.
        kept: the positions of those results, or carried values, that are uniform.
    """

    op: Op
    masked: bool
    ends: int
    turns: int = 0
    label: int = -1


@dataclass(eq=False, slots=True)
class _Fission:
    """Rewrites one kernel."""

    kernel: Function
    plan: Plan = field(init=False)
    state: State = field(init=False)
    around: list[_Wide] = field(default_factory=list)
    block_label: int = -1
    places: int = 0

    def function(self) -> Function:
        """The function of the host."""
        kernel = self.kernel
        self.plan = plan(kernel)
        names = ("grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z", "first", "count")
        params = [*kernel.params, *(Value(I64, name) for name in names), Value(BYTES, "dynamic")]
        shape = params[len(kernel.params) :]
        body, blocks = Region(), Region([Value(I64, "block")])
        entry, b = Builder(body), Builder(blocks)
        rows = entry.value("mul", shape[4], shape[5])
        threads = entry.value("mul", rows, shape[3])
        launch = Launch(tuple(shape[:3]), tuple(shape[3:6]), rows, threads, shape[8])
        self.state = State(entry, b, launch, max_label(kernel.body) + 1)
        self.state.env.update((param, param) for param in kernel.params)
        loop, self.block_label = self.state.new_label(), self.state.new_label()
        if self.plan.any_masked:
            self.state.wait = self.state.array(I32)
        self._find_crossing()
        inside = Region()
        number = blocks.args[0]
        self._block_index(number)
        with b.into(inside):
            self._whole_block()
        b.op("block", regions=[inside], label=self.block_label)
        b.op("continue", label=loop)
        last = entry.value("add", shape[6], shape[7])
        entry.op("for", shape[6], last, entry.i64(1), regions=[blocks], label=loop)
        entry.op("return")
        attrs = {name: value for name, value in kernel.attrs.items() if name not in ("level", "kernel")}
        return Function(kernel.name, params, (), body, kernel.scope, attrs)

    def _block_index(self, number: Value) -> None:
        b, grid = self.state.b, self.state.launch.grid
        rest = b.value("floordiv", number, grid[0])
        index = (b.value("mod", number, grid[0]), b.value("mod", rest, grid[1]), b.value("floordiv", rest, grid[1]))
        self.state.launch.index = index

    def _whole_block(self) -> None:
        """The code of one block."""
        ops = self.kernel.body.ops
        if self.state.wait is not None:
            with self.state.each_thread(masked=False) as loop:
                write(self.state.b, self.state.const_i32(0), self.state.wait, loop.number)
        rest = self._ops(ops[: self.plan.tail])
        self._tail(rest, ops[self.plan.tail :])
        if self.state.b.region.terminator is None:
            self.state.b.op("yield")

    def _tail(self, before: list[Op], ops: list[Op]) -> None:
        """What comes behind the last op that threads do together: returns only end the turn of the thread."""
        if [op.name for op in ops] == ["return"] and not before:
            return
        b = self.state.b
        with self.state.each_thread() as loop:
            label, body = self.state.new_label(), Region()

            def leave() -> None:
                b.op("break", label=label)

            loop.on_return = leave
            with b.into(body):
                loop.ops([*before, *ops])
            b.op("block", regions=[body], label=label)

    # Which values are kept

    def _find_crossing(self) -> None:
        """The divergent values that are read in another loop than the one that they are made in."""
        makers: dict[Value, Op] = {}
        places: dict[Value, int] = {}
        reads: list[tuple[Value, int]] = []
        self._survey(Region([], self.kernel.body.ops[: self.plan.tail]), places, reads, makers)
        self._survey_narrow(self.kernel.body.ops[self.plan.tail :], places, reads, makers)
        crossing = {v for v, place in reads if v in self.plan.divergent and places.get(v) not in (place, None)}
        crossing |= {v for v, place in places.items() if place < 0 and v in self.plan.divergent}
        makers |= self._one_of(crossing)
        pending = list(crossing)
        depths: dict[Value, int] = {}
        while pending:  # what a value that is made again is made of is read there too
            value = pending.pop()
            maker = makers.get(value)
            if maker is None or not (isinstance(value.type, ArrayType) or self._is_cheap(value, makers, depths)):
                continue
            if isinstance(value.type, ArrayType) and maker.name not in _REMADE:
                raise Refused("an array that differs between threads cannot be kept across a barrier", maker.loc)
            self.state.makers[value] = maker
            for operand in maker.operands:
                if operand in self.plan.divergent and operand not in crossing:
                    crossing.add(operand)
                    pending.append(operand)
        self.state.crossing = {value for value in crossing if value not in self.state.makers}

    def _one_of(self, values: set[Value]) -> dict[Value, Op]:
        """The op behind arrays that come out of, or into, a wide op as the same one on every way: one of the block's."""
        found: dict[Value, Op] = {}
        sources, shared = (
            sources_of(self.kernel),
            {op.result: op for op in self.kernel.body.walk() if op.name in _SHARED},
        )
        for value in values:
            if not isinstance(value.type, ArrayType) or value not in sources:
                continue
            seen, pending = {value}, [value]
            while pending:
                for source in sources.get(pending.pop(), ()):
                    if source not in seen:
                        seen.add(source)
                        pending.append(source)
            roots = {source for source in seen if source not in sources}
            if len(roots) == 1 and (root := roots.pop()) in shared:
                found[value] = shared[root]
        return found

    def _is_cheap(self, value: Value, makers: dict[Value, Op], depths: dict[Value, int]) -> bool:
        """Whether a value is better computed again than kept: a few simple steps from the index of the thread."""
        if value not in depths:
            depths[value] = _FAR
            maker = makers.get(value)
            if maker is not None and maker.name in ("thread.index", "lane.index"):
                depths[value] = 1
            elif maker is not None and maker.name in _CHEAP:
                parts = [v for v in maker.operands if v in self.plan.divergent]
                depths[value] = 1 + sum(depths[v] for v in parts if self._is_cheap(v, makers, depths) or True)
        return depths[value] <= _NEAR

    def _survey(
        self, region: Region, places: dict[Value, int], reads: list[tuple[Value, int]], makers: dict[Value, Op]
    ) -> None:
        """Number the loops to be: every wide op ends one. Values of wide ops are in none, which is -1."""
        for op in region.ops:
            if op in self.plan.wide or is_collective(op):
                self.places += 1
                reads += [(value, -2) for value in op.operands]
                for inner in op.regions:
                    places.update((arg, -1) for arg in inner.args)
                    self._survey(inner, places, reads, makers)
                    self.places += 1
                places.update((value, -1) for value in op.results)
                self.places += 1
            elif not self.plan.once(op):
                self._survey_narrow([op], places, reads, makers)

    def _survey_narrow(
        self, ops: Iterable[Op], places: dict[Value, int], reads: list[tuple[Value, int]], makers: dict[Value, Op]
    ) -> None:
        for op in ops:
            for value in op.results:
                places[value] = self.places
                makers[value] = op
            for inner in (op, *(inner for region in op.regions for inner in region.walk())):
                reads += [(value, self.places) for value in inner.operands]

    # Code of the block

    def _ops(self, ops: list[Op]) -> list[Op]:
        """Write the ops of a region that belongs to the block; gives those at the end that still need a loop."""
        b = self.state.b
        pending: list[Op] = []
        for op in ops:
            b.loc = op.loc
            if self.plan.once(op):
                self._once(op)
            elif op in self.plan.wide or is_collective(op):
                again = op.operands if is_collective(op) else ()  # other threads read what is else made again by each
                self._loop_over(pending, [(value, value) for value in again if value in self.state.makers])
                pending = []
                b.loc = op.loc
                _WIDE[op.name](self, op) if op in self.plan.wide else self._collective(op)
            elif op.defn.terminator and op.name in _JUMPS:
                _JUMPS[op.name](self, op, pending)
                return []
            else:
                pending.append(op)
        return pending

    def _region(self, region: Region) -> None:
        """A region of a wide op."""
        rest = self._ops(region.ops)
        if rest:  # it ends in an exception, or never
            self._loop_over(rest)
            if self.state.b.region.terminator is None:
                self._dead_end()

    def _once(self, op: Op) -> None:
        """Do an op once for the block."""
        state = self.state
        if state.wait is not None and any(op.attrs.get(promise) for promise in ("nonzero", "nowrap")):
            attrs = {name: value for name, value in op.attrs.items() if name not in ("nonzero", "nowrap")}
        else:
            attrs = op.attrs
        plain = Op(op.defn, op.operands, op.results, attrs, [], op.loc)
        loop = ThreadLoop(state, state.launch.rows, state.launch.rows)
        loop.op(plain)
        state.env.update((value, loop.values[value]) for value in op.results)

    def _loop_over(self, ops: list[Op], moves: Iterable[tuple[Value, Value]] = (), waits: int | None = None) -> None:
        """A loop over the threads: the ops, then `moves` of values to where they are kept, then wait at a place."""
        again = self.state.makers
        moves = [(value, kept) for value, kept in moves if not (kept in again and isinstance(kept.type, ArrayType))]
        if not moves and waits is None and not any(map(self._matters, ops)):
            return
        b = self.state.b
        with self.state.each_thread() as loop:
            for op in ops:
                loop.op(op)
                if b.region.terminator is not None:
                    return
                for value in op.results:
                    if value in self.state.crossing:
                        loop.keep(value, loop.values[value])
            registers = [loop.get(value) for value, _ in moves]
            for register, (_, kept) in zip(registers, moves):
                loop.keep(kept, register)
            if waits is not None:
                assert self.state.wait is not None
                write(b, self.state.const_i32(waits), self.state.wait, loop.number)

    def _matters(self, op: Op) -> bool:
        """Whether an op does something, or gives what is kept."""
        return not is_removable(op) or any(value in self.state.crossing for value in op.results)

    def _collective(self, op: Op) -> None:
        if op.name in BARRIERS:
            self._barrier_reached(op)
        collectives.emit(self.state, op)

    def _barrier_reached(self, op: Op) -> None:
        """All threads have to be at the barrier, but those that have left the kernel, or none."""
        state, b = self.state, self.state.b
        if state.wait is None:
            return
        here = collectives.count(state, lambda loop, waits: b.value("cmp", waits, state.const_i32(0), pred="eq"))
        left = collectives.count(state, lambda loop, waits: b.value("cmp", waits, state.const_i32(_LEFT), pred="eq"))
        nobody = b.value("cmp", here, b.i64(0), pred="eq")
        all_ = b.value("cmp", b.value("add", here, left), state.launch.threads, pred="eq")
        b.op("check", b.value("or", nobody, all_), exc=DIVERGENCE, args=TupleType((LiteralType(_TEXT),)))

    # Wide ops

    def _place(self) -> int:
        self.places += 1
        return self.places

    def _enter(self, op: Op) -> _Wide:
        masked = op in self.plan.masked
        made = _Wide(op, masked, self._place(), self._place())
        if op.name != "if":
            made.label = self.state.new_label()
        self.around.append(made)
        return made

    def if_(self, op: Op) -> None:
        if op in self.plan.masked:
            self._masked_if(op)
            return
        self._enter(op)
        b = self.state.b
        regions = [self._inner(region) for region in op.regions]
        self.around.pop()
        made = b.op("if", self.state.env[op.operands[0]], regions=regions)
        self._results(op, made)

    def _inner(self, region: Region) -> Region:
        """A region of a wide op as a region."""
        made = Region()
        with self.state.b.into(made):
            self._region(region)
        return made

    def _results(self, op: Op, made: Op) -> None:
        """The uniform results of an op, which the op that is made for it gives."""
        uniform = [value for value in op.results if self.plan.is_uniform(value)]
        self.state.env.update(zip(uniform, made.results))

    def _masked_if(self, op: Op) -> None:
        state, b = self.state, self.state.b
        assert state.wait is not None
        wide = self._enter(op)
        other = wide.turns
        # Threads that leave go first, so that those that do not are all there at a barrier.
        order = sorted(range(2), key=lambda k: any(map(has_collective, op.regions[k].ops)))
        places = [state.const_i32(0), state.const_i32(other)]
        with state.each_thread() as loop:
            condition = loop.get(op.operands[0])
            place = b.value("select", condition, places[order[0]], places[order[1]])
            write(b, place, state.wait, loop.number)
        self._if_any(op.regions[order[0]])
        self._go_on({0: wide.ends, other: 0})
        self._if_any(op.regions[order[1]])
        self._go_on({wide.ends: 0})
        self.around.pop()

    def _if_any(self, region: Region) -> None:
        """A region for the threads that take part, if there are any."""
        b = self.state.b
        some = self._anyone()
        inner, rest = self._inner(region), Region()
        with b.into(rest):
            b.op("yield")
        b.op("if", some, regions=[inner, rest])

    def _anyone(self) -> Value:
        state, b = self.state, self.state.b
        here = collectives.count(state, lambda loop, waits: b.value("cmp", waits, state.const_i32(0), pred="eq"))
        return b.value("cmp", here, b.i64(0), pred="gt")

    def _go_on(self, moves: dict[int, int]) -> None:
        """Threads that wait at a place go on at another one."""
        state, b = self.state, self.state.b
        assert state.wait is not None
        with state.each_thread(masked=False) as loop:
            waits = read(b, state.wait, loop.number)
            place = waits
            for source, target in moves.items():
                here = b.value("cmp", waits, state.const_i32(source), pred="eq")
                place = b.value("select", here, state.const_i32(target), place)
            write(b, place, state.wait, loop.number)

    def block(self, op: Op) -> None:
        wide = self._enter(op)
        b = self.state.b
        inner = self._inner(op.regions[0])
        self.around.pop()
        self._results(op, b.op("block", regions=[inner], label=wide.label))
        if wide.masked:
            self._go_on({wide.ends: 0})

    def loop(self, op: Op) -> None:
        skip = 3 if op.name == "for" else 0
        (body,) = op.regions
        args = body.args[1:] if op.name == "for" else body.args
        inits = op.operands[skip:]
        self._loop_over([], [(init, arg) for init, arg in zip(inits, args) if not self.plan.is_uniform(arg)])
        wide = self._enter(op)
        b, env = self.state.b, self.state.env
        carried = [(init, arg) for init, arg in zip(inits, args) if self.plan.is_uniform(arg)]
        first = [body.args[0]] if op.name == "for" else []
        made = Region([Value(host_type(arg.type), arg.hint) for arg in (*first, *(arg for _, arg in carried))])
        env.update(zip((*first, *(arg for _, arg in carried)), made.args))
        with b.into(made):
            self._region(body)
            if wide.masked:
                self._next_turn(wide)
        self.around.pop()
        operands = [env[value] for value in (*op.operands[:skip], *(init for init, _ in carried))]
        types = tuple(host_type(value.type) for value in op.results if self.plan.is_uniform(value))
        attrs = {} if op.name == "for" else {"result_types": types}
        self._results(op, b.op(op.name, *operands, regions=[made], label=wide.label, **attrs))
        if op.name == "for":  # what is carried out of it by running out of turns
            pairs = [(arg, value) for arg, value in zip(args, op.results) if not self.plan.is_uniform(value)]
            self._loop_over([], pairs)
        if wide.masked:
            self._go_on({wide.ends: 0})

    def _next_turn(self, wide: _Wide) -> None:
        """The end of a turn: those go on that continued; without any the loop is over."""
        b = self.state.b
        if b.region.terminator is not None:
            b.region.ops.pop()
        self._go_on({wide.turns: 0})
        more, over = Region(), Region()
        some = self._anyone()
        with b.into(more):
            b.op("yield")
        with b.into(over):
            b.op("break", label=wide.label)
        b.op("if", some, regions=[more, over])
        b.op("continue", label=wide.label)

    # Jumps

    def yield_(self, op: Op, pending: list[Op]) -> None:
        wide = self.around[-1]
        self._loop_over(pending, self._kept_moves(op, wide.op.results))
        b = self.state.b
        if b.region.terminator is None:
            b.op("yield", *self._given(op, wide.op.results))

    def _kept_moves(self, op: Op, values: list[Value]) -> list[tuple[Value, Value]]:
        return [(operand, value) for operand, value in zip(op.operands, values) if not self.plan.is_uniform(value)]

    def _given(self, op: Op, values: list[Value]) -> list[Value]:
        """The operands of a jump that are uniform at their target."""
        return [self.state.env[v] for v, value in zip(op.operands, values) if self.plan.is_uniform(value)]

    def jump(self, op: Op, pending: list[Op]) -> None:
        """`break` and `continue`."""
        at = next(k for k, wide in enumerate(self.around) if wide.op.attrs.get("label") == op.attrs["label"])
        wide = self.around[at]
        goes = wide.op.results
        if op.name == "continue":
            (body,) = wide.op.regions
            goes = body.args[1:] if wide.op.name == "for" else body.args
        kept = (
            wide.op.regions[0].args[1:] if wide.op.name == "for" else goes
        )  # a `for` gives what it carries at its end
        moves = self._kept_moves(op, kept)
        b = self.state.b
        if wide.masked:
            self._loop_over(pending, moves, wide.turns if op.name == "continue" else wide.ends)
            if b.region.terminator is None:
                self._dead_end()
            return
        self._loop_over(pending, moves)
        if b.region.terminator is None:
            b.op(op.name, *self._given(op, goes), label=wide.label)

    def return_(self, op: Op, pending: list[Op]) -> None:
        b = self.state.b
        if self.plan.returns_masked:
            self._loop_over(pending, (), _LEFT)
            if b.region.terminator is None:
                self._dead_end()
            return
        self._loop_over(pending)
        if b.region.terminator is None:
            b.op("break", label=self.block_label)

    def unreachable(self, op: Op, pending: list[Op]) -> None:
        self._loop_over(pending)
        if self.state.b.region.terminator is None:
            self._dead_end(unreachable=True)

    def _dead_end(self, unreachable: bool = False) -> None:
        """The end of a region where no thread takes part any more."""
        b = self.state.b
        if not self.around:
            b.op("break", label=self.block_label)
            return
        wide = self.around[-1]
        if unreachable and self.state.wait is None:
            b.op("unreachable")
            return
        uniform = [value for value in wide.op.results if self.plan.is_uniform(value)]
        zeros = [b.value("zero", type=host_type(value.type)) for value in uniform]
        if wide.op.name in ("loop", "for"):
            b.op("break", *zeros, label=wide.label)
        else:
            b.op("yield", *zeros)


_WIDE = {"if": _Fission.if_, "block": _Fission.block, "loop": _Fission.loop, "for": _Fission.loop}
_JUMPS = {
    "yield": _Fission.yield_,
    "break": _Fission.jump,
    "continue": _Fission.jump,
    "return": _Fission.return_,
    "unreachable": _Fission.unreachable,
}
