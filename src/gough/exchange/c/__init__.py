"""A robot's programs as portable C99 for controllers."""

from gough.exchange.c.export import export_c

__all__ = ["export_c"]
