"""The reference interpreter of device code: runs a launch thread by thread, by the definitions of the ops.

Takes a module whose entry is a kernel, the leaf values of its parameters and the geometry; the kernel reads and writes the NumPy
arrays in place. The threads of a block take turns: each runs up to the next op that it has to do together with others, and
those that have come to the same place go on together. Where threads are at different places, the one that comes first in the
program goes first, so that they meet again as soon as the program's structure lets them. It raises `Raised` for an exception of
the program, with the thread; `Divergence` for a barrier that not all threads reach; `Race` and `Uninitialised` when `checks`
are on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadrants.ir import interp
from quadrants.ir.core import Function, Module, Op, Region
from quadrants.ir.interp import Host, StepLimit, _Exit, _through, python_host
from quadrants.ir.memcheck import Shadow
from quadrants.ir.threads import BlockMemory, Geometry, Group, Thread, unlinear
from quadrants.ir.values import Importer, InterpError, Raised, Undefined, imported, new_array
from quadrants.types import U8, ArrayType

__all__ = ["Divergence", "run_grid"]

_Env = dict[Any, Any]
#: Where a thread is: indices of ops in their regions and numbers of turns of loops, from the outside in. Smaller is earlier.
Path = tuple[int, ...]
_BLOCK_WIDE = ("barrier", "barrier.count", "barrier.all", "barrier.any")
_GRID_WIDE = "grid.barrier"
_FRAMES = 20_000


class Divergence(InterpError):
    """A barrier that some threads of a block reach and others do not."""

    def __init__(self, message: str, op: Op, thread: Thread) -> None:
        super().__init__(message)
        self.op = op
        self.thread = thread


@dataclass(slots=True)
class _Waiting:
    """What a thread stops for: an op that it does together with others."""

    op: Op
    values: tuple[Any, ...]
    path: Path


Steps = Generator[_Waiting, tuple[Any, ...], Any]


@dataclass(eq=False, slots=True)
class _Runner:
    """One thread on its way through the program."""

    machine: _Machine
    thread: Thread
    path: list[int] = field(default_factory=list)
    steps: Steps | None = None
    waiting: _Waiting | None = None
    done: bool = False

    def start(self, function: Function, args: tuple[Any, ...]) -> None:
        self.steps = self.call(function, args)
        self.resume(None)

    def resume(self, results: tuple[Any, ...] | None) -> None:
        """Run on to the next op to wait at, or to the end."""
        assert self.steps is not None
        self.waiting = None
        self.machine.current = self.thread
        try:
            self.waiting = next(self.steps) if results is None else self.steps.send(results)
        except StopIteration:
            self.done = True
        except Raised as error:
            error.thread = self.thread
            raise

    def call(self, function: Function, args: tuple[Any, ...]) -> Steps:
        """Run a function."""
        if len(self.path) > self.machine.max_depth:
            raise Raised("builtins:RecursionError", ("maximum recursion depth exceeded",))
        end = yield from self.region(function.body, dict(zip(function.params, args)))
        return end.values

    def region(self, region: Region, env: _Env) -> Steps:
        """Run the ops of a region; how it ends."""
        machine = self.machine
        self.path.append(0)
        for position, op in enumerate(region.ops):
            self.path[-1] = position
            machine.count()
            control = _CONTROL.get(op.name)
            if control is not None:
                end = yield from control(self, op, env)
                if end is not None:
                    self.path.pop()
                    return end
                continue
            values = tuple([env[value] for value in op.operands])
            defn = op.defn
            if defn.terminator and defn.reference is None:
                self.path.pop()
                return _Exit(op.name, op.attrs.get("label", -1), values)  # type: ignore[arg-type]
            if op.name == "call":
                results = yield from self.callee(op, values)
            elif defn.on_group is not None:
                results = yield _Waiting(op, values, tuple(self.path))
            elif defn.on_thread is not None:
                results = defn.on_thread(op, self.thread, values)
            else:
                machine.shadow.access(op, values, self.thread)
                results = machine.plain(op, values, env)
            env.update(zip(op.results, results))
        raise Undefined("the end of a region without a terminator")

    def callee(self, op: Op, values: tuple[Any, ...]) -> Steps:
        function = self.machine.module.functions[op.attrs["callee"]]  # type: ignore[index]
        try:
            results = yield from self.call(function, values)
        except Raised as error:
            error.trace.append((function.scope, op.loc))
            raise
        return results


@dataclass(slots=True)
class _Machine(interp._Machine):
    """The state of a launch."""

    geometry: Geometry = field(default_factory=lambda: Geometry((1, 1, 1), (1, 1, 1)))
    shadow: Shadow = field(default_factory=Shadow)
    current: Thread | None = None

    def count(self) -> None:
        self.steps += 1
        if self.max_steps is not None and self.steps > self.max_steps:
            raise StepLimit(f"more than {self.max_steps} steps")


def run_grid(
    module: Module,
    args: Sequence[Any],
    geometry: Geometry,
    *,
    checks: bool = False,
    host: Host = python_host,
    max_steps: int | None = None,
    order: Callable[[list[int]], list[int]] = lambda numbers: numbers,
) -> None:
    """Launch the kernel that is the entry of the module.

    Args:
        geometry: the shape of the launch. A zero in it: nothing runs.
        checks: whether races and reads of memory that was not written are looked for.
        host: what answers `pycall`.
        max_steps: how many ops may run in all; None: any number.
        order: the order in which the threads of a block take their turns; a program without races gives the same in any.
    """
    function = module.functions[module.entry]
    if len(args) != len(function.params):
        raise TypeError(f"{function.name} takes {len(function.params)} leaf values, not {len(args)}")
    importer = Importer(arg for arg in args if isinstance(arg, np.ndarray))
    values = tuple(imported(param.type, arg, importer) for param, arg in zip(function.params, args))
    machine = _Machine(module, host, max_steps, 2000, geometry=geometry, shadow=Shadow(checks))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        with np.errstate(all="ignore"):
            if any(op.name == _GRID_WIDE for f in module.functions.values() for op in f.body.walk()):
                _run_together(machine, function, values, order)
            else:
                for number in range(geometry.blocks):
                    _run_block(machine, function, values, number, order)
    finally:
        sys.setrecursionlimit(limit)


def _runners(machine: _Machine, number: int) -> list[_Runner]:
    """The threads of a block, at the start."""
    geometry = machine.geometry
    dynamic = new_array(ArrayType(U8, 1, "C", space="shared"), (geometry.shared_bytes,))
    assert dynamic.block is not None
    dynamic.block.external = True
    memory = BlockMemory({}, dynamic)
    block = unlinear(number, geometry.grid)
    return [
        _Runner(machine, Thread(geometry, block, unlinear(n, geometry.block), n, memory))
        for n in range(geometry.threads)
    ]


def _run_block(
    machine: _Machine, function: Function, args: tuple[Any, ...], number: int, order: Callable[[list[int]], list[int]]
) -> None:
    """One block after the other: none waits for another."""
    runners = _runners(machine, number)
    for position in order(list(range(len(runners)))):
        runners[position].start(function, args)
    while not all(runner.done for runner in runners):
        _advance(machine, runners, order)


def _run_together(
    machine: _Machine, function: Function, args: tuple[Any, ...], order: Callable[[list[int]], list[int]]
) -> None:
    """All blocks, from one barrier of the grid to the next."""
    blocks = [_runners(machine, number) for number in range(machine.geometry.blocks)]
    for runners in blocks:
        for position in order(list(range(len(runners)))):
            runners[position].start(function, args)
    while True:
        for runners in blocks:
            while not all(runner.done or _at(runner, (_GRID_WIDE,)) for runner in runners):
                _advance(machine, runners, order)
        every = [runner for runners in blocks for runner in runners]
        if all(runner.done for runner in every):
            return
        _require_all(every, "the grid")
        machine.shadow.grid_barrier()
        _release(every)


def _at(runner: _Runner, names: tuple[str, ...]) -> bool:
    return runner.waiting is not None and runner.waiting.op.name in names


def _advance(machine: _Machine, runners: list[_Runner], order: Callable[[list[int]], list[int]]) -> None:
    """Let the threads go on that can: lanes at an op of their subgroup, else the whole block at a barrier."""
    wide = (*_BLOCK_WIDE, _GRID_WIDE)
    lanes = [runner for runner in runners if runner.waiting is not None and not _at(runner, wide)]
    if not lanes:
        _require_all(runners, "the block")
        machine.shadow.barrier(runners[0].thread)
        _release(runners)
        return
    groups: dict[int, list[_Runner]] = {}
    for runner in lanes:
        groups.setdefault(runner.thread.subgroup, []).append(runner)
    for group in groups.values():
        first = min(_path(runner) for runner in group)
        together = [runner for runner in group if _path(runner) == first]
        if _at(together[0], ("subgroup.barrier",)):
            machine.shadow.subgroup_barrier(together[0].thread)
        _release(together)


def _path(runner: _Runner) -> Path:
    assert runner.waiting is not None
    return runner.waiting.path


def _require_all(runners: list[_Runner], whole: str) -> None:
    """Every thread has to be at the same barrier."""
    waiting = [runner for runner in runners if runner.waiting is not None]
    first = min(waiting, key=_path)
    for other in runners:
        if other.waiting is None or other.waiting.path != _path(first):
            assert first.waiting is not None
            where = (
                "has left the kernel"
                if other.waiting is None
                else f"waits at another one ({other.waiting.op.loc or other.waiting.op.name})"
            )
            raise Divergence(
                f"divergent barrier: {first.thread} waits for all of {whole}, but {other.thread} {where}",
                first.waiting.op,
                first.thread,
            )


def _release(runners: list[_Runner]) -> None:
    """The op that all of them wait at happens; each goes on with its results."""
    waits = [runner.waiting for runner in runners if runner.waiting is not None]
    op = waits[0].op
    assert op.defn.on_group is not None
    group = Group(tuple(runner.thread for runner in runners), tuple(wait.values for wait in waits))
    for runner, results in zip(runners, op.defn.on_group(op, group)):
        runner.resume(results)


# Control flow: as in `interp`, but a region may stop in the middle.


def _if(run: _Runner, op: Op, env: _Env) -> Steps:
    index = 0 if env[op.operands[0]] else 1
    run.path.append(index)
    end = yield from run.region(op.regions[index], env)
    run.path.pop()
    return _through(op, env, end)


def _block(run: _Runner, op: Op, env: _Env) -> Steps:
    end = yield from run.region(op.regions[0], env)
    if end.kind == "break" and end.label == op.attrs["label"]:
        end = _Exit("yield", -1, end.values)
    return _through(op, env, end)


def _try(run: _Runner, op: Op, env: _Env) -> Steps:
    body, handler = op.regions
    depth = len(run.path)
    try:
        end = yield from run.region(body, env)
    except Raised as error:
        del run.path[depth:]
        env[handler.args[0]] = error
        end = yield from run.region(handler, env)
    return _through(op, env, end)


def _loop(run: _Runner, op: Op, env: _Env) -> Steps:
    (body,) = op.regions
    values = tuple(env[value] for value in op.operands)
    run.path.append(0)
    while True:
        env.update(zip(body.args, values))
        end = yield from run.region(body, env)
        if end.label != op.attrs["label"]:
            run.path.pop()
            return end
        if end.kind == "break":
            run.path.pop()
            env.update(zip(op.results, end.values))
            return None
        values = end.values
        run.path[-1] += 1


def _for(run: _Runner, op: Op, env: _Env) -> Steps:
    (body,) = op.regions
    start, stop, step, *carried = (env[value] for value in op.operands)
    if step == 0:
        raise Undefined("a for loop with step 0")
    run.path.append(0)
    for index in range(start, stop, step):
        env.update(zip(body.args, (index, *carried)))
        end = yield from run.region(body, env)
        if end.label != op.attrs["label"]:
            run.path.pop()
            return end
        carried = list(end.values)
        if end.kind == "break":
            break
        run.path[-1] += 1
    run.path.pop()
    env.update(zip(op.results, carried))
    return None


def _unreachable(run: _Runner, op: Op, env: _Env) -> Steps:
    raise Undefined("an unreachable op is reached")
    yield  # a generator, like the others


_CONTROL: dict[str, Callable[[_Runner, Op, _Env], Steps]] = {
    "if": _if,
    "block": _block,
    "loop": _loop,
    "for": _for,
    "try": _try,
    "unreachable": _unreachable,
}
