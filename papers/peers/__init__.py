"""Results of other programs beside the papers': Pinocchio, CasADi, CalculiX.

A page must not compare gough with itself. What other programs find is stored here, `stored/*.json`, with
their version and the script that made it, and is what the pages show. Where a program is installed it
computes its results anew, and the pages say how far the two are apart. All are made again with

    python -c "from gough.show.reproduction import load_paper; load_paper('peers').store()"
"""

from __future__ import annotations

from .motions import SAMPLES, motion
from .programs import PROGRAMS, installed
from .results import Beside, beside, read, store
from .routes import Routes

__all__ = [
    "PROGRAMS",
    "SAMPLES",
    "Beside",
    "Routes",
    "beside",
    "installed",
    "motion",
    "read",
    "store",
]
