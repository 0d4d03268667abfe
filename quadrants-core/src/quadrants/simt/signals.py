"""Exceptions that compiled kernels raise for the launch, which makes errors of the user's of them."""

from __future__ import annotations


class BarrierDivergence(RuntimeError):
    """Some threads of a block wait at a barrier that others never reach."""
