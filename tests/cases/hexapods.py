"""Places of joints of hexapods: hexagons whose corners come in pairs."""

import numpy as np


def ring(radius, degrees):
    """Points (n, 3) on a horizontal circle."""
    angle = np.deg2rad(degrees)
    return radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)


HEXAGON = np.array([-10, 10, 110, 130, 230, 250])
BASE = ring(1.0, HEXAGON)
SYMMETRIC = ring(0.5, HEXAGON + [-50, 50] * 3)
