"""What all tests share: how properties are tried, and what is costly to set up."""

from __future__ import annotations

import pytest
from hypothesis import settings

from gough.description.modal.body import ModalBody
from gough.description.modal.plate import plate_body
from plates import HEXAGON, LONG, TIPS

settings.register_profile("gough", deadline=None)
settings.load_profile("gough")


@pytest.fixture(scope="session")
def long_plate() -> ModalBody:
    """Long, Khalil & Martinet's platform."""
    return plate_body(HEXAGON, LONG, TIPS, 10, damping_ratio=0.4)
