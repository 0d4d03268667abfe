"""The binary form of SPIR-V: the numbers of its grammar, and an assembler. Knows nothing of QIR."""

from __future__ import annotations
