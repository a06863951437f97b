"""Our own parsers under atheris: bytes that reach new lines are kept and changed further.

    python -m fuzz.guided KIND SECONDS FAILURES

Atheris (pip install atheris) has wheels for few versions of Python; without it `make fuzz` goes on with
mutations alone.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

from fuzz.files import Seed, quiet, seeds
from gough.description.file_units import in_si
from gough.description.files import parse, read_text
from gough.description.numbers import describe
from gough.errors import GoughError

OWN = ("motion csv", "npz", "calculix", "bulk data", "mesh", "study folder", "robot", "urdf")
"""Kinds of files that gough reads itself."""
PARSERS = (
    "gough.base.",
    "gough.data.",
    "gough.description.",
    "gough.exchange.incoming.",
    "gough.studies.",
    "zipfile",
)
"""How names of modules begin whose branches are watched."""


def functions(name: str) -> Iterator[FunctionType]:
    """Functions and methods of a module."""
    for one in [*vars(sys.modules[name]).values()]:
        for each in [*vars(one).values()] if isinstance(one, type) else (one,):
            plain = inspect.unwrap(getattr(each, "fget", None) or getattr(each, "__func__", each))
            if isinstance(plain, FunctionType) and plain.__module__ == name:
                yield plain


def described(path: Path) -> None:
    """A robot file as it is read and checked; no robot is made of it, which takes far longer."""
    text, name = read_text(path)
    describe(parse(in_si(text, name), name), name, path.parent)


def stored(path: Path) -> bytes:
    """A file's bytes; an archive's members are not compressed: a change meets their content."""
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
    return path.read_bytes()


def written(corpus: Path, made: list[Seed]) -> dict[Path, bytes]:
    """Files to begin with, the first byte of each its number among the seeds, and their words."""
    corpus.mkdir()
    sound = {seed.path: stored(seed.path) for seed in made}
    for number, data in enumerate(sound.values()):
        (corpus / str(number)).write_bytes(bytes([number]) + data)
    words = {word for data in sound.values() for word in re.findall(rb"\*?[A-Za-z]\w{1,30}", data)}
    lines = [f'"{word.decode()}"' for word in sorted(words)[:2000]]
    corpus.with_suffix(".words").write_text("\n".join(lines))
    return sound


def main() -> None:
    """Until the time is over; what fails is kept, and ends it."""
    import atheris

    kind, seconds, failures = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    corpus = folder / "corpus"
    made = seeds(folder, kind)
    if kind == "robot":
        made = [seed._replace(read=described) for seed in made]
    sound = written(corpus, made)
    for name in [name for name in sys.modules if name.startswith(PARSERS)]:
        for function in functions(name):
            atheris.instrument_func(function)
    # no change is lost to a checksum
    zipfile.ZipExtFile._update_crc = lambda *_: None  # type: ignore[attr-defined]

    def one(data: bytes) -> None:
        seed = made[(data or b"\0")[0] % len(made)]
        seed.path.write_bytes(data[1:])
        with contextlib.suppress(GoughError):
            quiet(seed.read, seed.path)
        seed.path.write_bytes(sound[seed.path])

    Path(failures).mkdir(exist_ok=True)
    kept = f"-artifact_prefix={failures}/guided-{kind.replace(' ', '-')}-"
    limits = ("-timeout=60", "-rss_limit_mb=1000", "-max_len=131072", "-print_final_stats=1")
    known = f"-dict={corpus.with_suffix('.words')}"
    words = [sys.argv[0], f"-max_total_time={seconds}", kept, known, *limits, str(corpus)]
    atheris.Setup(words, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
