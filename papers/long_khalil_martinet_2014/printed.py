"""What the paper prints: the plate of Section 6.1, Table 2 and Table 4."""

from __future__ import annotations

import numpy as np

NAME = "long-khalil-martinet-2014"
FIRST = 7
"""Number of the first elastic mode: six rigid ones come before it."""
TABLE_2 = np.array(
    [
        [188.7473, 35625.55], [188.7475, 35625.63], [315.7169, 99677.16], [401.0187, 160816.0],
        [474.7468, 225384.5], [709.5586, 503473.4], [709.5814, 503505.8], [828.2868, 686059.1],
        [828.3062, 686091.1], [1310.581, 1717622.0],
    ]
)  # fmt: skip
"""Natural frequency, rad/s, and generalized stiffness, 1/s², of modes 7 to 16."""
TABLE_4 = np.array(
    [
        [0.1, 0.3, 1.3, 1.0, -0.2, -0.7],
        [-0.2, -0.2, 0.4, 1.0, 0.9, 0.5],
        [-1.671, -1.373, -2.016, -1.958, -1.656, -1.936],
        [1.767, 1.764, 1.814, 1.859, 1.389, 1.345],
        [1.025, 1.039, 1.142, 1.126, 1.0203, 1.099],
    ]
)
"""x and y of the B_j, m; q_1j and q_2j, rad; q_3j, m, of legs 1 to 6."""
PRINTED_MASS = 73.069
THICKNESS = 0.015
