"""One process of the campaign: cases of one kind from a seed on, until it is told to end.

Before each case its input is on disk, so that whoever watches knows what hung or killed the process.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import signal
import tempfile
import time
import traceback
from functools import partial
from pathlib import Path

from fuzz import arguments, faults, states, trees
from fuzz.files import Seed, quiet, seeds
from fuzz.mutations import minimised, mutated
from gough.errors import GoughError

SECONDS = 20
"""Of the processor's time that one case may take; of waiting, ten times that."""
MEGABYTES = 1000
"""That a process may take on a file under 10 MB."""
OTHERS = ("call", "command line", "state", "fault", "signal")


class Hang(BaseException):
    """A case that takes too long."""


def case(data: bytes, seed: Seed) -> str:
    """What reading a mutated file stumbles over, "" if nothing: type and place."""
    sound = seed.path.read_bytes()
    seed.path.write_bytes(data)
    try:
        return guarded(lambda: quiet(seed.read, seed.path))
    finally:
        seed.path.write_bytes(sound)


def guarded(run) -> str:
    """What a case stumbles over, "" if nothing."""
    timers = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    for (number, timer), seconds in zip(timers.items(), (SECONDS, 10 * SECONDS), strict=True):
        signal.signal(number, _late)
        signal.setitimer(timer, seconds)
    silence = io.StringIO()
    try:
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            run()
    except GoughError:
        return ""
    except (Exception, Hang, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "gough" in f.filename), frames[-1])
        return f"{type(error).__name__} at {Path(place.filename).name}:{place.name}: {str(error)[:120]}"
    finally:
        for timer in timers.values():
            signal.setitimer(timer, 0)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return f"{used:.0f} MB taken" if used > MEGABYTES else ""


def _late(*_: object) -> None:
    raise Hang(f"over {SECONDS} s")


def run(
    kind: str, first: int, seconds: float, failures: Path, current: Path, most: int = 10**9
) -> tuple[int, int]:
    """Cases from a seed on; returns how many, and how many ways to fail, each kept once."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    made = [] if kind in OTHERS else seeds(folder, kind)
    if not made and kind not in OTHERS:
        return 0, 0
    known: set[str] = set()
    end, number = time.monotonic() + seconds, first
    while time.monotonic() < end and number - first < most:
        rng = random.Random(f"{kind} {number}")
        if kind in OTHERS:
            current.write_text(f"{kind} {number}")
            found, data = guarded(_other(kind, number, rng, folder)), str(number).encode()
        else:
            seed = rng.choice(made)
            data = seed.path.read_bytes()
            if seed.path.suffix == ".toml" and rng.random() < 0.7:
                data = trees.changed(data, rng.choice(made).path.read_bytes(), rng)
            else:
                data = mutated(data, rng, seed.text)
            current.write_bytes(data)
            found = case(data, seed)
        fact = found.partition(":")[0] + found.partition(":")[2].partition(":")[0]
        if found and fact not in known:
            known.add(fact)
            name = f"{kind.replace(' ', '-')}-{number}"
            if kind not in OTHERS and "MB taken" not in found and "Hang" not in found:
                data = minimised(data, partial(_same, seed=seed, found=found))
                name += f"-{seed.path.name}"
            failures.mkdir(exist_ok=True)
            (failures / name).write_bytes(data)
            print(f"FAILED {kind}, seed {number}: {found}; kept as {failures / name}", flush=True)
        number += 1
    return number - first, len(known)


def _same(data: bytes, seed: Seed, found: str) -> bool:
    return case(data, seed)[:40] == found[:40]


def _other(kind: str, number: int, rng: random.Random, folder: Path):
    if kind == "call":
        return lambda: arguments.call(rng)
    if kind == "command line":
        return lambda: arguments.command_line(rng, folder)

    if kind in ("fault", "signal"):
        os.environ["GOUGH_ENGINE"] = "numpy"  # copies of a process have no threads
        words = rng.choice([*(faults.COPIED if kind == "fault" else faults.COMMANDS)])

        def strike() -> None:
            met = (
                faults.check(words, 2, number)
                if kind == "fault"
                else faults.interrupted(words, rng)
            )
            assert not met, "\n".join(met)

        return strike

    def compare() -> None:
        error, where, _ = states.errors(number, 100)
        assert error <= states.LIMIT, f"off by {error:.1e} ({where})"

    return compare


def process(kind: str, first: int, seconds: float, failures: Path, current: Path) -> None:
    """All of one kind, in a process of its own; its exit code is how many ways to fail it met."""
    limit = 6_000_000_000  # of addresses: libraries reserve more than they take
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if kind == "state":  # kernels of every random robot would take longer to compile than to run
        os.environ.setdefault("GOUGH_ENGINE", "numpy")
    count, bad = run(kind, first, seconds, failures, current)
    print(f"DONE {kind}: {count} cases", flush=True)
    os._exit(min(bad, 99))
