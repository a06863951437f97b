"""What an identification tells of each parameter, and why it does not tell more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.parameters.identification import SHIFTED, Identification

WELL = 0.10
"""Relative standard deviation up to which a parameter counts as known."""
MOST_NAMES = 4
"""In a line of the summary."""
TIED = 0.95
"""Correlation from which two parameters are told apart badly."""


class Known(NamedTuple):
    """Places of base parameters, by what the log tells of them."""

    well: tuple[int, ...]
    """Known to better than 10 %."""
    unseen: tuple[int, ...]
    """The motion does not show them."""
    faint: tuple[int, ...]
    """What they do to the forces is no more than their own deviation: too small to matter, or to see."""
    tied: tuple[tuple[int, int], ...]
    """Not told apart from another one, which comes second."""
    noisy: tuple[int, ...]
    """The rest: more samples, or a livelier motion, would do."""


def known(found: Identification) -> Known:
    """Sort base parameters by how well they are known, and what keeps the others from being so."""
    covariance = np.linalg.pinv(found.information, hermitian=True)
    sizes = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / sizes / sizes[:, np.newaxis]
    np.fill_diagonal(correlation, 0.0)
    groups: dict[str, list[int]] = {name: [] for name in ("well", "unseen", "faint", "noisy")}
    tied: list[tuple[int, int]] = []
    for i, part in enumerate(found.relative):
        other = int(np.argmax(np.abs(correlation[i])))
        if not np.isfinite(found.deviations[i]):
            groups["unseen"].append(i)
        elif part <= WELL:
            groups["well"].append(i)
        elif abs(correlation[i, other]) > TIED and np.isfinite(found.deviations[other]):
            tied.append((i, other))
        elif part >= 1:
            groups["faint"].append(i)
        else:
            groups["noisy"].append(i)
    return Known(tied=tuple(tied), **{name: tuple(places) for name, places in groups.items()})


def summary(found: Identification) -> list[str]:
    """What is known to better than 10 %, what is not, and why; a line each."""
    told, names = known(found), found.base.base_names

    def few(places: tuple[int, ...]) -> str:
        shown = ", ".join(names[i] for i in places[:MOST_NAMES])
        more = len(places) - MOST_NAMES
        return shown if more <= 0 else f"{shown} and {more} more"

    lines = [
        f"{len(told.well)} of {len(names)} base parameters are known to better than {100 * WELL:.0f} %"
        + (f": {few(told.well)}" if told.well else "")
    ]
    if found.equal is None and 2 * len(told.well) < len(names) and "leg 2 " in " ".join(names):
        lines.append(
            "if legs of a kind are built alike, try --equal-legs first: the same log tells much more of "
            "one set of parameters"
        )
    if found.unmodelled:
        biased = found.verdicts.count("biased")
        lines.append(
            f"the model lacks {', '.join(found.unmodelled)}"
            + (f"; it moves {biased} parameters by over {SHIFTED:g} deviations" if biased else "")
        )
        if any(one.startswith("offsets") for one in found.unmodelled):
            lines[-1] += "; --offsets makes the offsets unknowns"
    if told.tied:
        pairs = [f"{names[a]} from {names[b]}" for a, b in told.tied[:MOST_NAMES]]
        more = len(told.tied) - MOST_NAMES
        lines.append(
            f"{len(told.tied)} are not told apart from another: {', '.join(pairs)}"
            + (f" and {more} more" if more > 0 else "")
            + "; another motion may do that"
        )
    if told.faint:
        lines.append(
            f"{len(told.faint)} are smaller than their own deviation, too small to matter here: "
            f"{few(told.faint)}"
        )
    if told.noisy:
        lines.append(
            f"{len(told.noisy)} are known to 10 % to 100 %: {few(told.noisy)}; a longer log, a livelier "
            "motion or less noise helps"
        )
    if told.unseen:
        lines.append(
            f"{len(told.unseen)} do not show in this motion (gough excite finds one): "
            f"{few(told.unseen)}"
        )
    return lines
