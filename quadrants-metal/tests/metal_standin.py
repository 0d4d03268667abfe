"""A stand-in for the modules `Metal` and `objc` of pyobjc: what the backend calls of it, with one device that runs MSL on the CPU.

Buffers are memory of the host, their addresses those of the host; a kernel is built by `metal_compiler`. The stand-in refuses what
Metal refuses: buffers that a launch uses without saying so, bytes that do not fit into a command, too much memory of a block.
"""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from typing import Any

import metal_compiler

autorelease_pool = nullcontext  # of the module `objc`

MTLResourceStorageModeShared = 0
MTLResourceUsageRead, MTLResourceUsageWrite = 1, 2
MTLGPUFamilyMetal3 = 5001
MTLLanguageVersion3_2 = 0x30002
MTLMathModeSafe = 0

_SHARED_BYTES = 32768
_THREADS = 1024


def MTLSizeMake(x: int, y: int, z: int) -> tuple[int, int, int]:
    return x, y, z


class Failure:
    """An NSError."""

    def __init__(self, text: str) -> None:
        self._text = text

    def localizedDescription(self) -> str:
        return self._text


class MTLCompileOptions:
    """Collects what the backend asks for."""

    @classmethod
    def alloc(cls) -> MTLCompileOptions:
        return cls()

    def init(self) -> MTLCompileOptions:
        return self

    def setLanguageVersion_(self, version: int) -> None:
        self.version = version

    def setMathMode_(self, mode: int) -> None:
        self.mode = mode


class Contents:
    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def as_buffer(self, nbytes: int) -> memoryview:
        return memoryview(self._memory).cast("B")[:nbytes]


class Buffer:
    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes
        self._raw = (ctypes.c_uint8 * (nbytes + 256))()
        start = -ctypes.addressof(self._raw) % 256
        self.memory = (ctypes.c_uint8 * nbytes).from_buffer(self._raw, start)

    def length(self) -> int:
        return self._nbytes

    def contents(self) -> Contents:
        return Contents(self.memory)

    def gpuAddress(self) -> int:
        return ctypes.addressof(self.memory)


class Pipeline:
    def __init__(self, launch: Any) -> None:
        self.launch = launch

    def maxTotalThreadsPerThreadgroup(self) -> int:
        return _THREADS


class Library:
    def __init__(self, text: str) -> None:
        self.text = text

    def newFunctionWithName_(self, name: str) -> str | None:
        return self.text if f"kernel void {name}(" in self.text else None


class Encoder:
    """Runs a dispatch when it is told of it: work is in order."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._data: dict[int, Any] = {}
        self._used: list[Buffer] = []

    def setComputePipelineState_(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def setBytes_length_atIndex_(self, data: bytes, nbytes: int, index: int) -> None:
        assert len(data) == nbytes <= 4096
        self._data[index] = ctypes.create_string_buffer(data, max(1, nbytes))

    def setBuffer_offset_atIndex_(self, buffer: Buffer, offset: int, index: int) -> None:
        assert offset == 0
        self._data[index] = buffer.memory

    def setThreadgroupMemoryLength_atIndex_(self, nbytes: int, index: int) -> None:
        assert index == 0 and 0 < nbytes <= _SHARED_BYTES and nbytes % 16 == 0
        self._shared = nbytes

    def useResource_usage_(self, buffer: Buffer, usage: int) -> None:
        assert usage == MTLResourceUsageRead | MTLResourceUsageWrite
        self._used.append(buffer)

    def dispatchThreadgroups_threadsPerThreadgroup_(self, grid: Any, block: Any) -> None:
        assert min(*grid, *block) > 0 and block[0] * block[1] * block[2] <= _THREADS
        sizes = [(ctypes.c_uint32 * 3)(*size) for size in (grid, block)]
        if self._pipeline.launch(self._data[0], self._data[1], ctypes.c_ulong(self._shared), *sizes):
            self._commands.failure = Failure("threads of a block wait at different barriers")

    def endEncoding(self) -> None:
        self._commands.encoded = True


class Commands:
    """A command buffer."""

    def __init__(self) -> None:
        self.failure: Failure | None = None
        self.encoded = self.committed = False

    def computeCommandEncoder(self) -> Encoder:
        return Encoder(self)

    def commit(self) -> None:
        assert self.encoded
        self.committed = True

    def waitUntilCompleted(self) -> None:
        assert self.committed

    def error(self) -> Failure | None:
        return self.failure


class Queue:
    def commandBuffer(self) -> Commands:
        return Commands()


class Device:
    """The CPU as a Metal device."""

    def name(self) -> str:
        return "CPU"

    def supportsFamily_(self, family: int) -> bool:
        return family == MTLGPUFamilyMetal3

    def recommendedMaxWorkingSetSize(self) -> int:
        return 1 << 32

    def maxBufferLength(self) -> int:
        return 1 << 32

    def maxThreadgroupMemoryLength(self) -> int:
        return _SHARED_BYTES

    def newCommandQueue(self) -> Queue:
        return Queue()

    def newBufferWithLength_options_(self, nbytes: int, options: int) -> Buffer:
        assert nbytes > 0 and options == MTLResourceStorageModeShared
        return Buffer(nbytes)

    def newLibraryWithSource_options_error_(self, text: str, options: MTLCompileOptions, error: None) -> Any:
        assert options.version == MTLLanguageVersion3_2 and options.mode == MTLMathModeSafe
        return Library(text), None

    def newComputePipelineStateWithFunction_error_(self, function: str, error: None) -> Any:
        try:
            launch = metal_compiler.build(function)
        except metal_compiler.MslError as problem:
            return None, Failure(str(problem))
        return Pipeline(launch), None


def MTLCopyAllDevices() -> list[Device]:
    return [Device()]
