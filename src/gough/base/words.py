"""Words of messages: a piece of a file as they show it, and the known name that is most like it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST = 40
"""Characters of a name that somebody wrote; more of it helps nobody."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like this one, whatever the case of its letters."""
    folded = {one.casefold(): one for one in known}
    return folded[difflib.get_close_matches(name[:LONGEST].casefold(), folded, 1, cutoff=0.0)[0]]


def shown(text: str) -> str:
    """A piece of a file as messages show it: printable and not too long."""
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")
