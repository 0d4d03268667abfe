"""The portable language in inference: vectors, tensors, loops that are parallel by declaration, and the names of `qd`."""
