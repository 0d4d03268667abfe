"""The values that cross the backend contract."""

from __future__ import annotations

import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quadrants.backend import Artifact, Availability, Backend, Capabilities, Target
from quadrants.backend.contract import MEMBERS, missing_members

words = st.text(max_size=12)
targets = st.builds(
    Target,
    words,
    words,
    words,
    st.lists(words, max_size=4).map(tuple),
    st.lists(st.tuples(words, words), max_size=4).map(tuple),
)


@given(targets)
def test_targets_are_serialisable(target: Target) -> None:
    assert Target.from_json(target.to_json()) == target
    assert pickle.loads(pickle.dumps(target)) == target
    assert hash(Target.from_json(target.to_json())) == hash(target)


@given(targets, targets)
def test_the_text_of_a_target_is_its_identity(a: Target, b: Target) -> None:
    assert (a == b) == (a.to_json() == b.to_json())


def test_unavailable_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="say why"):
        Availability(False)


@pytest.mark.parametrize(
    "value",
    [
        Availability(True),
        Target("cpu", "x86_64"),
        Capabilities(frozenset()),
        Artifact(Target("a", "b"), "elf", b"", ()),
    ],
)
def test_values_are_frozen(value: object) -> None:
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)


def test_the_table_of_members_is_the_protocol() -> None:
    declared = {name for name in vars(Backend) if not name.startswith("_")}
    assert declared == set(MEMBERS)


def test_missing_members_does_not_evaluate_properties() -> None:
    class Half:
        @property
        def name(self) -> str:
            raise RuntimeError("evaluated")

    assert missing_members(Half()) == [name for name in MEMBERS if name != "name"]


def test_the_text_of_an_artifact_is_not_part_of_its_identity() -> None:
    target = Target("cpu", "x86_64")
    assert Artifact(target, "elf-object", b"1", ("f",), text={"llvm": "x"}) == Artifact(
        target, "elf-object", b"1", ("f",)
    )
