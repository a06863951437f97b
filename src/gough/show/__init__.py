"""Sheets, plots, drawings, pages, reports."""
