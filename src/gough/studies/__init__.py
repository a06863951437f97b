"""Design studies: many robots that differ in their numbers, measured over motions; see docs/studies.md."""
