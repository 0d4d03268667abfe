"""The reference interpreter: runs QIR op by op in plain Python, by the definitions of the ops. Slow, and meant to be right.

`run` takes a module that the verifier accepts, at any stage of the passes, and the leaf values of its entry's parameters
(Python or NumPy numbers, NumPy arrays, which it reads and writes in place); gives the leaf values of the results. It raises
`Raised` for an exception of the program, `Undefined` where a promise in the IR is broken, `StepLimit` and `Leak`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quadrants.ir.boxing import box, name_of, resolve, unbox
from quadrants.ir.core import Function, Module, Op, Region, Value
from quadrants.ir.opdef import Effect
from quadrants.ir.values import (
    Block,
    Importer,
    InterpArray,
    InterpError,
    Raised,
    Undefined,
    Variable,
    imported,
    new_array,
)
from quadrants.types import ArrayType, LiteralType, TupleType, Type

__all__ = ["Block", "InterpArray", "InterpError", "Leak", "Raised", "StepLimit", "Undefined", "run"]

#: (target, positional arguments, keyword arguments) -> result
Host = Callable[[str, "tuple[Any, ...]", "dict[str, Any]"], Any]
_FRAMES_A_CALL = 60  # of Python, for one call of the program: two a nested region


class StepLimit(InterpError):
    """The program took more steps than it was given."""


class Leak(InterpError):
    """Memory that is still referenced when the program is over, or referenced too rarely."""


def python_host(target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The host that calls the Python object with the name."""
    return resolve(target)(*args, **kwargs)


def run(
    module: Module,
    args: Sequence[Any],
    *,
    host: Host = python_host,
    entry: str | None = None,
    max_steps: int | None = None,
    max_depth: int = 200,
) -> tuple[Any, ...]:
    """Run the entry of the module (or another of its functions) on leaf values and give the leaf values of its results.

    Args:
        host: what answers `pycall`.
        max_steps: how many ops may run in all; None: any number.
        max_depth: how deep calls may nest before RecursionError is raised in the program.

    Once the pass `ownership` has run (there are retain or release ops), blocks that outlive the run are a Leak.
    """
    function = module.functions[module.entry if entry is None else entry]
    if len(args) != len(function.params):
        raise TypeError(f"{function.name} takes {len(function.params)} leaf values, not {len(args)}")
    importer = Importer(arg for arg in args if isinstance(arg, np.ndarray))
    values = tuple(imported(param.type, arg, importer) for param, arg in zip(function.params, args))
    machine = _Machine(module, host, max_steps, max_depth)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + max_depth * _FRAMES_A_CALL)
    try:
        with np.errstate(all="ignore"):
            results = machine.call(function, values)
    except Raised:
        machine.check_leaks(())
        raise
    finally:
        sys.setrecursionlimit(limit)
    machine.check_leaks(results)
    return results


@dataclass(slots=True)
class _Exit:
    """How a region ended: by which terminator, to which label, with which values."""

    kind: str
    label: int
    values: tuple[Any, ...]


_Env = dict[Value, Any]


