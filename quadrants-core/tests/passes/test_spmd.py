"""Loops in lanes do what they did turn by turn: in the reference interpreter, and as machine code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from ir.observation import Observation, Sample, agree, copy_args, observe
from lower import execution
from passes import lane_programs

from quadrants.diagnostics import Decision, DecisionKind
from quadrants.infer import Options, infer_module
from quadrants.ir import Module
from quadrants.ir.interp import StepLimit
from quadrants.ir.rewrite import clone_module
from quadrants.ir.text import print_module
from quadrants.ir.values import Raised
from quadrants.passes import pipeline
from quadrants.passes.context import PassOptions
from quadrants.passes.spmd import select
from quadrants.types import F64, I64, PYINT, ArrayType

_VECTOR, _INTS, _MATRIX = ArrayType(F64, 1), ArrayType(I64, 1), ArrayType(F64, 2)
_TYPES = (_VECTOR, _VECTOR, _INTS, _VECTOR, _VECTOR, _INTS, _MATRIX, PYINT)


def module_of(text: str, fp: str) -> Module:
    """The function of a text as QIR."""
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(text, scope)
    return infer_module(scope["f"], _TYPES, Options(fp=fp)).module


def in_lanes(module: Module, bits: int) -> tuple[Module, list[Decision]]:
    """The module after the passes, with lanes wherever they are legal."""
    changed = clone_module(module)
    decisions = pipeline.run(changed, PassOptions(vector_bits=bits, verify=True))
    return changed, [decision for decision in decisions if decision.pass_name == "spmd"]


def machine(module: Module, args: tuple[Any, ...]) -> Observation:
    """What the machine code of a module does."""
    args = copy_args(args)
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    try:
        return Observation(execution.run(module, args), None, None, arrays)
    except Raised as error:
        return Observation(None, (error.cls, error.values), error.loc.line if error.loc else None, arrays)


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes also where they do not pay."""
    monkeypatch.setattr(select, "_LEAST_GAIN", 0.0)


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("seed", range(0, 120, 4))
def test_random_loops(seed: int) -> None:
    for number in range(seed, seed + 4):
        check(number)


def check(number: int) -> bool:
    """Fail if lanes change what a program does; whether there were any."""
    text, args = lane_programs.source(number), lane_programs.arguments(number)
    module = module_of(text, "strict")
    changed, decisions = in_lanes(module, (256, 512)[number % 2])
    try:
        before = observe(Sample(module, args), max_steps=60_000)
        after = observe(Sample(module, args), changed, max_steps=2_000_000)
    except StepLimit:
        return False
    assert agree(before, after), f"{number}\n{text}\n{before}\n{after}\n{print_module(changed)}"
    if number % 4 == 0:
        code = machine(changed, args)
        assert agree(before, code), f"{number}\n{text}\n{before}\n{code}\n{print_module(changed)}"
    return any(decision.kind is DecisionKind.APPLIED for decision in decisions)
