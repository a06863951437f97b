"""Platforms: what carries the legs' tips, its inertia and its bias. One file per kind."""
