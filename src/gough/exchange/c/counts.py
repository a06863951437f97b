"""How much work a C function is at most, in operations on numbers."""

from __future__ import annotations

from collections import Counter

WORDS = {
    "add": "additions",
    "sub": "additions",
    "mul": "multiplications",
    "div": "divisions",
    "sqrt": "square roots",
    "sin": "sines and cosines",
    "cos": "sines and cosines",
    "atan2": "arctangents",
}
OTHERS = "comparisons, signs and roundings"


def worst_case(each: Counter[str], calls: int = 1, also: Counter[str] | None = None) -> str:
    """What a function does at most, as the header says it.

    `each` is what one call of a program does (`Program.tally`), `calls` how often it is called at most,
    `also` what comes on top.

    Example:
        >>> worst_case(Counter(add=2, sub=1, mul=4), calls=2)
        'Worst case: 6 additions, 8 multiplications.'

    """
    total: Counter[str] = Counter()
    for operation, count in each.items():
        total[WORDS.get(operation, OTHERS)] += calls * count
    for operation, count in (also or {}).items():
        total[WORDS.get(operation, OTHERS)] += count
    order = dict.fromkeys([*WORDS.values(), OTHERS])
    told = [f"{total[word]} {word}" for word in order if total[word]]
    return f"Worst case: {', '.join(told) or 'no operations'}."
