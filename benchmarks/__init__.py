"""The benchmark suite: kernels, their inputs and references, the paired comparison with other compilers, and the same for asv."""
