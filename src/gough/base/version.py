"""The version, where everything can see it."""

VERSION = "0.2.0"
