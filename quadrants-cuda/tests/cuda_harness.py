"""What the tests of the CUDA backend share: a driver whose device is this machine's CPU, and the assembler of PTX.

The stand-in for the driver (`standin.c`) is compiled once a process. The host code runs on it as it is; a kernel that is
launched is executed as the LLVM IR from which its PTX was made, whose intrinsics of the device are calls into the
stand-in: the threads of a block are fibers, and wait for each other as on a device.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cffi
import llvmlite.binding as llvm
import numpy as np
import pytest

from quadrants.backend.arguments import DeviceArray, pack
from quadrants.backend.contract import Artifact, Device, LaunchShape
from quadrants.ir import Module
from quadrants.ir.parser import parse_module
from quadrants.ir.spec import verify
from quadrants.types import ArrayType
from quadrants_cuda import CudaBackend
from quadrants_cuda.driver.declarations import DECLARATIONS
from quadrants_cuda.driver.library import Library
from quadrants_cuda.executable import CudaExecutable

_SOURCE = Path(__file__).with_name("standin.c")
_CALL = re.compile(r"call (i1|i32|void) @llvm\.nvvm\.([\w.]+)\(([^)]*)\)")
_KERNEL = re.compile(r"define ptx_kernel void @qd_kernel\(([^)]*)\)")
_DYNAMIC_BYTES = 256 << 10
Box = tuple[int, int, int]
ONE: Box = (1, 1, 1)

#: What `ptxas` assembles for; compilers of CUDA 13 know no sm_70.
ASSEMBLED = ("sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120")


# The assembler


@cache
def ptxas() -> str | None:
    """The assembler: of the package `nvidia-cuda-nvcc-cu12`, or of the system."""
    own = Path(sysconfig.get_paths()["purelib"], "nvidia", "cuda_nvcc", "bin", "ptxas")
    return str(own) if own.exists() else shutil.which("ptxas")


@cache
def _known_arches() -> str:
    return subprocess.run([str(ptxas()), "--help"], capture_output=True, text=True, check=False).stdout


def assemble(ptx: bytes, arch: str) -> None:
    """Fail with what `ptxas` says of a kernel; skips where there is none, or it does not know the arch."""
    if ptxas() is None:
        pytest.skip("ptxas is not installed: pip install nvidia-cuda-nvcc-cu12")
    if f"'{arch}'" not in _known_arches():
        pytest.skip(f"this ptxas does not know {arch}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_bytes(ptx)
        command = [str(ptxas()), f"-arch={arch}", str(source), "-o", str(Path(folder, "kernel.cubin"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, f"{done.stderr}\n{ptx.decode()}"


# The simulated device


class Simulator:
    """Gives the stand-in what runs a thread of a kernel, by the kernel's PTX."""

    def __init__(self, library: ctypes.CDLL) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._library = library
        self._texts: dict[bytes, str] = {}
        self._loaded: dict[bytes, tuple[int, int]] = {}
        self._engines: list[Any] = []
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int)
        )
        self._callback = kind(self._load)
        library.standin_set_loader(self._callback)

    def knows(self, ptx: bytes, text: str) -> None:
        """Remember the LLVM IR of a kernel."""
        self._texts[ptx] = text

    def _load(self, image: bytes, entry: Any, nbytes: Any) -> int:
        text = self._texts.get(image)
        if text is None:
            return 218  # CUDA_ERROR_INVALID_PTX
        if image not in self._loaded:
            self._loaded[image] = self._compile(text)
        entry[0], nbytes[0] = self._loaded[image]
        return 0

    def _compile(self, text: str) -> tuple[int, int]:
        text, count = simulated(text, self._library)
        module = llvm.parse_assembly(text)
        module.verify()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1, jit=True
        )
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
        passes.getModulePassManager().run(module, passes)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        self._engines.append(engine)
        return engine.get_function_address("simulated_thread"), count


