"""The papers' own motions, by name: the formula of each and the numbers that it takes."""

from __future__ import annotations

from math import pi

MOTIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "kim-ryu-2002/circle-20rpm": ("circle", (20,)),
    "kim-ryu-2002/circle-40rpm": ("circle", (40,)),
    "kim-ryu-2002/circle-60rpm": ("circle", (60,)),
    "kim-ryu-2002/acceleration": ("acceleration", ()),
    "long-khalil-martinet-2014/poses": ("poses", ()),
    "sinatra-xi-staicu-2009/vertical": ("harmonic", (0, 0, -0.15, 0, 0, 0)),
    "sinatra-xi-staicu-2009/horizontal": ("harmonic", (0.1, 0, 0, 0, 0, 0)),
    "sinatra-xi-staicu-2009/rotation": ("harmonic", (0, 0, 0, 0, 0, pi / 12)),
}
"""Listed without NumPy being loaded; `gough.data.paper_motions` makes them."""
