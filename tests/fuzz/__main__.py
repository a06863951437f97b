"""The whole campaign: kinds of files, arguments, command lines, states, faults, each in its own process.

FUZZ_MINUTES  how long, 5 by default; FUZZ_SEED  where to begin, printed, random by default
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from fuzz.files import MAKERS
from fuzz.guided import OWN
from fuzz.worker import OTHERS, SECONDS, process

KINDS = (*MAKERS, *OTHERS)
FAILURES = Path("fuzz-failures")


def main() -> int:
    """Run all kinds in turn, as long as asked; 1 if anything failed."""
    minutes = float(os.environ.get("FUZZ_MINUTES", "5"))
    seed = int(os.environ.get("FUZZ_SEED", random.randrange(10**9)))
    print(f"{minutes:g} minutes, FUZZ_SEED={seed}", flush=True)
    guided = OWN if importlib.util.find_spec("atheris") is not None else ()
    share = max(5.0, 60 * minutes / (len(KINDS) + len(guided)))
    bad = 0
    for kind in KINDS:
        bad += _watched(kind, seed, share)
    for kind in guided:
        bad += _guided(kind, share)
    print("failures are in fuzz-failures/" if bad else "no failures")
    return min(bad, 1)


def _watched(kind: str, first: int, seconds: float) -> int:
    """Failures of one kind; a process that hangs or dies is one, with the case it was at.

    It is a copy of this one: what all kinds import is loaded once.
    """
    with tempfile.TemporaryDirectory() as folder:
        current = Path(folder) / "current"
        given = (kind, first, seconds, FAILURES.absolute(), current)
        worker = get_context("fork").Process(target=process, args=given)
        worker.start()
        worker.join(seconds + 30 * SECONDS)
        if worker.is_alive():
            worker.kill()
            worker.join()
        bad = worker.exitcode or 0
        if 0 <= bad < 100:
            return bad
        FAILURES.mkdir(exist_ok=True)
        kept = FAILURES / f"{kind.replace(' ', '-')}-{time.time_ns()}"
        kept.write_bytes(current.read_bytes() if current.exists() else b"")
        print(f"FAILED {kind}: the process ended with {bad}; its case is {kept}", flush=True)
        return 1


def _guided(kind: str, seconds: float) -> int:
    """Whether a parser fails that atheris leads; what it says is kept."""
    words = [sys.executable, "-m", "fuzz.guided", kind, str(int(seconds)), str(FAILURES.absolute())]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    runs = re.search(r"number_of_executed_units: (\d+)", ended.stderr)
    print(f"DONE {kind}, guided: {runs[1] if runs else 'unknown'} cases", flush=True)
    if ended.returncode:
        print(f"FAILED {kind}, guided: {ended.stderr[-2000:]}", flush=True)
    return min(abs(ended.returncode), 1)


if __name__ == "__main__":
    sys.exit(main())
