"""The engine: equations written once, traced into straight-line programs, run everywhere."""
