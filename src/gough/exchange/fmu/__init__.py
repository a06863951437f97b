"""A robot as a functional mock-up unit (FMU) for other simulators."""

from gough.exchange.fmu.export import export_fmu

__all__ = ["export_fmu"]
