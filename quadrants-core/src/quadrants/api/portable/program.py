"""Runs the host's part of a portable kernel: computes with numbers, launches kernels, reads back.

Takes the host function that the pass `launches` makes, with what runs its launches; gives the values of its results. The function
is turned into closures once, by the reference semantics of its operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from quadrants._frozen import frozen
from quadrants.ir import Function, Op, Region, Value
from quadrants.ir.values import Raised

Env = dict[Value, Any]
#: Runs one op; gives how control leaves the region, or None if it goes on.
Step = Callable[[Env], "Exit | None"]
#: (blocks, threads of a block, name of the kernel, arguments)
Launch = Callable[[int, int, str, Sequence[Any]], None]
#: (array, index) -> the element
Read = Callable[[Any, int], Any]


@frozen
class Exit:
    """How a region ended: by which terminator, to which label, with which values."""

    kind: str
    label: int
    values: tuple[Any, ...]


class Program:
    """A host function that can be run.

    Args:
        function: with launches, reads of single elements, and control flow.
        launch: starts a kernel.
        read: waits for the launches so far, and reads an element.
    """

    def __init__(self, function: Function, launch: Launch, read: Read) -> None:
        self.params = tuple(function.params)
        self._launch = launch
        self._read = read
        self._constants: Env = {}
        self._steps = self._region(function.body)

    def run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The values of the results, for those of the parameters: numbers, and arrays as launches take them."""
        env = dict(self._constants)
        env.update(zip(self.params, values, strict=True))
        with np.errstate(all="ignore"):
            end = _through(self._steps, env)
        assert end is not None and end.kind == "return"
        return end.values

    # Making closures

    def _region(self, region: Region) -> tuple[Step, ...]:
        return tuple(step for op in region.ops if (step := self._step(op)) is not None)

    def _step(self, op: Op) -> Step | None:
        if op.name == "const":
            assert op.defn.reference is not None
            self._constants[op.result] = op.defn.reference(op, ())[0]
            return None
        made = _MAKERS.get(op.name)
        if made is not None:
            return made(self, op)
        if op.defn.reference is None:
            return self._leave(op)
        return _computing(op)

    def _leave(self, op: Op) -> Step:
        operands, label = tuple(op.operands), op.attrs.get("label", -1)
        assert isinstance(label, int)
        kind = op.name
        return lambda env: Exit(kind, label, tuple([env[value] for value in operands]))

    def _launches(self, op: Op) -> Step:
        count, *given = op.operands
        callee, block, launch = str(op.attrs["callee"]), int(op.attr("block")), self._launch

        def step(env: Env) -> None:
            blocks = env[count]
            if blocks > 0:
                launch(blocks, block, callee, [env[value] for value in given])

        return step

    def _reads(self, op: Op) -> Step:
        array, index = op.operands
        result, read = op.result, self._read

        def step(env: Env) -> None:
            env[result] = read(env[array], env[index])

        return step

    def _if(self, op: Op) -> Step:
        (condition,), results = op.operands, tuple(op.results)
        then, other = map(self._region, op.regions)

        def step(env: Env) -> Exit | None:
            return _yielded(_through(then if env[condition] else other, env), results, env)

        return step

    def _block(self, op: Op) -> Step:
        steps, results, label = self._region(op.regions[0]), tuple(op.results), op.attrs["label"]

        def step(env: Env) -> Exit | None:
            end = _through(steps, env)
            assert end is not None
            if end.kind == "break" and end.label == label:
                env.update(zip(results, end.values))
                return None
            return _yielded(end, results, env)

        return step

    def _loop(self, op: Op) -> Step:
        (body,) = op.regions
        steps, args, results, label = self._region(body), tuple(body.args), tuple(op.results), op.attrs["label"]
        inits = tuple(op.operands)

        def step(env: Env) -> Exit | None:
            values = tuple(env[value] for value in inits)
            while True:
                env.update(zip(args, values))
                end = _through(steps, env)
                assert end is not None
                if end.label != label:
                    return end
                values = end.values
                if end.kind == "break":
                    env.update(zip(results, values))
                    return None

        return step

    def _for(self, op: Op) -> Step:
        (body,) = op.regions
        steps, args, results, label = self._region(body), tuple(body.args), tuple(op.results), op.attrs["label"]
        bounds, inits = tuple(op.operands[:3]), tuple(op.operands[3:])

        def step(env: Env) -> Exit | None:
            values = tuple(env[value] for value in inits)
            for index in range(*(env[value] for value in bounds)):
                env.update(zip(args, (index, *values)))
                end = _through(steps, env)
                assert end is not None
                if end.label != label:
                    return end
                values = end.values
                if end.kind == "break":
                    break
            env.update(zip(results, values))
            return None

        return step


def _computing(op: Op) -> Step:
    """What an op does by its definition."""
    reference, operands, results = op.defn.reference, tuple(op.operands), tuple(op.results)
    assert reference is not None

    def step(env: Env) -> None:
        try:
            env.update(zip(results, reference(op, tuple([env[value] for value in operands]))))
        except Raised as problem:
            problem.loc = op.loc
            raise

    return step


def _through(steps: Sequence[Step], env: Env) -> Exit | None:
    for step in steps:
        end = step(env)
        if end is not None:
            return end
    return None


def _yielded(end: Exit | None, results: tuple[Value, ...], env: Env) -> Exit | None:
    """The end of a region that may fall through."""
    if end is None or end.kind != "yield":
        return end
    env.update(zip(results, end.values))
    return None


_MAKERS: Mapping[str, Callable[[Program, Op], Step]] = {
    "launch": Program._launches,
    "load": Program._reads,
    "if": Program._if,
    "block": Program._block,
    "loop": Program._loop,
    "for": Program._for,
}
