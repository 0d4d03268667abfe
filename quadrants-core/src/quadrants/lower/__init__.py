"""QIR to LLVM IR text, shared by the backends that use LLVM.

Takes a verified QIR module after the passes; gives `abi.Lowered`: LLVM IR as text, and the tables that the host
needs to raise exceptions and to call back into Python. Imports no LLVM: `quadrants.host.codegen` makes the text into
machine code.
"""
