"""Arrays, rotations, words, files, tables: no mechanics."""
