"""Design studies: many robots that differ in their numbers, measured over motions (docs/studies.md)."""
