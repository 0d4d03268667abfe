"""The portable language: kernels whose loops are parallel, functions, tensors, vectors. Loaded when one of its names is used."""
