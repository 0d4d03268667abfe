"""QIR to the LLVM IR of CUDA devices: the shared lowering, with what threads of a device have beside."""

from __future__ import annotations
