"""A backend that interprets kernels: its code is the text of the intermediate representation, its device this process."""

from __future__ import annotations

import ctypes
import itertools
import time

from quadrants.api.namespace import explicit_namespace
from quadrants.backend.arguments import host_arrays
from quadrants.backend.contract import Artifact, Availability, Capabilities, Device, LaunchAbi, Target
from quadrants.ir.ops.device import ATOMICS
from quadrants.ir.parser import parse_module
from quadrants.ir.simt import run_grid
from quadrants.ir.text import print_module
from quadrants.ir.threads import Geometry

TARGET = Target("example", "qir1")
DTYPES = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64")


class ExampleBackend:
    """`qd.example`."""

    name = "example"
    legalise = ()
    intrinsics = ()

    def __init__(self):
        self.namespace = explicit_namespace(self.name)

    def availability(self):
        return Availability(True)

    def targets(self):
        return (TARGET,)

    def devices(self):
        return (Device(self.name, 0, "an interpreter"),)

    def target_of(self, device):
        return TARGET

    def capabilities(self, target):
        return Capabilities(
            dtypes=frozenset(DTYPES),
            atomics=frozenset(itertools.product((*ATOMICS, "cas"), DTYPES[1:])),
            subgroup_width=32,
            shared_bytes=1 << 16,
            max_block=(1024, 1024, 64),
            max_threads_per_block=1024,
            max_grid=(2**31 - 1,) * 3,
            host_memory=True,
            lacks=(("cg", "launch two kernels, one after the other"),),
        )

    def compile(self, module, target, options):
        return Artifact(target, "qir", print_module(module).encode(), (module.entry,))

    def load(self, artifact, device):
        return Executable(parse_module(artifact.code.decode()))

    def memory(self, device):
        return Memory()

    def stream(self, device):
        return Stream()

    def event(self, device):
        return Event()


class Executable:
    """A parsed module. A launch runs its entry, thread by thread."""

    launch_abi = LaunchAbi.COMMAND_BUFFER

    def __init__(self, module):
        self.module = module

    def address(self, entry):
        return id(self.module.functions[entry])

    def launch(self, entry, arguments, shape, stream=None):
        types = [param.type for param in self.module.functions[entry].params]
        values = host_arrays(types, arguments)
        run_grid(self.module, values, Geometry(shape.grid, shape.block, shape.shared_bytes), checks=True)


class Memory:
    """Blocks of this process, by their addresses: kernels read and write there."""

    _blocks: dict[int, ctypes.Array] = {}

    def allocate(self, nbytes, alignment=64):
        block = ctypes.create_string_buffer(nbytes + alignment)
        address = -(-ctypes.addressof(block) // alignment) * alignment
        self._blocks[address] = block
        return address

    def free(self, address):
        del self._blocks[address]

    def copy_in(self, address, source, stream=None):
        ctypes.memmove(address, bytes(source), source.nbytes)

    def copy_out(self, target, address, stream=None):
        target[:] = ctypes.string_at(address, target.nbytes)

    def copy(self, target, source, nbytes, stream=None):
        ctypes.memmove(target, source, nbytes)

    def dlpack_device(self):
        return (1, 0)


class Stream:
    """Everything is done at once."""

    handle = 0

    def synchronize(self):
        pass


class Event:
    """A point in time."""

    seconds = 0.0

    def record(self, stream=None):
        self.seconds = time.perf_counter()

    def wait(self, stream=None):
        pass

    def elapsed_ms(self, later):
        return (later.seconds - self.seconds) * 1000
