"""The robot under the tools."""
