"""Which motions of a platform what holds it allows, in states: projections with batch axes first.

C (..., 6, k) are the wrenches at the platform's origin that hold it (`derivative_programs.grasp`);
twists with Cᵀ ξ = 0 are allowed, m of six. Lengths count over the robot's length scale L, angles as they
are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array


class Allowed(NamedTuple):
    """The allowed twists, and what is least of all that meets the constraints."""

    directions: Array
    """(..., 6, m): a basis of the allowed twists, orthonormal with ω times L."""
    projection: Array
    """P (..., 6, 6): the nearest allowed twist."""
    correction: Array
    """(..., 6, k): the least twist x with Cᵀ x = right."""
    shares: Array
    """(..., k, 6): the least (λ, μ) with C (λ, μ) = wrench."""
    independent: Array
    """(..., k, r): an orthonormal basis of what (λ, μ) can do; k = r but on over-constrained robots."""

    @classmethod
    def of(cls, columns: Array, mobility: int, length_scale: float) -> Allowed:
        """From C (..., 6, k); a C that is not finite allows no one knows what, and is taken as 0."""
        scale = np.array([1.0] * 3 + [1 / length_scale] * 3)
        whole = np.nan_to_num(columns) * scale[:, np.newaxis]
        left, sizes, right = np.linalg.svd(whole)
        rank = 6 - mobility
        free, taken = left[..., rank:], left[..., :rank]
        spanned = np.swapaxes(right, -1, -2)[..., :rank]
        sizes = sizes[..., np.newaxis, :rank]
        inverse = (taken / np.where(sizes == 0, 1.0, sizes)) @ np.swapaxes(spanned, -1, -2)
        turned = np.swapaxes(free, -1, -2)
        return cls(
            scale[:, np.newaxis] * free,
            scale[:, np.newaxis] * (free @ turned) / scale,
            scale[:, np.newaxis] * inverse,
            np.swapaxes(inverse, -1, -2) * scale,
            spanned,
        )


def along_allowed(
    found: dict[str, Array], allowed: Allowed, ends: Array, shared: bool, direct: bool
) -> dict[str, Array]:
    """Slopes of `balance_reverse` along allowed motions, of independent equations and unknowns alone.

    Changes of pose, twist and acceleration count by their allowed part. A pose that changes takes the
    twist with it that is nearest to the one before, pose and twist the acceleration:

        δξ = P δξ' − C⁺ᵀ ∂(Cᵀ ξ)/∂x δx,    δξ̇ = P δξ̇' − C⁺ᵀ (∂/∂x δx + ∂/∂ξ δξ) d(Cᵀ ξ)/dt
    """
    rates, changes = slice(ends[1], ends[2]), slice(ends[2], ends[3])
    moving = {"pose": allowed.projection}
    after = {
        ("twist", "pose"): -allowed.correction @ found["pose"][:, rates] @ allowed.projection,
        ("twist", "twist"): allowed.projection,
    }
    if not direct:
        for name in ("pose", "twist"):
            change = found["twist"][:, changes] @ after["twist", name]
            if name == "pose":
                change = change + found["pose"][:, changes] @ allowed.projection
            after["acceleration", name] = -allowed.correction @ change
        after["acceleration", "acceleration"] = allowed.projection
    along = {name: value @ moving[name] for name, value in found.items() if name in moving}
    for (changed, by), matrix in after.items():
        along[by] = along.get(by, 0) + found[changed] @ matrix
    found = found | along
    found["held"] = found["held"] @ allowed.independent
    few = np.swapaxes(allowed.independent, -1, -2)

    def independent(value: Array) -> Array:
        parts = [value[:, : ends[1]]]
        if direct:
            parts.append(few @ value[:, changes])
        if shared:
            parts += [value[:, ends[3] : ends[4]], few @ value[:, ends[4] : ends[5]]]
        return np.concatenate([*parts, value[:, ends[5] :]], axis=1)

    return {name: independent(value) for name, value in found.items()}
