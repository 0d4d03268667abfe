"""LLVM, as far as the compiler needs it: the native library that llvmlite brings, called directly.

Takes and gives text, bytes and the three kinds of objects below. Importing `llvmlite.binding` defines its whole interface, some
400 functions and its IR classes, in 20 ms, a tenth of a process that compiles one kernel; here is what that kernel takes. The
distribution is pinned to one minor version of llvmlite, whose C interface this is. Nothing of llvmlite's Python side is used
but its place, so both can be used side by side. Safe to call from several threads, each with contexts of its own; a machine
works for one at a time.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable
from ctypes import c_bool, c_char_p, c_int, c_size_t, c_void_p
from typing import Any, Self

_NAMES = {"win32": "llvmlite.dll", "darwin": "libllvmlite.dylib"}
_TEXT_OUT = ctypes.POINTER(c_void_p)

#: function -> (result, *arguments). Pointers to objects are plain addresses.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "DisposeString": (None, c_void_p),
    "InitializeNativeTarget": (None,),
    "InitializeNativeAsmPrinter": (None,),
    "InitializeAllTargetInfos": (None,),
    "InitializeAllTargets": (None,),
    "InitializeAllTargetMCs": (None,),
    "InitializeAllAsmPrinters": (None,),
    "GetHostCPUName": (None, _TEXT_OUT),
    "GetHostCPUFeatures": (c_int, _TEXT_OUT),
    "ContextCreate": (c_void_p,),
    "ContextDispose": (None, c_void_p),
    "ParseAssembly": (c_void_p, c_void_p, c_char_p, _TEXT_OUT),
    "VerifyModule": (c_bool, c_void_p, _TEXT_OUT),
    "SetTarget": (None, c_void_p, c_char_p),
    "SetDataLayout": (None, c_void_p, c_char_p),
    "LinkModules": (c_int, c_void_p, c_void_p, _TEXT_OUT),
    "PrintModuleToString": (None, c_void_p, _TEXT_OUT),
    "DisposeModule": (None, c_void_p),
    "GetTargetFromTriple": (c_void_p, c_char_p, _TEXT_OUT),
    "CreateTargetMachine": (
        c_void_p,
        *(c_void_p, c_char_p, c_char_p, c_char_p, c_int, c_char_p, c_char_p, c_int, c_int, c_char_p),
    ),
    "CreateTargetMachineData": (c_void_p, c_void_p),
    "CopyStringRepOfTargetData": (None, c_void_p, _TEXT_OUT),
    "DisposeTargetData": (None, c_void_p),
    "TargetMachineEmitToMemory": (c_void_p, c_void_p, c_void_p, c_int, _TEXT_OUT),
    "GetBufferStart": (c_void_p, c_void_p),
    "GetBufferSize": (c_size_t, c_void_p),
    "DisposeMemoryBuffer": (None, c_void_p),
    "CreatePipelineTuningOptions": (c_void_p,),
    "PTOSetLoopVectorization": (None, c_void_p, c_bool),
    "PTOSetLoopInterleaving": (None, c_void_p, c_bool),
    "PTOSetLoopUnrolling": (None, c_void_p, c_bool),
    "PTOSetSLPVectorization": (None, c_void_p, c_bool),
    "DisposePipelineTuningOptions": (None, c_void_p),
    "CreatePassBuilder": (c_void_p, c_void_p, c_void_p),
    "DisposePassBuilder": (None, c_void_p),
    "CreateNewModulePassManager": (c_void_p,),
    "buildPerModuleDefaultPipeline": (c_void_p, c_void_p, c_int),
    "module_AddAlwaysInlinerPass": (None, c_void_p),
    "RunNewModulePassManager": (None, c_void_p, c_void_p, c_void_p),
    "DisposeNewModulePassManger": (None, c_void_p),
}


#: Held while a machine works: it makes what it knows of a function's target when it first sees it, and remembers it.
_machines = threading.Lock()


def _after_fork() -> None:
    """No other thread of the parent lives on, whatever it held."""
    global _machines
    _machines = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class LLVMError(Exception):
    """What LLVM says of input that it refuses."""


class Module:
    """A parsed module: a context manager that frees it and its context."""

    def __init__(self, text: str, triple: str, layout: str, context: Context | None = None) -> None:
        self._context = context or Context()
        problem = _Out()
        self._address: int | None = _call("ParseAssembly", self._context.address, text.encode(), problem.place)
        message = problem.take()
        if not self._address or message:
            raise LLVMError(message)
        if _call("VerifyModule", self._address, problem.place):
            raise LLVMError(problem.take())
        problem.take()
        _call("SetTarget", self._address, triple.encode())
        _call("SetDataLayout", self._address, layout.encode())
        self.triple, self.layout = triple, layout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        _call("DisposeModule", self._address)
        self._address = None
        self._context.dispose()

    def __str__(self) -> str:
        text = _Out()
        _call("PrintModuleToString", self._address, text.place)
        return text.take()

    @property
    def address(self) -> int | None:
        return self._address

    def link(self, text: str) -> None:
        """Bring another module in."""
        other = Module(text, self.triple, self.layout, self._context)
        problem = _Out()
        if _call("LinkModules", self._address, other.address, problem.place):  # destroys the other one
            raise LLVMError(problem.take())
        problem.take()


class Context:
    """What the types and constants of modules that are linked belong to."""

    def __init__(self) -> None:
        self.address = _call("ContextCreate")

    def dispose(self) -> None:
        _call("ContextDispose", self.address)


class Machine:
    """A target machine: makes object code, position-independent, for the small code model. Never freed."""

    def __init__(self, triple: str, cpu: str, features: str, opt: int) -> None:
        problem = _Out()
        target = _call("GetTargetFromTriple", triple.encode(), problem.place)
        if not target:
            raise LLVMError(problem.take())
        self.address = _call(
            "CreateTargetMachine",
            *(target, triple.encode(), cpu.encode(), features.encode(), opt, b"pic", b"small", 0, 0, b""),
        )
        if not self.address:
            raise LLVMError(f"there is no target machine for {triple}")
        self.triple = triple
        self.layout = self._data_layout()

    def _data_layout(self) -> str:
        data, text = _call("CreateTargetMachineData", self.address), _Out()
        _call("CopyStringRepOfTargetData", data, text.place)
        _call("DisposeTargetData", data)
        return text.take()

    def emit(self, module: Module, as_object: bool = True) -> bytes:
        """The module as an object, or as assembly."""
        problem = _Out()
        with _machines:
            buffer = _call("TargetMachineEmitToMemory", self.address, module.address, int(as_object), problem.place)
        if not buffer:
            raise LLVMError(problem.take())
        try:
            return ctypes.string_at(_call("GetBufferStart", buffer), _call("GetBufferSize", buffer))
        finally:
            _call("DisposeMemoryBuffer", buffer)

    def optimise(self, module: Module, level: int, loops: bool, slp: bool) -> None:
        """The default pipeline of a level from 0 to 3, with or without what transforms loops and vectorises."""
        self._run(module, lambda builder: _call("buildPerModuleDefaultPipeline", builder, level), loops, slp)

    def inline_always(self, module: Module) -> None:
        """Only inline the functions that say so."""

        def build(_builder: int) -> int:
            passes: int = _call("CreateNewModulePassManager")
            _call("module_AddAlwaysInlinerPass", passes)
            return passes

        self._run(module, build, loops=False, slp=False)

    def _run(self, module: Module, build: Callable[[int], int], loops: bool, slp: bool) -> None:
        tuning = _call("CreatePipelineTuningOptions")
        for name in ("LoopVectorization", "LoopInterleaving", "LoopUnrolling"):
            _call(f"PTOSet{name}", tuning, loops)
        _call("PTOSetSLPVectorization", tuning, slp)
        builder = _call("CreatePassBuilder", self.address, tuning)
        passes = build(builder)
        with _machines:
            _call("RunNewModulePassManager", passes, module.address, builder)
        _call("DisposeNewModulePassManger", passes)  # sic
        _call("DisposePassBuilder", builder)
        _call("DisposePipelineTuningOptions", tuning)


def host_cpu() -> tuple[str, str]:
    """The name of this machine's CPU, and its features as LLVM writes them."""
    name, features = _Out(), _Out()
    _call("GetHostCPUName", name.place)
    _call("GetHostCPUFeatures", features.place)
    return name.take(), features.take()


