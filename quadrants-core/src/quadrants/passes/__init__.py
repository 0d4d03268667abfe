"""Passes, QIR -> QIR: one pass a file, listed in `pipeline`."""
