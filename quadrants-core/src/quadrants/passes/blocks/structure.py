"""Which parts of a kernel are done by the block as a whole, and which values are the same for all of its threads.

Takes a kernel into which the functions that need it are inlined; gives a `Plan`. An op is *wide* if it contains something
that threads do together, or leaves the inside of a wide op; everything else is *narrow* and stays inside of a loop over the
threads. A wide op is *masked* if threads may part in it. A value is uniform if it cannot differ between the threads of a
block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from quadrants.ir import Effect, Function, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.origin import Loc
from quadrants.passes.structure import LABELLED

#: Ops without operands that give the same to all threads of a block.
UNIFORM = frozenset(("block.index", "block.size", "grid.size", "lane.count", "shared.array", "shared.dynamic"))
BARRIERS = frozenset(("barrier", "barrier.count", "barrier.all", "barrier.any"))
_DIVERGENT = frozenset(("thread.index", "lane.index", "local.array"))
JUMPS = frozenset(("break", "continue"))


class Refused(Exception):
    """A kernel that cannot be made into loops; the text says why."""

    def __init__(self, message: str, loc: Loc | None) -> None:
        super().__init__(message)
        self.message = message
        self.loc = loc


def is_collective(op: Op) -> bool:
    """Whether threads do the op together."""
    return bool(op.defn.effects & Effect.COLLECTIVE)


def has_collective(op: Op) -> bool:
    """Whether the op, or one inside, is done together."""
    return is_collective(op) or any(has_collective(inner) for region in op.regions for inner in region.ops)


def leaves(op: Op) -> bool:
    """Whether control can go from the inside of an op to an op around it, or out of the function."""
    inside = {inner.attrs["label"] for inner in _inner(op) if inner.name in LABELLED}
    if op.name in LABELLED:
        inside.add(op.attrs["label"])
    return any(
        inner.name == "return" or (inner.name in JUMPS and inner.attrs["label"] not in inside) for inner in _inner(op)
    )


def _inner(op: Op) -> Iterator[Op]:
    for region in op.regions:
        yield from region.walk()


@dataclass(eq=False, slots=True)
class Plan:
    """See the module's docstring.

    Args:
        function: the kernel.
        tail: the first op of the body from which on nothing is done together: the rest is one loop over the threads.
        wide: the wide ops with regions.
        masked: those among them in which threads may part.
        returns_masked: whether threads may return one by one before the tail.
        divergent: the values that may differ between threads.
    """

    function: Function
    tail: int = 0
    wide: set[Op] = field(default_factory=set)
    masked: set[Op] = field(default_factory=set)
    returns_masked: bool = False
    divergent: set[Value] = field(default_factory=set)

    @property
    def any_masked(self) -> bool:
        """Whether threads may part at all, so that each loop has to ask who takes part."""
        return bool(self.masked) or self.returns_masked

    def is_uniform(self, value: Value) -> bool:
        return value not in self.divergent

    def once(self, op: Op) -> bool:
        """Whether the op is done once for the block."""
        if op.regions or op.defn.terminator or is_collective(op):
            return False
        if op.name in UNIFORM:
            return True
        return not op.defn.effects and op.name not in _DIVERGENT and all(map(self.is_uniform, op.operands))


def plan(function: Function) -> Plan:
    """The plan of a kernel. `for` loops that threads leave at different times become endless loops first, and threads that have
    nothing left to do leave."""
    _leave_early(function.body)
    while True:
        made = Plan(function)
        body = function.body
        last = [position for position, op in enumerate(body.ops) if has_collective(op)]
        made.tail = last[-1] + 1 if last else 0
        _mark(made, Region(body.args, body.ops[: made.tail]))
        while _spread(made):
            pass
        loops = [op for op in made.wide if op.name == "for" and _parts(made, op)]
        if not loops:
            return made
        for op in loops:
            _open(function, op)


def _leave_early(region: Region) -> None:
    """Where only a `return` follows an `if`, its branches return: no barrier in one of them waits for those in the other."""
    if len(region.ops) < 2 or region.ops[-1].name != "return":
        return
    op = region.ops[-2]
    if op.name != "if" or op.results or not has_collective(op):
        return
    for inner in op.regions:
        last = inner.ops[-1]
        if last.name == "yield":
            inner.ops[-1] = Op(region.ops[-1].defn, [], [], {}, [], last.loc)
        _leave_early(inner)


def _mark(plan: Plan, region: Region) -> None:
    """Find the wide ops of a region that belongs to the block."""
    for op in region.ops:
        if op.regions and (has_collective(op) or leaves(op)):
            if op.name not in ("if", "block", "loop", "for"):
                raise Refused(
                    f"a barrier, or another op of several threads, cannot stand inside of a {op.name}", op.loc
                )
            plan.wide.add(op)
            for inner in op.regions:
                _mark(plan, inner)


def _parts(plan: Plan, op: Op) -> bool:
    return op in plan.masked or any(value in plan.divergent for value in op.operands[:3])


def _open(function: Function, op: Op) -> None:
    """A `for` as an endless loop with a test."""
    (body,) = op.regions
    start, stop, step, *inits = op.operands
    label = op.attrs["label"]
    i, *carried = body.args
    for jump in list(_inner(op)):
        if jump.name == "continue" and jump.attrs["label"] == label:
            region = _region_of(op, jump)
            builder = Builder(Region())
            builder.loc = jump.loc
            following = builder.value("add", i, step)
            region.ops[-1:] = [*builder.region.ops, jump]
            jump.operands.insert(0, following)
    head = Builder(Region([i, *carried]))
    head.loc = op.loc
    up = head.value("cmp", step, head.i64(0), pred="gt")
    more = head.value("select", up, head.value("cmp", i, stop, pred="lt"), head.value("cmp", i, stop, pred="gt"))
    done = Region()
    with head.into(done):
        head.op("break", *carried, label=label)
    goes_on = Region()
    with head.into(goes_on):
        head.op("yield")
    head.op("if", more, regions=[goes_on, done])
    head.region.ops += body.ops
    types = tuple(value.type for value in inits)
    loop = Builder(Region())
    loop.loc = op.loc
    made = loop.op("loop", start, *inits, regions=[head.region], label=label, result_types=types)
    made.results = op.results
    region = _region_of_function(function, op)
    region.ops[region.ops.index(op)] = made


def _region_of(parent: Op, op: Op) -> Region:
    for region in parent.regions:
        if any(inner is op for inner in region.ops):
            return region
        for inner in region.ops:
            if inner.regions and any(x is op for x in _inner(inner)):
                return _region_of(inner, op)
    raise AssertionError("the op is not inside")


def _region_of_function(function: Function, op: Op) -> Region:
    if any(inner is op for inner in function.body.ops):
        return function.body
    for outer in function.body.ops:
        if outer.regions and any(x is op for x in _inner(outer)):
            return _region_of(outer, op)
    raise AssertionError("the op is not in the function")


# Divergence: values become divergent and ops masked, never the other way, until nothing changes.


def _spread(plan: Plan) -> bool:
    before = (len(plan.divergent), len(plan.masked), plan.returns_masked)
    _spread_region(plan, Region(plan.function.body.args, plan.function.body.ops[: plan.tail]), ())
    return before != (len(plan.divergent), len(plan.masked), plan.returns_masked)


def _spread_region(plan: Plan, region: Region, around: tuple[Op, ...]) -> None:
    for op in region.ops:
        if op in plan.wide:
            _spread_wide(plan, op, around)
        elif op.defn.terminator:
            _spread_jump(plan, op, around)
        elif op.name in BARRIERS or plan.once(op):
            continue  # the results are uniform
        else:
            plan.divergent.update(op.results)


def _spread_wide(plan: Plan, op: Op, around: tuple[Op, ...]) -> None:
    if op.name == "if" and op.operands[0] in plan.divergent:
        plan.masked.add(op)
    if op.name in ("loop", "for"):
        skip = 3 if op.name == "for" else 0
        inits = op.operands[skip:]
        (body,) = op.regions
        args = body.args[1:] if op.name == "for" else body.args
        for init, arg in zip(inits, args):
            if op in plan.masked or init in plan.divergent:
                plan.divergent.add(arg)
        if op.name == "for":
            for arg, result in zip(args, op.results):
                if arg in plan.divergent or result in plan.divergent:
                    plan.divergent.update((arg, result))
    if op in plan.masked:
        plan.divergent.update(op.results)
        if op.name in ("loop", "for"):
            plan.divergent.update(op.regions[0].args)
    for region in op.regions:
        _spread_region(plan, region, (*around, op))


def _spread_jump(plan: Plan, op: Op, around: tuple[Op, ...]) -> None:
    if op.name == "return":
        if any(outer in plan.masked for outer in around):
            plan.returns_masked = True
            _leave_loops(plan, around)
        return
    if op.name == "yield":
        at, target = len(around) - 1, around[-1]
    elif op.name in JUMPS:
        at = next(k for k, outer in enumerate(around) if outer.attrs.get("label") == op.attrs["label"])
        target = around[at]
    else:
        return
    if any(outer in plan.masked for outer in around[at + 1 :]):
        plan.masked.add(target)
        _leave_loops(plan, around[at + 1 :])
    goes = target.results
    if op.name == "continue":
        goes = target.regions[0].args[1:] if target.name == "for" else target.regions[0].args
    for operand, value in zip(op.operands, goes):
        if operand in plan.divergent or target in plan.masked:
            plan.divergent.add(value)


def _leave_loops(plan: Plan, around: tuple[Op, ...]) -> None:
    """Threads leave one by one what is around: an endless loop there has to see when all have left."""
    plan.masked.update(op for op in around if op.name == "loop")


def sources_of(function: Function) -> dict[Value, list[Value]]:
    """What flows into the results, and into the arguments of the regions, of each op of control flow."""
    found: dict[Value, list[Value]] = {}

    def flow(into: list[Value], values: list[Value]) -> None:
        for target, value in zip(into, values):
            found.setdefault(target, []).append(value)

    def visit(region: Region, parent: Op | None, targets: dict[object, Op]) -> None:
        for op in region.ops:
            if op.name in ("loop", "for"):
                skip = int(op.name == "for")
                flow(op.regions[0].args[skip:], op.operands[3 * skip :])
                if skip:
                    flow(op.results, op.regions[0].args[1:])
            elif op.name == "yield" and parent is not None:
                flow(parent.results, op.operands)
            elif op.name in JUMPS:
                target = targets[op.attrs["label"]]
                skip = int(target.name == "for")
                flow(target.regions[0].args[skip:] if op.name == "continue" else target.results, op.operands)
            within = {**targets, op.attrs["label"]: op} if op.name in LABELLED else targets
            for inner in op.regions:
                visit(inner, op, within)

    visit(function.body, None, {})
    return found