@functools.cache
def initialise_all_targets() -> None:
    """Make the backends of other machines known too."""
    for part in ("TargetInfos", "Targets", "TargetMCs", "AsmPrinters"):
        _call(f"InitializeAll{part}")


class _Out:
    """A place for text that LLVM allocates."""

    def __init__(self) -> None:
        self._pointer = c_void_p()
        self.place = ctypes.byref(self._pointer)

    def take(self) -> str:
        """The text, which is freed; "" if there is none."""
        if not self._pointer:
            return ""
        text = ctypes.string_at(self._pointer.value or 0).decode("utf-8", "replace")
        _call("DisposeString", self._pointer)
        self._pointer.value = None
        return text


def _call(name: str, *arguments: Any) -> Any:
    return _library()[name](*arguments)


@functools.cache
def _library() -> dict[str, Any]:
    """The functions, with this machine's backend initialised."""
    import llvmlite  # only the package itself, for its place: its modules stay unloaded

    path = os.path.join(os.path.dirname(llvmlite.__file__), "binding", _NAMES.get(sys.platform, "libllvmlite.so"))
    handle = ctypes.CDLL(path)
    found = {}
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = handle[f"LLVMPY_{name}"]
        function.restype, function.argtypes = result, arguments
        found[name] = function
    found["InitializeNativeTarget"]()
    found["InitializeNativeAsmPrinter"]()
    return found
