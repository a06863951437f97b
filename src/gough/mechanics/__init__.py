"""The mechanics: vectors, bodies, platforms, friction laws and the one equation."""
