"""What a designer asks before a robot is built: every posture, singularities, where it is weak."""
