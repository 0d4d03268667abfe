"""Cuts the host's function into what the host does, kernels of one thread, and kernels over the turns of parallel loops.

Takes the entry after `inline`; changes it in place, and adds the kernels to its module. The host does what computes numbers from
its arguments and from sizes, and control flow with launches in it. What touches memory is gathered, between two launches, into one
kernel of one thread (a task), with the arithmetic on what it reads. A value that a task makes and others need goes through a place
of the scratch arrays; where the host needs it (a condition, the bounds of a loop, a result) it is read back. Legal because launches
run in order, and what moves across others is pure.
"""

from __future__ import annotations

from dataclasses import field

from quadrants._frozen import frozen, record
from quadrants.diagnostics import Code, CompileError, DecisionKind
from quadrants.ir import Effect, Function, Module, Op, Region, Value
from quadrants.ir.builder import Builder
from quadrants.ir.rewrite import effects_of
from quadrants.passes.context import PassContext, location_of
from quadrants.passes.folds import SAME
from quadrants.passes.forking import Plan
from quadrants.passes.launches.kernels import PASS, KernelMaker, Places
from quadrants.passes.launches.loops import LoopLaunch
from quadrants.passes.parallelise import planned
from quadrants.passes.refusals import Refusal
from quadrants.passes.structure import free_values
from quadrants.types import Scalar

#: What the host runs though it reads an array, or may raise.
_OF_HOST = frozenset({"dim", "check", "index"})


@frozen
class Widths:
    """How launches are cut: threads of a block, and the most threads of a block and blocks of a grid that the device has."""

    block: int = 128
    most_threads: int = 1024
    most_blocks: int = 1 << 31


@frozen(eq=False)
class Scratch:
    """The arrays that the entry takes at its end: their types, and how many elements each has."""

    sizes: tuple[tuple[Scalar, int], ...]


