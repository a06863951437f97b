"""What is done to a traced program before it is emitted."""
