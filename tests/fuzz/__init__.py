"""A campaign against gough: files, arguments, command lines and states that nobody sane would give it.

`make fuzz` runs it for minutes, `FUZZ_MINUTES=600 make fuzz` for a night; `tests/test_fuzz.py` a part.
"""
