"""Leg architectures: one file each, nothing but its equations.

A leg is opened at its spherical joint. All that its tip P does fixes all that the leg does, so every
function here takes the tip's position, velocity and acceleration (world axes, SI units).
"""
