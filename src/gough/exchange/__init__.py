"""Robots for other programs."""
