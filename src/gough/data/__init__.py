"""Motions, logs and results as files and datasets."""
