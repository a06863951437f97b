"""Kinds of legs as the oracles know them: one file a kind, one line here."""

from .leg import Body, Leg, LegKind
from .pus import PUS
from .rus import RUS
from .ups import UPS

KINDS: dict[str, LegKind] = {"UPS": UPS(), "PUS": PUS(), "RUS": RUS()}

__all__ = ["KINDS", "Body", "Leg", "LegKind"]
