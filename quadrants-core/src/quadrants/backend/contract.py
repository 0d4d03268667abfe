"""What a backend is: one protocol and the frozen values that cross it.

Takes nothing; gives the types. A backend is a class with a constructor without arguments, named in the entry-point group
`quadrants.backends`. `targets()`, `capabilities()` and `compile()` need no device and may run anywhere; `devices()`, `load()`,
`memory()`, `stream()` and `event()` need one, and raise `BackendUnavailable` with the reason where there is none.
`availability()` never raises.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from quadrants._frozen import frozen


@frozen
class Availability:
    """Whether a backend can be used here; if not, why, and what would change that, in words."""

    ok: bool
    reason: str = ""
    fix: str = ""

    def __post_init__(self) -> None:
        if not self.ok and not self.reason:
            raise ValueError("a backend that is not available has to say why")


@frozen
class Target:
    """What code is compiled for. Frozen and serialisable: part of a cache key, and enough to compile without the device."""

    backend: str
    arch: str  # "x86_64", "aarch64", "sm_90", "gfx1100", "spirv1.3", "msl3.0"
    cpu: str = ""  # the model that LLVM schedules for, or empty
    features: tuple[str, ...] = ()  # "+avx2", ... or extension names
    options: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        """A text that `from_json` reads back to an equal target; equal targets give equal texts."""
        fields = [self.backend, self.arch, self.cpu, list(self.features), [list(pair) for pair in self.options]]
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Target:
        backend, arch, cpu, features, options = json.loads(text)
        return cls(backend, arch, cpu, tuple(features), tuple((name, value) for name, value in options))


@frozen
class Device:
    """One device of a backend. `index` is what users number devices by."""

    backend: str
    index: int
    name: str
    memory_bytes: int | None = None
    detail: tuple[tuple[str, str], ...] = ()


@frozen
class Capabilities:
    """What a target can do. What is not listed here is a compile error that names the target and the alternative."""

    dtypes: frozenset[str]
    atomics: frozenset[tuple[str, str]] = frozenset()  # (operation, dtype): ("add", "f32")
    subgroup_width: int = 1
    subgroup_ops: frozenset[str] = frozenset()
    shared_bytes: int = 0
    max_block: tuple[int, int, int] = (1, 1, 1)
    max_threads_per_block: int = 1
    max_grid: tuple[int, int, int] = (1, 1, 1)
    recursion: bool = False
    grid_sync: bool = False
    host_memory: bool = False  # reads and writes arrays of the host in place, by strides in bytes; else elements
    lacks: tuple[
        tuple[str, str], ...
    ] = ()  # names of the explicit language that it has not, each with what to use instead
    host_code: bool = False  # compiles functions that the interpreter calls directly

    def supports_atomic(self, operation: str, dtype: str) -> bool:
        return (operation, dtype) in self.atomics


class LaunchAbi(Enum):
    """How the native call path starts an executable."""

    HOST_FUNCTION = "host-function"  # a C function on this machine: the address is called
    DRIVER_LAUNCH = "driver-launch"  # a driver's launch call with a parameter buffer
    COMMAND_BUFFER = "command-buffer"  # recorded, then submitted


@frozen
class Artifact:
    """Compiled code: bytes, cacheable, valid for `target` on any machine that has it."""

    target: Target
    format: str  # "elf-object", "ptx", "cubin", "hsaco", "spirv", "msl"
    code: bytes
    entries: tuple[str, ...]  # symbols that may be started, in the order of the module's exported functions
    metadata: tuple[tuple[str, str], ...] = ()
    text: Mapping[str, str] = field(
        default_factory=dict, compare=False
    )  # what `inspect_*` shows; not part of the identity


@frozen
class LaunchShape:
    """The shape of a launch: blocks, and threads of a block, along x, y and z; bytes of dynamic shared memory."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0

    @property
    def empty(self) -> bool:
        """Whether nothing runs."""
        return 0 in self.grid or 0 in self.block


