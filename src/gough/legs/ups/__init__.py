"""UPS legs."""
