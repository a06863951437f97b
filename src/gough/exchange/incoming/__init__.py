"""Robots from other programs: MuJoCo's MJCF, and URDF with its loops."""
