"""QIR of the device level to the LLVM IR of a GPU, around the shared lowering.

Takes a kernel and the `Primitives` of a kind of GPU; gives text and what a launch has to know (`kernel.Facts`). What is the
same on all GPUs is here: memory of a block and of a thread, barriers that count, subgroups made of a few primitives, prints,
exceptions that reach the host. Imports no LLVM.
"""
