"""A modal body as plain arrays in an .npz file: read, with nothing in it executed, and write."""

from __future__ import annotations

import os
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np

from gough.base.array_files import read_arrays
from gough.base.files import replacing
from gough.base.words import nearest
from gough.description.modal.body import OPTIONAL, ModalBody
from gough.errors import FileError, InputError, ModalBodyWarning

KEYS = tuple(item.name for item in fields(ModalBody) if item.name != "name")


def read_npz(path: str | os.PathLike[str]) -> ModalBody:
    """The modal body in an .npz file."""
    arrays = read_arrays(path)
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
