"""A folder of C files with a Makefile, written whole, into which nobody else's files are lost."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gough.base.files import replacing
from gough.errors import FileError

MAKEFILE = """\
# {mark}
# make builds, make test runs the test program.
CFLAGS ?= -O2
STRICT = -std=c99 -Wall -Wextra -Werror -pedantic

all: {objects} test_{name}

%.o: %.c %.h
	$(CC) $(STRICT) $(CFLAGS) -c $< -o $@

test_{name}: test_{name}.c {objects} {name}.h
	$(CC) $(STRICT) $(CFLAGS) test_{name}.c {objects} -o $@ $(LDFLAGS) -lm

test: test_{name}
	./test_{name}

clean:
	rm -f {objects} test_{name}

.PHONY: all test clean
"""
"""Of {objects} and the test program test_{name}.c."""


def write_folder(target: Path, contents: Mapping[str, str], mark: str) -> None:
    """All files at once into a new folder, or one by one into one that is there.

    There, a file that gough did not write, or wrote for another robot (its first line lacks `mark`), is
    never touched: then nothing is written.
    """
    try:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            holder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
            try:
                whole = holder / target.name
                whole.mkdir()
                for name, text in contents.items():
                    (whole / name).write_text(text, "ascii", newline="\n")
                whole.rename(target)
            finally:
                shutil.rmtree(holder, ignore_errors=True)
            return
        if not target.is_dir():
            raise FileError(f"{target}: not a folder")
        for name in contents:
            path = target / name
            if path.exists() and not _is_ours(path, mark):
                raise FileError(
                    f"{path}: not a file that gough wrote for this robot; choose another folder"
                )
        for name, text in contents.items():
            with replacing(target / name) as temporary:
                temporary.write_text(text, "ascii", newline="\n")
    except OSError as error:
        raise FileError(f"{target}: {error.strerror or error}") from None


def _is_ours(path: Path, mark: str) -> bool:
    """Whether an earlier export of the same robot wrote a file."""
    return path.is_file() and mark.encode() in path.read_bytes().partition(b"\n")[0]
