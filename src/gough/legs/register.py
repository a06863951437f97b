"""The kinds of legs that there are: gough's own, and those of other packages.

A package adds one by an entry point of the group `gough.legs` that names a `LegKind`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from types import MappingProxyType

from gough.errors import InputError
from gough.legs import chain, pus, rus, ups
from gough.legs.leg import LegKind

GROUP = "gough.legs"


def _found() -> Mapping[str, LegKind]:
    kinds = {kind.name: kind for kind in (ups.KIND, pus.KIND, rus.KIND, chain.KIND)}
    for entry in entry_points(group=GROUP):
        kind = entry.load()
        if not isinstance(kind, LegKind):
            raise InputError(f"{entry.value}: an entry point of {GROUP} names a LegKind")
        kinds.setdefault(kind.name, kind)
    return MappingProxyType(kinds)


KINDS: Mapping[str, LegKind] = _found()
"""By name."""
