"""The doctor where everything works."""

from __future__ import annotations

import io

from quadrants.doctor import doctor


def test_the_report() -> None:
    out = io.StringIO()
    assert doctor(out) == 0, out.getvalue()
    text = out.getvalue()
    for line in ("cpu: available", "agrees with the interpreter", "cpu: sums of blocks agree with NumPy"):
        assert line in text
    assert "failed" not in text