@dataclass(slots=True)
class _Machine:
    """The state of a run. The values of one activation of a function are in an `_Env`."""

    module: Module
    host: Host
    max_steps: int | None
    max_depth: int
    depth: int = 0
    steps: int = 0
    blocks: list[Block] = field(default_factory=list)
    counted: bool = False

    def __post_init__(self) -> None:
        ops = (op for function in self.module.functions.values() for op in function.body.walk())
        self.counted = any(op.name in ("retain", "release") or op.cleanup for op in ops)

    def call(self, function: Function, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run a function."""
        if self.depth >= self.max_depth:
            raise Raised("builtins:RecursionError", ("maximum recursion depth exceeded",))
        self.depth += 1
        try:
            end = self.region(function.body, dict(zip(function.params, args)))
        finally:
            self.depth -= 1
        return end.values

    def region(self, region: Region, env: _Env) -> _Exit:
        """Run the ops of a region up to the terminator, or to an exit from one of the regions inside."""
        for op in region.ops:
            self.steps += 1
            if self.max_steps is not None and self.steps > self.max_steps:
                raise StepLimit(f"more than {self.max_steps} steps")
            control = _CONTROL.get(op.name)
            if control is not None:
                end = control(self, op, env)
                if end is not None:
                    return end
                continue
            values = tuple([env[value] for value in op.operands])
            if op.defn.terminator and op.defn.reference is None:
                return _Exit(op.name, op.attrs.get("label", -1), values)  # type: ignore[arg-type]
            env.update(zip(op.results, self.plain(op, values, env)))
        raise Undefined("the end of a region without a terminator")

    def plain(self, op: Op, values: tuple[Any, ...], env: _Env) -> tuple[Any, ...]:
        """Run an op that is not control flow. What it must clean up is released when it raises."""
        special = _SPECIAL.get(op.name)
        try:
            if special is not None:
                results = special(self, op, values, env)
            else:
                if op.defn.reference is None:
                    raise InterpError(f"{op.name} runs on a device only: see ir.simt")
                results = op.defn.reference(op, values)
        except Raised as error:
            if not op.can_raise:
                raise Undefined(f"{op.name} raises {error}, though it is said not to") from error
            if error.loc is None:
                error.loc = op.loc
            for value in reversed(op.cleanup):
                self.release(env[value])
            raise
        if op.defn.effects & Effect.ALLOCATES:
            blocks = [v.block for v in results if isinstance(v, InterpArray) and op.name != "call"]
            self.blocks += [block for block in blocks if block is not None and not block.external]
        return results

    def release(self, value: Any) -> None:
        array = value.value if isinstance(value, Variable) else value
        if array.block is not None:
            array.block.release()

    def check_leaks(self, results: tuple[Any, ...]) -> None:
        """Once references are counted, a block lives on exactly as long as results refer to it."""
        if not self.counted:
            return
        for block in self.blocks:
            owners = sum(isinstance(value, InterpArray) and value.block is block for value in results)
            if block.refcount != owners:
                raise Leak(
                    f"{block.data.nbytes} bytes have {block.refcount} references, and {owners} results refer to them"
                )


def _if(machine: _Machine, op: Op, env: _Env) -> _Exit | None:
    return _through(op, env, machine.region(op.regions[0 if env[op.operands[0]] else 1], env))


def _through(op: Op, env: _Env, end: _Exit) -> _Exit | None:
    """The end of a region that may fall through."""
    if end.kind != "yield":
        return end
    env.update(zip(op.results, end.values))
    return None


def _block(machine: _Machine, op: Op, env: _Env) -> _Exit | None:
    end = machine.region(op.regions[0], env)
    if end.kind == "break" and end.label == op.attrs["label"]:
        end = _Exit("yield", -1, end.values)
    return _through(op, env, end)


def _try(machine: _Machine, op: Op, env: _Env) -> _Exit | None:
    body, handler = op.regions
    try:
        end = machine.region(body, env)
    except Raised as error:
        env[handler.args[0]] = error
        end = machine.region(handler, env)
    return _through(op, env, end)


def _loop(machine: _Machine, op: Op, env: _Env) -> _Exit | None:
    (body,) = op.regions
    values = tuple(env[value] for value in op.operands)
    while True:
        env.update(zip(body.args, values))
        end = machine.region(body, env)
        if end.label != op.attrs["label"]:
            return end
        if end.kind == "break":
            env.update(zip(op.results, end.values))
            return None
        values = end.values


def _for(machine: _Machine, op: Op, env: _Env) -> _Exit | None:
    (body,) = op.regions
    start, stop, step, *carried = (env[value] for value in op.operands)
    if step == 0:
        raise Undefined("a for loop with step 0")
    for index in range(start, stop, step):
        env.update(zip(body.args, (index, *carried)))
        end = machine.region(body, env)
        if end.label != op.attrs["label"]:
            return end
        carried = list(end.values)
        if end.kind == "break":
            break
    env.update(zip(op.results, carried))
    return None


def _unreachable(machine: _Machine, op: Op, env: _Env) -> _Exit | None:
    raise Undefined("an unreachable op is reached")


def _call(machine: _Machine, op: Op, values: tuple[Any, ...], env: _Env) -> tuple[Any, ...]:
    callee = machine.module.functions[op.attrs["callee"]]  # type: ignore[index]
    try:
        return machine.call(callee, values)
    except Raised as error:
        error.trace.append((callee.scope, op.loc))
        raise


def _fork(machine: _Machine, op: Op, values: tuple[Any, ...], env: _Env) -> tuple[Any, ...]:
    """The chunks in the order of the loop, which is one of those that are allowed."""
    callee = machine.module.functions[op.attrs["callee"]]  # type: ignore[index]
    turns, grain, _, *shared = values
    if grain < 1:
        raise Undefined(f"a fork with the grain {grain}")
    for lo in range(0, turns, grain):
        machine.call(callee, (lo, min(lo + grain, turns), *shared))
    return ()


def _launch(machine: _Machine, op: Op, values: tuple[Any, ...], env: _Env) -> tuple[Any, ...]:
    from quadrants.ir.simt import run_grid  # it stands on this module
    from quadrants.ir.threads import Geometry

    blocks, *given = values
    module = Module(machine.module.functions, str(op.attrs["callee"]))
    run_grid(module, given, Geometry((blocks, 1, 1), (int(op.attr("block")), 1, 1), 0), host=machine.host)
    return ()


def _pycall(machine: _Machine, op: Op, values: tuple[Any, ...], env: _Env) -> tuple[Any, ...]:
    args, result = op.attrs["args"], op.attrs["result"]
    assert isinstance(args, TupleType) and isinstance(result, Type)
    positional = box(args, iter(values))
    kwargs: dict[str, Any] = {}
    if args.items and isinstance(args.items[-1], LiteralType) and isinstance(args.items[-1].value, tuple):
        kwargs = dict(positional[-1])
        positional = positional[:-1]
    try:
        value = machine.host(str(op.attrs["target"]), positional, kwargs)
    except Exception as error:  # whatever the host's code raises is an exception of the program
        raise Raised(name_of(type(error)), error.args) from error
    return unbox(result, value)


def _map(machine: _Machine, op: Op, values: tuple[Any, ...], env: _Env) -> tuple[Any, ...]:
    shapes = [value.dims if isinstance(value, InterpArray) else () for value in values]
    try:
        dims = np.broadcast_shapes(*shapes)
    except ValueError:
        raise Raised("builtins:ValueError", (_no_broadcast(shapes),)) from None
    type = op.results[0].type
    assert isinstance(type, ArrayType)
    target = new_array(type, dims)
    for place, value in _elements(machine, op, dims, values, env):
        target.store(value, place)
    return (target,)


def _map_into(machine: _Machine, op: Op, values: tuple[Any, ...], env: _Env) -> tuple[Any, ...]:
    target, *inputs = values
    shapes = [value.dims if isinstance(value, InterpArray) else () for value in inputs]
    message = next(
        (_misfit(shape, target.dims, shapes) for shape in shapes if not _broadcasts(shape, target.dims)), None
    )
    if message is not None:
        raise Raised("builtins:ValueError", (message,))
    for place, value in list(
        _elements(machine, op, target.dims, tuple(inputs), env)
    ):  # all are read before any is written
        target.store(value, place)
    return ()


def _misfit(shape: tuple[int, ...], target: tuple[int, ...], shapes: Sequence[tuple[int, ...]]) -> str:
    """What is wrong when an input does not fit the target: of an assignment, or of a ufunc with `out`."""
    if len(shapes) == 1:
        return f"could not broadcast input array from shape {_text(shape)} into shape {_text(target)}"
    into = next(b for a, b in zip(shape, target[len(target) - len(shape) :]) if a not in (1, b))
    if into != 1:
        return _no_broadcast([*shapes, target])
    common = list(target)
    for other in shapes:
        for position, size in enumerate(other, len(target) - len(other)):
            common[position] = size if common[position] == 1 else common[position]
    grown = f"doesn't match the broadcast shape {_text(tuple(common))}"
    return f"non-broadcastable output operand with shape {_text(target)} {grown}"


def _text(shape: tuple[int, ...]) -> str:
    """A shape as NumPy prints it."""
    return str(shape).replace(" ", "")


def _no_broadcast(shapes: Sequence[tuple[int, ...]]) -> str:
    """NumPy's message for operands of a ufunc that do not fit."""
    return f"operands could not be broadcast together with shapes {' '.join(map(_text, shapes))} "


def _broadcasts(dims: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return all(a in (1, b) for a, b in zip(reversed(dims), reversed(target)))


def _elements(
    machine: _Machine, op: Op, dims: tuple[int, ...], inputs: tuple[Any, ...], env: _Env
) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Every place of the result, in C order, and the value that the region gives for it."""
    (body,) = op.regions
    for place in np.ndindex(*dims):
        elements = [_element(value, place) if isinstance(value, InterpArray) else value for value in inputs]
        env.update(zip(body.args, elements))
        yield place, machine.region(body, env).values[0]


def _element(array: InterpArray, place: tuple[int, ...]) -> Any:
    tail = place[len(place) - len(array.dims) :]
    return array.load([0 if dim == 1 else index for index, dim in zip(tail, array.dims)])


def _var_set(machine: _Machine, op: Op, values: tuple[Any, ...], env: _Env) -> tuple[Any, ...]:
    variable, value = values
    if machine.counted and isinstance(variable.value, InterpArray):
        machine.release(variable)  # the variable owns what it holds
    variable.value = value
    return ()


_CONTROL: dict[str, Callable[[_Machine, Op, _Env], _Exit | None]] = {
    "if": _if,
    "block": _block,
    "loop": _loop,
    "for": _for,
    "try": _try,
    "unreachable": _unreachable,
}

_SPECIAL: dict[str, Callable[[_Machine, Op, tuple[Any, ...], _Env], tuple[Any, ...]]] = {
    "call": _call,
    "fork": _fork,
    "launch": _launch,
    "pycall": _pycall,
    "map": _map,
    "map_into": _map_into,
    "var.set": _var_set,
}
