"""Robots for other programs: C, CasADi, meshes."""
