"""What the tests of the Metal backend share: a backend whose device is the CPU, and running a kernel of QIR on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import metal_compiler
import metal_standin
import numpy as np
import pytest

from quadrants.backend.arguments import DeviceArray, pack
from quadrants.backend.contract import Device, LaunchShape
from quadrants.ir import Module
from quadrants.ir.parser import parse_module
from quadrants.ir.rewrite import clone_module
from quadrants.ir.spec import verify
from quadrants.types import ArrayType
from quadrants_metal import MetalBackend
from quadrants_metal.host.framework import framework
from quadrants_metal.lower.legalise import legalise

Box = tuple[int, int, int]
ONE: Box = (1, 1, 1)


@dataclass
class Bench:
    """The backend, with a device that stands in for a GPU."""

    backend: MetalBackend
    device: Device

    def load(self, module: Module | str) -> tuple[Module, Any]:
        """Check a module, compile and load it."""
        module = parse_module(module) if isinstance(module, str) else module
        verify(module)
        prepared = clone_module(module)
        legalise(prepared)
        verify(prepared)
        target = self.backend.target_of(self.device)
        return module, self.backend.load(self.backend.compile(module, target), self.device)

    def prepare(self, modules: Iterable[Module | str]) -> None:
        """Build kernels together that are run later."""
        target = self.backend.target_of(self.device)
        parsed = [parse_module(module) if isinstance(module, str) else module for module in modules]
        metal_compiler.prepare([self.backend.compile(module, target).code.decode() for module in parsed])

    def run(
        self, module: Module | str, args: Sequence[Any], grid: Box = ONE, block: Box = ONE, shared_bytes: int = 0
    ) -> None:
        """Run a kernel on numbers and arrays, which are changed in place."""
        module, executable = self.load(module)
        types = [p.type for p in module.functions[module.entry].params]
        memory = self.backend.memory(self.device)
        held: dict[int, np.ndarray] = {}
        values: list[Any] = []
        for type, arg in zip(types, args):
            if not isinstance(type, ArrayType):
                values.append(arg)
                continue
            address = memory.allocate(arg.nbytes)
            held[address] = arg
            memory.copy_in(address, memoryview(np.ravel(arg, order="K").view(np.uint8)))
            values.append(DeviceArray(address, arg.shape, tuple(s // arg.itemsize for s in arg.strides)))
        try:
            executable.launch("kernel", pack(types, values), LaunchShape(grid, block, shared_bytes))
            self.backend.stream(self.device).synchronize()
            for address, arg in held.items():
                back = np.empty(arg.nbytes, np.uint8)
                memory.copy_out(memoryview(back), address)
                arg[...] = np.ndarray(arg.shape, arg.dtype, back, strides=arg.strides)
        finally:
            for address in held:
                memory.free(address)


class StandInBackend(MetalBackend):
    """The backend on the stand-in of the framework."""

    def __init__(self) -> None:
        super().__init__("darwin")
        self.__dict__["_found"] = framework("darwin", lambda name: metal_standin)


@cache
def bench() -> Bench | str:
    """The device, or why there is none."""
    if metal_compiler.compiler() is None:
        return metal_compiler.NEEDED
    backend = StandInBackend()
    return Bench(backend, backend.devices()[0])


def needed() -> Bench:
    """The device; skips the test where there is none, with the reason."""
    found = bench()
    if isinstance(found, str):
        pytest.skip(found)
    return found
