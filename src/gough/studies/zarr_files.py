"""Zarr, version 2, as far as studies need it: numbers and texts, in chunks along the first axis.

Any reader of Zarr opens what is written here. What is read here is only what was written here: metadata
are compared, chunks have one codec (zlib) and one size, and nothing in them chooses what is run.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.files import content, replacing
from gough.errors import FileError

GROUP = {"zarr_format": 2}
LARGEST_METADATA = 64.0
"""MB."""


class ChunkedArray(NamedTuple):
    """An array in a folder of its own."""

    folder: Path
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    part: int
    """Rows of a chunk."""
    kind: str
    """As NumPy writes it: <f8, <u8, <U160."""

    @property
    def fill(self) -> Any:
        """What stands where nothing is written."""
        return {"f": math.nan, "u": 0, "U": ""}[self.kind[1]]

    def metadata(self) -> dict[str, Any]:
        """The files that describe it, by name."""
        fill = "NaN" if self.kind == "<f8" else self.fill
        array = {
            "zarr_format": 2,
            "shape": [*self.shape],
            "chunks": [self.part, *self.shape[1:]],
            "dtype": self.kind,
            "compressor": {"id": "zlib", "level": 1},
            "fill_value": fill,
            "order": "C",
            "filters": None,
        }
        return {".zarray": array, ".zattrs": {"_ARRAY_DIMENSIONS": [*self.dims]}}

    def _file(self, part: int) -> Path:
        return self.folder / ".".join([str(part), *["0"] * (len(self.shape) - 1)])

    def begun(self) -> set[int]:
        """Numbers of the chunks that are there."""
        most = -(-self.shape[0] // self.part)
        names = (one.partition(".")[0] for one in os.listdir(self.folder))
        return {int(one) for one in names if one.isdecimal() and int(one) < most}

    def read(self, part: int) -> Array | None:
        """Rows of a chunk; None where it is missing, cut off or damaged."""
        chunk = (self.part, *self.shape[1:])
        size = math.prod(chunk) * np.dtype(self.kind).itemsize
        try:
            packed = content(self._file(part), "chunk", 2e-6 * size + 0.01)
            decoder = zlib.decompressobj()
            data = decoder.decompress(packed, size + 1)
        except (FileError, zlib.error):
            return None
        if len(data) != size or not decoder.eof or decoder.unused_data:
            return None
        rows = min(self.part, self.shape[0] - part * self.part)
        values = np.frombuffer(data, self.kind).reshape(chunk)[:rows]
        if self.kind[1] == "U" and (values.view("<u4") > 0x10FFFF).any():
            return None
        return values

    def write(self, part: int, values: Array) -> None:
        """Rows of a chunk, on the disk when this returns, if they are not there already."""
        chunk = np.full((self.part, *self.shape[1:]), self.fill, dtype=self.kind)
        chunk[: len(values)] = values
        packed, file = zlib.compress(chunk.tobytes(), 1), self._file(part)
        with contextlib.suppress(FileError):
            if content(file, "chunk", len(packed) / 1e6) == packed:
                return
        with replacing(file, own=True) as temporary:
            temporary.write_bytes(packed)


def write_json(path: Path, data: Any) -> None:
    """A file of metadata, whole or not at all."""
    with replacing(path, own=True) as temporary:
        temporary.write_text(json.dumps(data, indent=1, ensure_ascii=True), "ascii")


def read_json(path: str | os.PathLike[str]) -> Any:
    """What a file of metadata says."""
    try:
        return json.loads(content(path, "file of metadata", LARGEST_METADATA))
    except (ValueError, RecursionError) as error:
        raise FileError(str(error)[:80] or "brackets nested too deep") from None
