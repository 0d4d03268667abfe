"""What every backend has to do, as tests that a backend's package runs against itself.

`GOLDEN` is the table of golden programs: each a kernel, data, and what NumPy gives for them, for every dtype that applies.
`quadrants.backend.conformance.suite` is a pytest module over it and over launches, errors and the contract; a package has a
test file

    from quadrants.backend.conformance.suite import *

and a fixture `backend_name` that gives its name. See `docs/backends/writing-one.md`.
"""

from __future__ import annotations

from quadrants.backend.conformance.golden import GOLDEN, Case, Golden

__all__ = ["GOLDEN", "Case", "Golden"]
