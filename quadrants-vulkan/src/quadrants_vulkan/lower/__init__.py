"""QIR to SPIR-V: takes a module that `legalise` has prepared and a target; gives the binary and what a launch has to know."""

from __future__ import annotations
