"""Inertial and friction parameters: standard, base and essential ones, and what they make of forces."""
