"""Where flexible platforms come from: a plate of our own, Nastran, CalculiX, or plain arrays."""
