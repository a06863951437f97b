"""Arrays of numbers, or of symbols under tracing."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
