"""QD4xx: backends, devices and their capabilities."""

from __future__ import annotations

from quadrants.diagnostics.catalogue.entry import Entry
from quadrants.diagnostics.codes import Code

ENTRIES = (
    Entry(
        Code.BACKEND_MISSING,
        "a backend that is not installed",
        "No installed package provides the backend of this name.",
        """
from quadrants.backend import get_backend

get_backend("abacus")
""",
        "Install it: pip install 'quadrants[cuda]' for CUDA. `python -m quadrants doctor` lists what is installed.",
    ),
    Entry(
        Code.BACKEND_UNAVAILABLE,
        "a backend that cannot be used here",
        "The backend is installed, but this machine lacks what it needs, or this version has no code generator for it. The text "
        "gives the reason.",
        "# a backend whose driver is not installed",
        "Follow the fix in the text, or use the CPU backend.",
    ),
    Entry(
        Code.BACKEND_BROKEN,
        "a backend that cannot be loaded",
        "The package that provides the backend raised an error, or does not implement the contract.",
        "# a damaged installation",
        "Reinstall the package, or report the error to its maintainers.",
    ),
    Entry(
        Code.BACKEND_VERSION,
        "a backend of another version",
        "A first-party backend and quadrants-core have to be of the same version: they share the intermediate representation.",
        "# quadrants-cuda 0.2 beside quadrants-core 0.1",
        "Install the same version of both.",
    ),
    Entry(
        Code.UNSUPPORTED_CAPABILITY,
        "something that the device cannot do",
        "The program needs a type or an operation that the target device does not have. It is never replaced silently by a less "
        "exact one.",
        "# float64 on a device without it",
        "Use the alternative that the text names, or another device.",
    ),
    Entry(
        Code.UNSUPPORTED_ON_TARGET,
        "an intrinsic of another backend",
        "The operation belongs to one backend, and the program is compiled for another.",
        "# CUDA's shuffle in a kernel for the CPU",
        "Use the portable operation, or compile for the backend that has it.",
    ),
    Entry(
        Code.RECURSION_ON_TARGET,
        "recursion on a device without a call stack",
        "The functions call each other in a cycle, which the text names. The target cannot run recursive functions.",
        "# a recursive function in a Vulkan kernel",
        "Rewrite the recursion as a loop.",
    ),
    Entry(
        Code.DEVICE_MISMATCH,
        "arguments on several devices",
        "The arguments of one call live on different devices.",
        "# one array on device 0, one on device 1",
        "Copy them to one device first, or name the device.",
    ),
    Entry(
        Code.UNKNOWN_DEVICE,
        "a device that does not exist",
        "The backend has no device of this number on this machine.",
        "# device 3 of a machine with one",
        "`python -m quadrants doctor` lists the devices.",
    ),
    Entry(
        Code.DEVICE_MEMORY,
        "memory of the device exhausted",
        "The device has no room for the allocation.",
        "# an array larger than the device's memory",
        "Free arrays that are no longer used, or work in parts.",
    ),
    Entry(
        Code.UNDEFINED_SYMBOL,
        "a symbol that is not allowed or not found",
        "The compiled code refers to a function outside of the set that the loader resolves.",
        "# an external function that was never registered",
        "Pass the function as a ctypes or cffi pointer.",
    ),
    Entry(
        Code.BAD_LAUNCH,
        "a launch shape that cannot be used",
        "The grid or the block has a wrong form, or is larger than the device allows.",
        """
@qd.cpu.kernel
def k(x):
    x[qd.cpu.grid(1)] = 1.0

k[10 / 4, 4](np.zeros(10))
""",
        "Choose a block within the limits that the text names.",
    ),
    Entry(
        Code.BAD_TARGET,
        "a target that is not known",
        "The architecture or instruction set is not one that the backend can compile for.",
        "# QUADRANTS_ISA=x86-64-v9",
        "Name one of the targets in the text.",
    ),
    Entry(
        Code.CODEGEN_FAILED,
        "the code generator refused the program",
        "LLVM or the driver's compiler rejected what it was given. This is a bug of Quadrants unless the program has inline code.",
        "# inline assembly that the assembler does not accept",
        "Correct the inline code; otherwise report the program.",
    ),
    Entry(
        Code.OUTSIDE_KERNEL,
        "the language of kernels outside of one",
        "Thread indices, barriers, shared memory and atomic operations mean something in a kernel, and in functions that it calls. "
        "In the interpreter, and in functions for the CPU, there are no threads of a block.",
        """
@qd.njit
def f(x):
    i = qd.cpu.grid(1)
    x[i] = 1.0

f(np.zeros(3))
""",
        "Decorate the function with @qd.<backend>.kernel and launch it, or call it from a kernel.",
    ),
    Entry(
        Code.DIVERGENT_BARRIER,
        "a barrier that some threads do not reach",
        "All threads of a block have to reach a barrier; here some wait at it, and others are at another one or have left the "
        "kernel. On a GPU the program would hang, or go on with wrong data.",
        """
@qd.cpu.kernel(debug=True)
def k(x):
    t = qd.cpu.threadIdx.x
    if t < 16:
        qd.cpu.syncthreads()
    x[t] = 1.0

k[1, 32](np.zeros(32))
""",
        "Move the barrier out of the branch or the loop, so that every thread of the block reaches it.",
    ),
    Entry(
        Code.DATA_RACE,
        "a race between threads",
        "Two threads access an element, at least one writes it, and nothing says which comes first: no barrier of the block lies "
        "between, and blocks of one launch have no order at all. Found with debug=True.",
        """
@qd.cpu.kernel(debug=True)
def k(x):
    t = qd.cpu.threadIdx.x
    x[t] = x[(t + 1) % x.size] + 1.0

k[1, 4](np.zeros(4))
""",
        "Put a barrier between the accesses, write to another array, or use an atomic operation.",
    ),
    Entry(
        Code.UNINITIALISED_READ,
        "a read of memory that was not written",
        "Shared and local arrays hold nothing until the kernel has written to them: what a read gives differs from run to run. "
        "Found with debug=True.",
        """
@qd.cpu.kernel(debug=True)
def k(out):
    tile = qd.cpu.shared.array(4, qd.f32)
    t = qd.cpu.threadIdx.x
    if t != 2:
        tile[t] = 1.0
    qd.cpu.syncthreads()
    out[t] = tile[t]

k[1, 4](np.zeros(4))
""",
        "Write every element before it is read; where another thread writes it, put a barrier between.",
    ),
    Entry(
        Code.DEVICE_FAULT,
        "a kernel that the device stopped",
        "The driver says that a kernel did what the device does not allow, such as an access outside of its memory. Nothing more "
        "runs on the device in this process.",
        "# a kernel on a GPU that writes far outside of an array",
        "Run the kernel with debug=True: every access is checked then, and the error names the line and the thread.",
    ),
)
