"""Motions, logs, datasets."""
