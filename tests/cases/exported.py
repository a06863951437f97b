"""A robot exported as C, compiled and called from Python."""

import ctypes
import os
import shutil
import subprocess

import numpy as np

from gough.engine.emit.c import sanitised
from gough.exchange.c import export_c
from gough.mechanics.state import RIGID_FIELDS

COMPILER = shutil.which("gcc") or shutil.which("cc")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
STRICTER = ["-Wconversion", "-Wdouble-promotion", "-Wshadow"]
QUICK = "-O0 -fPIC " + " ".join(STRICTER)


def run(*command):
    # a make that runs these tests must not tell the makes in them what to do
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    words = list(map(str, command))
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env=own)


def make(folder, *words, flags=QUICK):
    return run("make", "-C", folder, f"CC={COMPILER}", f"CFLAGS={flags}", *words)


class Exported:
    """An exported robot as a shared library, called through ctypes."""

    def __init__(self, robot, folder, flags=QUICK, **options):
        self.robot, self.real = robot, options.get("real", "double")
        self.folder = export_c(robot, folder, **options)
        self.prefix = f"gough_{sanitised(robot.name)}"
        self.built = make(folder, "all", flags=flags)
        assert self.built.returncode == 0, self.built.stderr
        assert self.built.stderr == ""
        library = folder / "exported.so"
        linked = run(COMPILER, "-shared", folder / f"{self.prefix}.o", "-o", library, "-lm")
        assert linked.returncode == 0, linked.stderr
        self.library = ctypes.CDLL(str(library))

    def __call__(self, name, state, *inputs, size=400):
        """Status and the answer's numbers, flat; inputs None are NULL, whole numbers are int."""
        kind = np.dtype("f8" if self.real == "double" else "f4")
        fields = [np.ravel(state[field]) for field in RIGID_FIELDS]
        given = [np.concatenate(fields).astype(kind)]
        given += [x if x is None or type(x) is int else np.array(x, kind) for x in inputs]
        answer = np.zeros(size, kind)
        pointers = [
            ctypes.c_int(x)
            if type(x) is int
            else None
            if x is None
            else ctypes.c_void_p(x.ctypes.data)
            for x in (*given, answer)
        ]
        status = getattr(self.library, f"{self.prefix}_{name}")(*pointers)
        return status, answer.astype(float)