@record
class Splitter:
    """The work on one entry."""

    module: Module
    entry: Function
    context: PassContext
    widths: Widths
    makers: dict[Value, Op] = field(default_factory=dict)
    plans: dict[Op, Plan] = field(default_factory=dict)
    users: dict[Value, list[Op]] = field(default_factory=dict)
    host: set[Value] = field(default_factory=set)  # what the host knows
    places: Places = field(default_factory=Places)
    read: dict[tuple[int, Value], Value] = field(default_factory=dict)  # what was read back, by the region

    def run(self) -> Scratch:
        """Do it."""
        entry = self.entry
        for op in entry.body.walk():
            self.makers.update(dict.fromkeys(op.results, op))
            for operand in op.operands:
                self.users.setdefault(operand, []).append(op)
        self._plan()
        self.host.update(entry.params)
        self.region(entry.body)
        entry.params += self.places.params.values()
        return Scratch(tuple((dtype, self.places.sizes[dtype]) for dtype in self.places.params))

    def _plan(self) -> None:
        """Which loops are launched."""
        for loop, found in planned(self.entry, self.context):
            refusal = found if isinstance(found, Refusal) else None
            if isinstance(found, Plan) and found.arrays:
                refusal = Refusal("array-fold", "its turns combine elements of an array that they share", loop)
            if refusal is not None:
                text = f"it runs in one thread of the device: {refusal.text}"
                self.context.note(PASS, DecisionKind.REFUSED, self.entry, refusal.op or loop, refusal.code, text)
                continue
            assert isinstance(found, Plan)
            self.plans[loop] = found

    # The walk

    def region(self, region: Region) -> None:
        """Cut one region that the host runs."""
        self.host.update(arg for arg in region.args if isinstance(arg.type, Scalar))
        b = Builder(Region())
        task: list[Op] = []
        for op in region.ops:
            b.loc = op.loc
            self.resolve(op)
            if op in self.plans:
                self.flush(task, b)
                task = self.launch(op, b)
            elif self.is_control(op):
                self.flush(task, b)
                task = []
                self.on_host(op, b)
                for nested in op.regions:
                    self.region(nested)
                b.region.ops.append(op)
                self.host.update(op.results)
            elif self.is_of_host(op):
                if op.name == "index":
                    op.attrs["checked"] = True  # which costs nothing here
                if op.can_raise:  # behind what was before it
                    self.flush(task, b)
                    task = []
                b.region.ops.append(op)
                self.host.update(op.results)
            elif op.name != "view":  # which is made again where it is used
                op.attrs.pop("parallel", None)
                task.append(op)
        region.ops[:] = b.region.ops

    def resolve(self, op: Op) -> None:
        """Use what results of loops stand for."""
        for one in (op, *_inside(op)) if self.places.same else ():
            one.operands[:] = map(self.places.resolve, one.operands)

    def is_control(self, op: Op) -> bool:
        """Whether an op is control flow of the host: with launches in it, or a way out of it."""
        if op.defn.terminator:
            return True
        if not op.regions:
            return False
        if any(inner in self.plans for region in op.regions for inner in region.walk()):
            if op.name == "try":
                raise CompileError(
                    Code.UNSUPPORTED_CAPABILITY,
                    "a parallel loop inside of try cannot run on a device",
                    location_of(self.entry, op),
                    hint="leave the try out, or write qd.loop_config(serialize=True) in front of the loop",
                )
            return True
        return _leaves(op)

    def is_of_host(self, op: Op) -> bool:
        """Whether the host runs an op: arithmetic on what it knows, and checks of that."""
        used = (*op.operands, *(value for region in op.regions for value in free_values(region)))
        if not self.host.issuperset(used):
            return False
        if op.name in _OF_HOST:
            return True
        scalars = all(isinstance(value.type, Scalar) for value in (*used, *op.results))
        return scalars and effects_of(op) == Effect.NONE and all(map(_computes, (op, *_inside(op))))

    # Kernels

    def maker(self, name: str) -> KernelMaker:
        """What builds the next kernel."""
        number = 1
        while f"{self.entry.name}.{name}{number}" in self.module.functions:
            number += 1
        return KernelMaker(self.entry, f"{self.entry.name}.{name}{number}", self.makers, self.host, self.places)

    def flush(self, task: list[Op], b: Builder) -> None:
        """Launch a task, if there is anything to do."""
        if not task:
            return
        inside = {one for op in task for one in (op, *_inside(op))}
        made = self.maker("task")
        made.body(task)
        for op in task:
            for result in op.results:
                if any(user not in inside for user in self.users.get(result, ())):
                    made.store(result, self.places.of(self.entry, result, op))
        self.add(made, b, b.i64(1), 1)

    def launch(self, loop: Op, b: Builder) -> list[Op]:
        """Launch a parallel loop. Gives the ops that combine what its threads have found: the beginning of the next task."""
        plan = self.plans[loop]
        self.on_host(loop, b, 3)
        block = min(int(loop.attr("block")) or self.widths.block, self.widths.most_threads)
        work = LoopLaunch(loop, plan, block, self.widths.most_blocks, self.maker("loop"), self.places, b)
        blocks, ops = work.emit()
        self.add(work.maker, b, blocks, work.block)
        for op in ops:
            self.makers.update(dict.fromkeys(op.results, op))
        told = [f"a kernel over its turns, {work.block} threads a block"]
        if any(fold.kind != SAME for fold in plan.folds):
            told.append("what its threads find is combined behind it")
        self.context.note(PASS, DecisionKind.APPLIED, self.entry, loop, "launch", "; ".join(told))
        for fold, result in zip(plan.folds, loop.results):
            if fold.kind == SAME:
                self.places.same[result] = loop.operands[3 + fold.index]
        return ops

    def add(self, made: KernelMaker, b: Builder, blocks: Value, block: int) -> None:
        """Put a kernel into the module, and its launch where it belongs."""
        kernel = made.function()
        self.module.functions[kernel.name] = kernel
        b.op("launch", blocks, *made.given, callee=kernel.name, block=block)

    # What the host reads

    def on_host(self, op: Op, b: Builder, count: int | None = None) -> None:
        """Have the host know the operands of an op."""
        end = len(op.operands) if count is None else count
        op.operands[:end] = [self.known(value, op, b) for value in op.operands[:end]]

    def known(self, value: Value, op: Op, b: Builder) -> Value:
        """A value as the host knows it: read back, if a kernel has made it."""
        if value in self.host:
            return value
        known = self.read.get((id(b), value))
        if known is not None:
            return known
        array, place = self.places.of(self.entry, value, op)
        text = "the host waits for a value that a kernel computes"
        self.context.note(PASS, DecisionKind.APPLIED, self.entry, op, "read-back", text)
        found = b.value("load", array, b.i64(place), checked=False, wrap=False)
        self.host.add(found)
        self.read[id(b), value] = found
        return found


def _computes(op: Op) -> bool:
    return op.name in ("yield", "if") or op.defn.reference is not None


def _leaves(op: Op) -> bool:
    """Whether there is a way out of an op beside its end."""
    inside = _inside(op)
    labels = {one.attrs.get("label") for one in (op, *inside) if one.regions}
    return any(
        one.name == "return" or (one.name in ("break", "continue") and one.attrs["label"] not in labels)
        for one in inside
    )


def _inside(op: Op) -> list[Op]:
    return [inner for region in op.regions for inner in region.walk()]
