"""From a robot file to numbers."""
