"""Errors and warnings by their class, the culprits that they name and the numbers that they give.

Sentences may be worded anew; who is to blame, and which number is wrong, has to stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@contextmanager
def refusal(kind: Any, *named: str | float) -> Iterator[pytest.ExceptionInfo[BaseException]]:
    """Expect an error of this class whose text has these culprits and numbers, in any order."""
    with pytest.raises(kind) as raised:
        yield raised
    missing = [one for one in named if not has(str(raised.value), one)]
    assert not missing, f"{missing} not in: {raised.value}"


@contextmanager
def warning(kind: Any, *named: str | float) -> Iterator[None]:
    """Expect a warning of this class whose text has these culprits and numbers."""
    with pytest.warns(kind) as caught:
        yield
    texts = [str(one.message) for one in caught if issubclass(one.category, kind)]
    assert any(all(has(text, one) for one in named) for text in texts), (named, texts)


def has(text: str, named: str | float) -> bool:
    """Whether a text has a name as a word of its own, or a number, however it is written."""
    if not isinstance(named, str):
        return any(float(one.replace("−", "-")) == named for one in NUMBER.findall(text))
    return re.search(rf"(?<!\w){re.escape(named)}(?!\w)", text) is not None
