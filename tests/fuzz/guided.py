"""Our own parsers under atheris: bytes that reach new lines are kept and changed further.

    python -m fuzz.guided KIND SECONDS FAILURES

Atheris (pip install atheris) has wheels for few versions of Python; without it `make fuzz` goes on with
mutations alone.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

from fuzz.files import quiet, seeds
from gough.errors import GoughError

OWN = ("motion csv", "npz", "calculix", "bulk data", "mesh", "study folder", "robot", "urdf")
"""Kinds of files that gough reads itself."""
PARSERS = (
    "gough.base.tables",
    "gough.base.array_files",
    "gough.description.mesh_files",
    "gough.description.mistakes",
    "gough.description.modal.bulk_data",
    "gough.description.modal.calculix",
    "gough.description.modal.npz",
    "gough.exchange.incoming.urdf",
    "gough.exchange.incoming.xml_text",
    "gough.studies.zarr_files",
)
"""Modules whose branches are watched."""


def functions(name: str) -> Iterator[FunctionType]:
    """Functions and methods of a module."""
    module = importlib.import_module(name)
    for one in vars(module).values():
        for each in vars(one).values() if isinstance(one, type) else (one,):
            if isinstance(each, FunctionType) and each.__module__ == name:
                yield each


def main() -> None:
    """Until the time is over; what fails is kept, and ends it."""
    import atheris

    for name in PARSERS:
        for function in functions(name):
            atheris.instrument_func(function)
    kind, seconds, failures = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    corpus = folder / "corpus"
    corpus.mkdir()
    made = seeds(folder, kind)[:1]
    for seed in made:
        (corpus / seed.path.name).write_bytes(seed.path.read_bytes())
    (seed,) = made

    def one(data: bytes) -> None:
        seed.path.write_bytes(data)
        with contextlib.suppress(GoughError):
            quiet(seed.read, seed.path)

    Path(failures).mkdir(exist_ok=True)
    kept = f"-artifact_prefix={failures}/guided-{kind.replace(' ', '-')}-"
    limits = ("-timeout=60", "-rss_limit_mb=1000", "-max_len=65536", "-print_final_stats=1")
    words = [sys.argv[0], f"-max_total_time={seconds}", kept, *limits, str(corpus)]
    atheris.Setup(words, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
