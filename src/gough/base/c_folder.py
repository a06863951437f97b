"""A folder of C files with a Makefile, written whole, into which nobody else's files are lost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from gough.base.files import new_folder, replacing
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
    never touched: then nothing is written. Files of two exports, as a kill leaves them, do not compile
    together.
    """
    texts = _matched(contents)
    try:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            with new_folder(target) as whole:
                for name, text in texts.items():
                    (whole / name).write_text(text, "ascii", newline="\n")
            return
        if not target.is_dir():
            raise FileError(f"{target}: not a folder")
        for name in texts:
            path = target / name
            if path.exists() and not _is_ours(path, mark):
                raise FileError(
                    f"{path}: not a file that gough wrote for this robot; choose another folder"
                )
        for name, text in texts.items():
            with replacing(target / name) as temporary:
                temporary.write_text(text, "ascii", newline="\n")
    except OSError as error:
        raise FileError(f"{target}: {error.strerror or error}") from None


def _matched(contents: Mapping[str, str]) -> dict[str, str]:
    """The files; each header defines a mark of the whole export, and what includes it asks for that."""
    digest = hashlib.sha256("\0".join(contents.values()).encode()).hexdigest()[:16]
    marks = {
        name: f"{name.upper().replace('.', '_')}_OF_{digest}"
        for name in contents
        if name[-2:] == ".h"
    }
    texts = dict(contents)
    for name, text in contents.items():
        for header, defined in marks.items():
            if f'#include "{header}"' in text:
                texts[name] += (
                    f"\n#ifndef {defined}\n"
                    f'#error "{header} and {name} are of two exports: export again"\n#endif\n'
                )
        if name in marks:
            texts[name] += f"\n#define {marks[name]}\n"
    return texts


def _is_ours(path: Path, mark: str) -> bool:
    """Whether an earlier export of the same robot wrote a file."""
    return path.is_file() and mark.encode() in path.read_bytes().partition(b"\n")[0]
