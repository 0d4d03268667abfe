"""The kernels that compilers are compared on, by area.

`WORKLOADS[name]` has the inputs and the check of one; `build(module)` gives a dict from name to compiled function.
"""

from __future__ import annotations

from benchmarks.suite import dense, elementary, expressions, integers, particles, robotics, stencils, streaming
from benchmarks.workload import Compiler

AREAS = (streaming, expressions, dense, stencils, particles, robotics, elementary, integers)
WORKLOADS = {name: workload for area in AREAS for name, workload in area.WORKLOADS.items()}


def build(module, **options):
    """The kernels, compiled by the `njit` of a module, with its options."""
    compiler = Compiler(module, **options)
    for area in AREAS:
        area.kernels(compiler)
    return compiler.kernels
