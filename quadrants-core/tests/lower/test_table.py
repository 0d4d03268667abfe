from __future__ import annotations

from quadrants.ir.ops import OPS
from quadrants.lower import table


def test_every_op_is_lowered_or_refused_with_a_reason() -> None:
    assert set(table.EMITTERS) | set(table.UNSUPPORTED) == set(OPS)
    assert not set(table.EMITTERS) & set(table.UNSUPPORTED)
    assert all(table.UNSUPPORTED.values())
