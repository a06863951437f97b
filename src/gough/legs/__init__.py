"""Kinds of legs: a folder each, with all that gough knows of it.

A leg is opened at its spherical joint. All that its tip P does fixes all that the leg does: the
equations of a kind (`gough.mechanics.leg` is what they have in common) take the tip's position, velocity
and acceleration, world axes, SI units. What else there is to know of a kind is in a `LegKind`
(`gough.legs.leg`); `gough.legs.register` has them all, those of other packages included.
"""
