"""The binary of an FMU, by this machine's C compiler."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gough.errors import InputError

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=c99", "-fPIC", "-shared", "-fvisibility=hidden")
ENDINGS = {"Linux": "so", "Darwin": "dylib", "Windows": "dll"}
PROCESSORS = {"AMD64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


def compiler() -> str:
    """The C compiler; an error that names the way out where there is none."""
    named = os.environ.get("CC")
    for name in (named,) if named else COMPILERS:
        found = shutil.which(name)
        if found:
            return found
    wanted = f"$CC = {named}" if named else f"none of {', '.join(COMPILERS)}"
    raise InputError(
        f"no C compiler for the FMU's binary ({wanted} is here); install one, or write the sources "
        "alone (--sources-only)"
    )


def place(version: int) -> str:
    """Folder and ending of this platform's binary: {} stands for the model's identifier."""
    system = platform.system()
    processor = PROCESSORS.get(platform.machine(), platform.machine())
    folder = f"{processor}-{system.lower()}"
    if version == 2 and processor == "x86_64":
        folder = {"Linux": "linux64", "Darwin": "darwin64", "Windows": "win64"}.get(system, folder)
    return f"binaries/{folder}/{{}}.{ENDINGS.get(system, 'so')}"


def binary(files: Mapping[str, bytes], sources: tuple[str, ...]) -> bytes:
    """The shared library that C files make; $CC and $CFLAGS (else -O2) say how."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one, text in files.items():
            (folder / one).write_bytes(text)
        built = folder / "model.so"
        chosen = shlex.split(os.environ.get("CFLAGS", "-O2"))
        command = [compiler(), *FLAGS, *chosen, *sources, "-o", built.name, "-lm"]
        found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if found.returncode:
            said = [line for line in found.stderr.splitlines() if line.strip()] or ["no message"]
            first = next((line for line in said if "error" in line), said[0])
            raise InputError(f"{command[0]} cannot build the FMU: {first}")
        return built.read_bytes()
