"""Random numbers for kernels: a counter that all threads share, and a mixing function.

Takes the place of a number in the sequence; gives 64 bits that look random (the finaliser of SplitMix64, Steele et al. 2014).
"""

from __future__ import annotations

import numpy as np

#: How many numbers were drawn, and where the sequence begins.
STATE = np.zeros(1, np.int64)
#: The same memory as two words, the lower one first: what devices count in, which may have no atomic steps on 64 bits.
WORDS = STATE.view(np.uint32)


def mixed(place):
    """The bits of the number at a place of the sequence."""
    z = np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
