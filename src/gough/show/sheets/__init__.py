"""Sheets: what commands print in a terminal, and the same as numbers for programs."""
