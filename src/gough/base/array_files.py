"""Arrays of plain numbers or texts out of .npz files; nothing in such a file is executed or unpickled.

Every header is checked before any memory is taken for what it promises.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gough.base.arrays import Array
from gough.base.files import opened
from gough.base.words import shown
from gough.errors import FileError

LARGEST = 2000.0
"""Of a file, and of its arrays unpacked, MB."""
UNPACKED = (100.0, 20.0)
"""MB that arrays may take in any case, and MB more for each MB of their file."""
MOST_ARRAYS = 100
MOST_AXES = 4


def read_arrays(path: str | os.PathLike[str], kinds: str = "iufb") -> dict[str, Array]:
    """The arrays in an .npz file, all of the given kinds of type (NumPy's letters)."""
    with (
        _understood(path, "not a whole .npz file"),
        os.fdopen(opened(path, ".npz file", LARGEST), "rb") as file,
    ):
        size = os.fstat(file.fileno()).st_size / 1e6
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > MOST_ARRAYS:
                raise FileError(f"{len(members)} arrays; at most {MOST_ARRAYS}")
            limit = min(LARGEST, UNPACKED[0] + UNPACKED[1] * size)
            total = sum(member.file_size for member in members) / 1e6
            if total > limit:
                raise FileError(f"{total:.0f} MB unpacked; at most {limit:.0f} MB of {size:.1f} MB")
            found, numbers = {}, 0
            for member in members:
                name = member.filename.removesuffix(".npy")
                with _understood(f"array {shown(name)}", "is not a NumPy array"):
                    array = _read(archive, member, kinds, limit - 8e-6 * numbers)
                found[name] = array
                numbers += array.size
            return found


@contextmanager
def _understood(where: object, otherwise: str) -> Iterator[None]:
    """Whatever a reader stumbles over becomes one line that says where."""
    try:
        yield
    except FileError as error:
        raise FileError(f"{where}: {error}") from None
    except OSError as error:
        raise FileError(f"{where}: {error.strerror or error}") from None
    except Exception as error:  # a broken file can trip the parsers anywhere
        fact = " ".join(str(error).split())[:120] or type(error).__name__
        raise FileError(f"{where}: {otherwise}: {fact}") from None


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, kinds: str, megabytes: float) -> Array:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FileError("compressed in a way that NumPy does not write")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise FileError(
                f"version {version[0]}.{version[1]} of NumPy's format; 1.0 and 2.0 are read"
            )
        header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, by_columns, kind = header(file)
        if kind.hasobject:
            raise FileError("holds pickled objects, which are never read")
        if kind.kind not in kinds or kind.subdtype is not None:
            raise FileError(f"has type {kind}, needs real numbers")
        if len(shape) > MOST_AXES or not all(type(n) is int and n >= 0 for n in shape):
            raise FileError(f"has shape {str(shape)[:60]}; at most {MOST_AXES} axes")
        count, start = math.prod(shape), file.tell()
        if start + count * kind.itemsize != member.file_size:
            raise FileError(
                f"says shape {shape} ({count * kind.itemsize} bytes), the file holds "
                f"{member.file_size - start}"
            )
        if 8e-6 * count > megabytes:
            raise FileError(f"{count} numbers, {8e-6 * count:.0f} MB; {megabytes:.0f} MB are left")
        data = np.frombuffer(file.read(), kind)
    return data.reshape(shape, order="F" if by_columns else "C")
