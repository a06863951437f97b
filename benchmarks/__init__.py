"""Benchmarks: gough beside its peers, in one run. `make bench`, or `python -m benchmarks --help`.

The peers' model of a robot is the tests' own (`tests/oracles`), which knows nothing of the library.
"""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))
