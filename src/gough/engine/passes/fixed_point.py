"""A function's fixed point x = g(x) as what a program repeats.

Only elements of x that g depends on are repeated; the others are what g says, once, in whatever else
needs them. Passes begin at g(0), or where the caller says. With f = g − x, what a pass is off by,

    x ← x + ω f,    ω ← −ω f₋·(f − f₋)/‖f − f₋‖²

ω is Aitken's factor from the last two passes (Irons & Tuck 1969), 1 in the first; it takes out the
slowest part of what is left where passes contract slowly. A state has settled where ‖f‖ ≤ tolerance ‖g‖.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np

from gough.base.arrays import Array
from gough.engine.functions import RESIDUAL, FixedPoint
from gough.engine.graph import Symbol
from gough.engine.passes.affine import collected
from gough.engine.passes.derivative import substitute
from gough.engine.program import Repetition


def repetition_of(
    unknown: Array, image: Array, outputs: Mapping[str, Array], point: FixedPoint, given: bool
) -> tuple[dict[str, Array], Repetition | None]:
    """Outputs with the residual, and what is repeated for them; None where x is in no g.

    `given`: the caller says where x begins.
    """
    graph = unknown.flat[0].graph
    needed = set(graph.reachable(one.number for one in image.flat))
    repeated = np.array([x.number in needed for x in unknown.flat]).reshape(unknown.shape)
    found = dict(outputs)
    if not repeated.all():
        found = {
            name: substitute(value, unknown[~repeated], image[~repeated])
            for name, value in found.items()
        }
    if not repeated.any():
        return found | {RESIDUAL: np.array(graph.constant(0.0))}, None
    x = unknown[repeated]
    found = {name: collected(value, x) for name, value in found.items()}
    g = collected(image[repeated], x)
    starts = substitute(g, x, graph.constants(np.zeros(x.shape)))
    f = g - x
    size = _inner(f, f)
    test = size / _inner(g, g).or_one()
    residual = _largest(f) / _largest(g).or_one()
    last = graph.inputs(f"{point.unknown} change", f.shape)
    last_size, factor, begun = graph.inputs(f"{point.unknown} pass", (3,))
    across = _inner(f, last)
    turn = (size - across) + (last_size - across)
    secant = factor * (last_size - across) / turn.or_one()
    omega = 1 + begun * (secant - 1)
    history = [*zip(last, f, strict=True)]
    history += [(last_size, size), (factor, omega), (begun, graph.constant(1.0))]
    loop = Repetition(
        [(one, one + omega * step) for one, step in zip(x, f, strict=True)],
        None if given else list(starts),
        history,
        test,
        point.tolerance**2,
        point.most,
    )
    return found | {RESIDUAL: np.array(residual)}, loop


def _inner(a: Iterable[Symbol], b: Iterable[Symbol]) -> Symbol:
    """a·b in four sums side by side: none has to wait long for the one before."""
    products = [x * y for x, y in zip(a, b, strict=True)]
    sums = [reduce(lambda x, y: x + y, products[k::4]) for k in range(min(4, len(products)))]
    return reduce(lambda x, y: x + y, sums)


def _largest(values: Iterable[Symbol]) -> Symbol:
    return reduce(lambda a, b: a.maximum(b), [abs(one) for one in values])