def simulated(text: str, library: ctypes.CDLL) -> tuple[str, int]:
    """LLVM IR for a device as IR for this machine, with a function that runs one thread; and the bytes of its parameters."""
    declared: dict[str, str] = {}
    places = iter(range(1 << 30))

    def call(match: re.Match[str]) -> str:
        result, name, arguments = match.groups()
        symbol = "sim_" + name.replace(".", "_")
        if name == "activemask":
            arguments = f"i32 {next(places)}"
        given = [argument.strip() for argument in arguments.split(",")] if arguments else []
        kinds = [argument.split()[0] for argument in given]
        machine = [kind.replace("i1", "i1 zeroext") if kind == "i1" else kind for kind in kinds]
        back = "zeroext i1" if result == "i1" else result
        declared[symbol] = f"declare {back} @{symbol}({', '.join(machine)}) convergent"
        llvm.add_symbol(symbol, ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value)
        return f"call {back} @{symbol}({', '.join(argument.replace('i1 ', 'i1 zeroext ', 1) for argument in given)})"

    text = _CALL.sub(call, text)
    found = _KERNEL.search(text)
    assert found is not None
    text = text.replace("ptx_kernel ", "internal ")
    text = text.replace(' syncscope("device")', "").replace(' syncscope("block")', "")
    text = text.replace(
        "@qd_dynamic = external addrspace(3) global [0 x i8]",
        f"@qd_dynamic = internal addrspace(3) global [{_DYNAMIC_BYTES} x i8] undef",
    )
    loads, given, offset = "", [], 0
    for position, param in enumerate(found[1].split(",")):
        kind = param.split()[0]
        loads += f"  %p{position} = getelementptr i8, ptr %words, i64 {offset}\n"
        loads += f"  %w{position} = load {kind}, ptr %p{position}\n"
        given.append(f"{kind} %w{position}")
        offset += int(kind[1:]) // 8
    thread = (
        f"define void @simulated_thread(ptr %words) {{\n{loads}"
        f"  call void @qd_kernel({', '.join(given)})\n  ret void\n}}\n"
    )
    return "\n".join((*declared.values(), text, thread)), offset


class SimulatedBackend(CudaBackend):
    """The backend on the stand-in driver."""

    def __init__(self, driver: Library, library: ctypes.CDLL) -> None:
        super().__init__(driver)
        self.library = library
        self.simulator = Simulator(library)

    def load(self, artifact: Artifact, device: Device) -> CudaExecutable:
        self.simulator.knows(artifact.code, artifact.text["llvm"])
        return super().load(artifact, device)


@cache
def standin() -> SimulatedBackend | str:
    """The backend on the stand-in, or why there is none."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return "the stand-in for the CUDA driver needs a C compiler (Debian: apt-get install gcc)"
    folder = tempfile.mkdtemp(prefix="quadrants-cuda-")
    path = Path(folder, "libcuda.so.1")
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(path), str(_SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    driver, library = Library(ffi, ffi.dlopen(str(path))), ctypes.CDLL(str(path))
    return SimulatedBackend(driver, library)


def needed() -> SimulatedBackend:
    """The backend on the stand-in; skips the test where there is none, with the reason."""
    found = standin()
    if isinstance(found, str):
        pytest.skip(found)
    return found


def first(backend: CudaBackend) -> Device:
    return backend.devices()[0]


# Kernels of QIR


@dataclass
class Bench:
    """The stand-in, as the tests of other backends know a device."""

    name: str
    backend: SimulatedBackend
    device: Device

    def load(self, module: Module | str) -> tuple[Module, CudaExecutable]:
        """Check a module, compile and load it."""
        module = parse_module(module) if isinstance(module, str) else module
        verify(module)
        artifact = self.backend.compile(module, self.backend.target_of(self.device))
        return module, self.backend.load(artifact, self.device)

    def run(
        self, module: Module | str, args: Sequence[Any], grid: Box = ONE, block: Box = ONE, shared_bytes: int = 0
    ) -> None:
        """Run a kernel on numbers and arrays, which are changed in place."""
        module, executable = self.load(module)
        types = [param.type for param in module.functions[module.entry].params]
        self.launch(executable, types, args, grid, block, shared_bytes)
        executable.close()

    def launch(
        self,
        executable: CudaExecutable,
        types: Sequence[Any],
        args: Sequence[Any],
        grid: Box,
        block: Box,
        shared_bytes: int = 0,
    ) -> None:
        """Launch a kernel that is loaded."""
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
            self.backend.open(self.device).synchronize()
            for address, arg in held.items():
                back = np.empty(arg.nbytes, np.uint8)
                memory.copy_out(memoryview(back), address)
                arg[...] = np.ndarray(arg.shape, arg.dtype, back, strides=arg.strides)
        finally:
            for address in held:
                memory.free(address)

    def check(self) -> None:
        """Nothing more is said of a run."""


def bench() -> Bench:
    """The stand-in; skips the test where there is none."""
    found = needed()
    return Bench("stand-in", found, first(found))
