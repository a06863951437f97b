"""A modal body as plain arrays in an .npz file: read, with nothing in it executed, and write."""

from __future__ import annotations

import os
import warnings
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path

import numpy as np

from gough.base.arrays import Array
from gough.base.files import replacing
from gough.base.words import nearest
from gough.description.modal.body import OPTIONAL, ModalBody
from gough.errors import FileError, InputError, ModalBodyWarning

LARGEST = 2_000_000_000
"""Largest total of the arrays, bytes, unpacked."""
KEYS = tuple(item.name for item in fields(ModalBody) if item.name != "name")


def read_npz(path: str | os.PathLike[str]) -> ModalBody:
    """The modal body in an .npz file."""
    arrays = _read_arrays(path)
    for key in arrays.keys() - set(KEYS):
        near = nearest(key, KEYS)
        warnings.warn(
            f"{path}: array {key!r} is not known and not used; the nearest known is {near!r}",
            ModalBodyWarning,
            stacklevel=2,
        )
    missing = [key for key in KEYS if key not in arrays and key not in OPTIONAL]
    if missing:
        raise FileError(f"{path}: no array {missing[0]!r}; it has {', '.join(sorted(arrays))}")
    try:
        return ModalBody(**{key: arrays[key] for key in KEYS if key in arrays}, name=str(path))
    except InputError as error:
        raise FileError(str(error)) from None


def write_npz(body: ModalBody, path: str | os.PathLike[str]) -> None:
    """Write a modal body; an interrupted write leaves what was there."""
    arrays = {key: getattr(body, key) for key in KEYS if getattr(body, key) is not None}
    with replacing(path) as temporary, Path(temporary).open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _read_arrays(path: str | os.PathLike[str]) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(member.file_size for member in archive.infolist())
            if total > LARGEST:
                raise FileError(
                    f"{path}: {total / 1e9:.1f} GB unpacked; limit {LARGEST / 1e9:g} GB"
                )
            return {
                member.filename.removesuffix(".npy"): _read_array(archive, member, path)
                for member in archive.infolist()
            }
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileError(f"{path}: not a whole .npz file: {error}") from None


def _read_array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str | os.PathLike[str]
) -> Array:
    """One array. Its header is checked before any memory is taken for what it promises."""
    where = f"{path}: array {member.filename.removesuffix('.npy')!r}"
    with archive.open(member) as file:
        try:
            version = np.lib.format.read_magic(file)
            if version == (1, 0):
                shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            else:
                shape, _, dtype = np.lib.format.read_array_header_2_0(file)
            start = file.tell()
        except ValueError as error:
            raise FileError(f"{where} is not a NumPy array: {error}"[:200]) from None
    if dtype.hasobject:
        raise FileError(f"{where} holds pickled objects, which are never read")
    if dtype.kind not in "iufb":
        raise FileError(f"{where} has type {dtype}, needs real numbers")
    size = dtype.itemsize * int(np.prod([int(n) for n in shape], dtype=object))
    if start + size != member.file_size:
        raise FileError(
            f"{where} says shape {shape} ({size} bytes), the file holds {member.file_size - start}"
        )
    with archive.open(member) as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