@runtime_checkable
class Executable(Protocol):
    """Code that is loaded. It stays loaded while this object lives."""

    @property
    def launch_abi(self) -> LaunchAbi: ...

    def address(self, entry: str) -> int:
        """The address of an entry on the host, or the driver's handle of it."""
        ...


@runtime_checkable
class KernelExecutable(Executable, Protocol):
    """Code with kernels: what `load` gives for a module whose entry is a kernel."""

    def launch(self, entry: str, arguments: bytes, shape: LaunchShape, stream: Stream | None = None) -> None:
        """Start a kernel, which is an entry of the artifact, in a stream; None is the default one.

        Args:
            arguments: the argument block, as `quadrants.backend.arguments.pack` makes it.
            shape: neither grid nor block has a zero, and both are within the limits of the capabilities.
        """
        ...


@runtime_checkable
class Stream(Protocol):
    """Work in order. Stream 0 is the default one."""

    @property
    def handle(self) -> int: ...

    def synchronize(self) -> None:
        """Wait for all work; an error of a kernel surfaces here with kernel, line and thread."""
        ...


@runtime_checkable
class Event(Protocol):
    """A point in a stream."""

    def record(self, stream: Stream) -> None: ...

    def wait(self, stream: Stream) -> None: ...

    def elapsed_ms(self, later: Event) -> float: ...


@runtime_checkable
class DeviceMemory(Protocol):
    """Memory of one device. Addresses are integers of the device's own address space."""

    def allocate(self, nbytes: int, alignment: int = 64) -> int:
        """The address of a new block; MemoryError where there is no room."""
        ...

    def free(self, address: int) -> None: ...

    def copy_in(self, address: int, source: memoryview, stream: Stream | None = None) -> None: ...

    def copy_out(self, target: memoryview, address: int, stream: Stream | None = None) -> None: ...

    def copy(self, target: int, source: int, nbytes: int, stream: Stream | None = None) -> None: ...

    def dlpack_device(self) -> tuple[int, int]:
        """DLPack's (device type, device index)."""
        ...


@runtime_checkable
class Backend(Protocol):
    """The contract. Third parties implement this class; core calls nothing else of a backend."""

    @property
    def name(self) -> str:
        """The name users write: `qd.<name>`, `qd.init(arch=qd.<name>)`."""
        ...

    @property
    def namespace(self) -> types.ModuleType:
        """What `qd.<name>` is: the explicit language (kernel, grid, shared, barrier, atomics, subgroup, asm)."""
        ...

    @property
    def legalise(self) -> Sequence[Any]:
        """Passes (QIR to QIR) that run last, in order, before `compile`."""
        ...

    @property
    def intrinsics(self) -> Sequence[Any]:
        """Definitions of the operations that only this backend has."""
        ...

    def availability(self) -> Availability:
        """Usable here? If not, the reason in words, and the fix. Never raises."""
        ...

    def targets(self) -> Sequence[Target]:
        """Targets that this backend can compile for, the default one first."""
        ...

    def devices(self) -> Sequence[Device]:
        """Devices on this machine."""
        ...

    def target_of(self, device: Device) -> Target: ...

    def capabilities(self, target: Target) -> Capabilities: ...

    def compile(self, module: Any, target: Target, options: Any) -> Artifact:
        """Pure: a QIR module to bytes; needs no device."""
        ...

    def load(self, artifact: Artifact, device: Device) -> Executable: ...

    def memory(self, device: Device) -> DeviceMemory: ...

    def stream(self, device: Device) -> Stream: ...

    def event(self, device: Device) -> Event: ...


MEMBERS = (
    "availability",
    "capabilities",
    "compile",
    "devices",
    "event",
    "intrinsics",
    "legalise",
    "load",
    "memory",
    "name",
    "namespace",
    "stream",
    "target_of",
    "targets",
)


def missing_members(candidate: object) -> list[str]:
    """The members of the contract that an object's class lacks. Properties are not evaluated: they may need a device."""
    cls = type(candidate)
    return [name for name in MEMBERS if not hasattr(cls, name) and name not in vars(candidate)]
