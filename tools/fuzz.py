"""Random programs against the interpreter, for as long as wanted: `python tools/fuzz.py --seconds 600`, or `make fuzz SECONDS=600`.

Seeds are run in batches, each in a process of its own, so that a crash or a hang names its batch and ends nothing else. Prints
every difference with the seed that repeats it (`--start SEED --seconds 1`), and fails if there was one.
"""

from __future__ import annotations

import argparse
import faulthandler
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "quadrants-core" / "tests"
BATCH = 25  # seeds a process: it imports the compiler once and forgets what it compiled
HANGS = 900  # seconds after which a batch counts as hanging


def batch(first: int, until: float) -> int:
    """Run the seeds of one batch in this process; gives how many programs differed."""
    sys.path.insert(0, str(TESTS))
    from differential.running import check_program
    from differential.test_generated import WRITERS, Seeded

    faulthandler.enable()
    failures = done = 0
    for seed in range(first, first + BATCH):
        for writer in WRITERS:
            if time.time() > until:
                break
            try:
                check_program(writer(Seeded(seed)))
            except AssertionError as difference:
                failures += 1
                print(f"seed {seed}, {writer.__name__}:\n{difference}\n", flush=True)
            done += 1
    print(f"{done} programs", flush=True)
    return failures


def run_batches(start: int, seconds: float) -> int:
    """Batches from a seed on until the time is over; gives how many of them failed."""
    until = time.time() + seconds
    failed = programs = 0
    seed = start
    while time.time() < until:
        command = [sys.executable, __file__, "--batch", str(seed), "--until", str(until)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
            text, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired:
            text, code = "it hangs", -1
        ended = text.endswith(" programs\n")
        programs += int(text.split()[-2]) if ended else 0
        if code:
            failed += 1
            print(f"seeds {seed} to {seed + BATCH - 1}: exit code {code}\n{text}", flush=True)
            print("" if code == -1 else done.stderr[-4000:], flush=True)
        if not ended and not programs:
            break  # not one program ran: there is something wrong with the environment
        seed += BATCH
    print(f"{programs} programs from seed {start} on, {failed} batches with differences")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--start", type=int, default=int(time.time()) % 10**8, help="the first seed (default: from the clock)"
    )
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.batch is not None:
        return 1 if batch(given.batch, given.until) else 0
    return 1 if run_batches(given.start, given.seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
