"""ModalBody: a flexible body as nodes with masses and mode shapes, stiffness and damping.

A point of the body at r (undeformed, platform frame) moves to r + Σ_k φ_k q_k when it deforms. All
that dynamics needs of the body are sums over its nodes and the shapes at the legs' tips, so it does
not matter where the shapes come from.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gough.base.arrays import Array
from gough.errors import InputError, ModalBodyWarning

DEPENDENT = 1e-8
"""Least eigenvalue of m_ee scaled to unit diagonal: below it shapes are linearly dependent, so far as
answers right to 1e-8 can tell them apart."""
RIGID = 1e-8
"""Least part of a shape's m_ee that no rigid-body motion explains."""
ORTHOGONAL = 1e-6
"""Largest |m_jk| / √(m_jj m_kk) of shapes that count as orthogonal."""
DENSITY = (3.0, 12_000.0)
"""Plausible mass over the volume of the box around a body, kg/m³: foam to lead."""
THINNEST = 1 / 20
"""Edges of that box are taken no shorter than this part of the longest, for plates and beams."""
MOST_MODES = 300
OPTIONAL = ("tip_rotations", "rotations", "origin_shapes", "origin_rotations", "faces")


class ModalReport(NamedTuple):
    """What the shapes of a body are like."""

    rigid_content: Array
    """(N,): part of a shape's modal mass that its best-fitting rigid-body motion explains, 0 to 1."""
    translation: Array
    """(3, N): s_k = Σ m φ_k, kg times the shape's unit."""
    rotation: Array
    """(3, N): β_k = Σ m r × φ_k, undeformed r, about the platform frame's origin."""
    coupling: Array
    """(N, N): m_jk / √(m_jj m_kk) − δ_jk; all zero for orthogonal shapes."""

    @property
    def worst_coupling(self) -> float:
        """Largest |m_jk| / √(m_jj m_kk), j ≠ k."""
        return float(np.abs(self.coupling).max(initial=0.0))


class OwnModes(NamedTuple):
    """Modes of a body with its floating frame held: K x = ω² m_ee x, one a column."""

    combined: bool
    """K or m_ee couples the shapes: the modes are combinations of them, rising in frequency."""
    vectors: Array
    """X (N, N): the modes by shapes, mass-normalised; the shapes themselves where none are coupled."""
    stiffness: Array
    """xᵀ K x (N,)."""
    damping: Array
    """xᵀ D x (N,)."""
    mass: Array
    """xᵀ m_ee x (N,)."""

    @property
    def frequencies(self) -> Array:
        """(N,), Hz."""
        return np.asarray(np.sqrt(self.stiffness / self.mass) / (2 * np.pi))

    @property
    def damping_ratios(self) -> Array:
        """(N,), of critical damping; 0 where there is no stiffness."""
        critical = 2 * np.sqrt(self.stiffness * self.mass)
        ratios = np.divide(self.damping, critical, out=np.zeros_like(critical), where=critical > 0)
        return np.asarray(ratios)


@dataclass(frozen=True, eq=False)
class ModalBody:
    """Nodes, masses, shapes, stiffness and damping of a flexible body with N modes, SI units.

    All in the platform frame, undeformed. Vectors of stiffness or damping are taken as diagonals.
    N = 0 is a rigid body. The arrays are checked, and cannot be written to.
    """

    positions: Array
    """(n, 3), m."""
    masses: Array
    """(n,), kg; 0 is legal."""
    shapes: Array
    """(n, 3, N): displacement of each node for a unit of each modal coordinate."""
    stiffness: Array
    """(N, N)."""
    damping: Array
    """(N, N): the coefficient of q̇e."""
    tip_positions: Array
    """(legs, 3), m."""
    tip_shapes: Array
    """(legs, 3, N)."""
    tip_rotations: Array | None = None
    """(legs, 3, N): rotation vector of the body's material at the tips."""
    rotations: Array | None = None
    """(n, 3, N): the same at the nodes; for display and twists only."""
    origin_shapes: Array | None = None
    """(3, N): displacement at the platform frame's origin."""
    origin_rotations: Array | None = None
    """(3, N)."""
    faces: Array | None = None
    """(m, k) node numbers from 0, for display."""
    name: str = "modal body"
    """What to call the body in messages."""

    def __post_init__(self) -> None:
        _Checking(self).run()

    @property
    def modes(self) -> int:
        """Number of modes N."""
        return int(self.shapes.shape[2])

    @cached_property
    def mass(self) -> float:
        """Σ m, kg."""
        return float(self.masses.sum())

    @cached_property
    def first_moment(self) -> Array:
        """Σ m r (3,), kg m."""
        return np.asarray(self.masses @ self.positions)

    @property
    def center_of_mass(self) -> Array:
        """Σ m r / Σ m (3,), m; the origin where there is no mass."""
        return self.first_moment / self.mass if self.mass else np.zeros(3)

    @cached_property
    def inertia(self) -> Array:
        """Σ m (r·r 1 − r rᵀ) (3, 3) about the platform frame's origin, undeformed, kg m²."""
        second = np.einsum("n,ni,nj->ij", self.masses, self.positions, self.positions)
        return np.asarray(np.trace(second) * np.eye(3) - second)

    @cached_property
    def modal_mass(self) -> Array:
        """m_ee = Σ m φ_jᵀ φ_k (N, N): Long, Khalil & Martinet 2014, after Eq. 34, off-diagonal too."""
        columns = self._weighted
        return np.asarray(columns.T @ columns)

    @cached_property
    def frequencies(self) -> Array:
        """(N,) rising, Hz, with the floating frame held: K x = (2πf)² m_ee x."""
        return np.sort(self.own_modes.frequencies)

    @cached_property
    def own_modes(self) -> OwnModes:
        """Return the modes with the floating frame held: combinations of shapes where these couple."""
        K, mass = self.stiffness, self.modal_mass
        coupled = [_unit_diagonal(one) - np.eye(self.modes) for one in (K, mass)]
        for one in coupled:
            np.fill_diagonal(one, 0.0)
        combined = any(np.abs(one).max(initial=0.0) > ORTHOGONAL for one in coupled)
        squares, vectors = np.diagonal(K), np.eye(self.modes)
        if combined:
            squares, vectors = linalg.eigh(K, mass)
        D, mass = (np.einsum("jk,ji,ik->k", vectors, one, vectors) for one in (self.damping, mass))
        return OwnModes(combined, vectors, np.maximum(squares, 0.0), D, mass)

    @cached_property
    def report(self) -> ModalReport:
        """Rigid-body content and orthogonality of the shapes."""
        mass = self.modal_mass
        scale = np.sqrt(np.diagonal(mass))
        moment = np.cross(self.positions[:, :, np.newaxis], self.shapes, axis=1)
        return ModalReport(
            self.rigid_content(np.eye(self.modes)),
            np.einsum("n,nik->ik", self.masses, self.shapes),
            np.einsum("n,nik->ik", self.masses, moment),
            mass / np.outer(scale, scale) - np.eye(self.modes),
        )

    def rigid_content(self, vectors: Array) -> Array:
        """Part (k,) of the modal mass of combinations (N, k) of shapes that rigid motions explain."""
        weighted = self._weighted @ vectors
        explained = np.sum((self._rigid_basis.T @ weighted) ** 2, axis=0)
        return np.asarray(np.clip(explained / np.sum(weighted**2, axis=0), 0.0, 1.0))

    @cached_property
    def _weighted(self) -> Array:
        """√m φ as columns (3n, N): their products are m_ee."""
        weighted = np.sqrt(self.masses)[:, np.newaxis, np.newaxis] * self.shapes
        return np.asarray(weighted.reshape(3 * len(self.masses), self.modes))

    @cached_property
    def _rigid_basis(self) -> Array:
        return rigid_basis(self.positions, self.masses)


def rigid_basis(positions: Array, masses: Array) -> Array:
    """Orthonormal columns (3n, ≤ 6) that span √m (t + θ × r)."""
    arm = positions - masses @ positions / (masses.sum() or 1.0)
    turns = np.cross(np.eye(3)[np.newaxis], arm[:, np.newaxis])  # (n, 3 axes, 3)
    fields = np.concatenate([np.broadcast_to(np.eye(3), turns.shape), turns], axis=1)
    fields = fields * np.sqrt(masses)[:, np.newaxis, np.newaxis]
    columns = np.swapaxes(fields, 1, 2).reshape(-1, 6)
    length = np.linalg.norm(columns, axis=0)
    columns = columns[:, length > 0] / length[length > 0]
    left, values, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, values > 1e-9])


class _Checking:
    """Turns what was given into arrays that fit each other, or says what does not."""

    def __init__(self, body: ModalBody) -> None:
        self.body = body

    def fail(self, message: str) -> InputError:
        return InputError(f"{self.body.name}: {message}")

    def warn(self, message: str) -> None:
        warnings.warn(f"{self.body.name}: {message}", ModalBodyWarning, stacklevel=6)

    def run(self) -> None:
        self._arrays()
        self._masses()
        if self.body.modes:
            self._stiffness()
            self._damping()
            self._independent()
            self._rigid()
            self._orthogonal()
        self._units()

    def _arrays(self) -> None:
        shapes = self._numbers("shapes")
        if shapes.ndim != 3 or shapes.shape[1] != 3:
            raise self.fail(f"shapes needs (nodes, 3, modes), has {shapes.shape}")
        nodes, _, modes = shapes.shape
        if modes > MOST_MODES:
            raise self.fail(f"has {modes} modes; limit {MOST_MODES}")
        tips = self._numbers("tip_positions")
        if tips.ndim != 2 or tips.shape[1] != 3:
            raise self.fail(f"tip_positions needs (legs, 3), has {tips.shape}")
        wanted: dict[str, tuple[int, ...]] = {
            "positions": (nodes, 3),
            "masses": (nodes,),
            "stiffness": (modes, modes),
            "damping": (modes, modes),
            "tip_shapes": (len(tips), 3, modes),
            "tip_rotations": (len(tips), 3, modes),
            "rotations": (nodes, 3, modes),
            "origin_shapes": (3, modes),
            "origin_rotations": (3, modes),
        }
        words = f"shapes has {nodes} nodes and {modes} modes, tip_positions {len(tips)} tips"
        for key, shape in wanted.items():
            if key in OPTIONAL and getattr(self.body, key) is None:
                continue
            value = self._numbers(key)
            if key in ("stiffness", "damping") and value.shape == (modes,):
                value = np.diag(value)
            if value.shape != shape:
                raise self.fail(f"{key} has shape {value.shape}, needs {shape}: {words}")
            self._set(key, value)
        self._set("shapes", shapes)
        self._set("tip_positions", tips)
        self._faces(nodes)

    def _numbers(self, key: str) -> Array:
        try:
            given = np.asarray(getattr(self.body, key))
            if given.dtype.kind not in "iuf":
                raise TypeError
            value = given.astype(np.float64)
        except (TypeError, ValueError):
            raise self.fail(f"{key} is not an array of real numbers") from None
        bad = ~np.isfinite(value)
        if bad.any():
            place = ", ".join(map(str, np.argwhere(bad)[0]))
            raise self.fail(f"{key}[{place}] is {value[bad][0]}")
        return value

    def _set(self, key: str, value: Array) -> None:
        value.setflags(write=False)
        object.__setattr__(self.body, key, value)

    def _faces(self, nodes: int) -> None:
        if self.body.faces is None:
            return
        faces = np.asarray(self.body.faces)
        if faces.ndim != 2 or faces.dtype.kind not in "iu" or faces.shape[1] < 3:
            raise self.fail(
                f"faces needs whole numbers (faces, 3 or more), has {faces.dtype} {faces.shape}"
            )
        if faces.size and (faces.min() < 0 or faces.max() >= nodes):
            raise self.fail(f"faces has node {faces.max()}; the {nodes} nodes count from 0")
        self._set("faces", faces.astype(np.int64))

    def _masses(self) -> None:
        masses = self.body.masses
        if np.any(masses < 0):
            worst = int(np.argmin(masses))
            raise self.fail(f"masses[{worst}] is negative: {masses[worst]:g} kg")

    def _stiffness(self) -> None:
        stiffness = self.body.stiffness
        skew = np.abs(stiffness - stiffness.T).max()
        if skew > 1e-9 * np.abs(stiffness).max():
            raise self.fail(f"stiffness is not symmetric: K − Kᵀ has the element {skew:.3g}")
        worst = int(np.argmin(np.diagonal(stiffness)))
        if stiffness[worst, worst] < 0:
            raise self.fail(
                f"stiffness of mode {worst + 1} is negative: {stiffness[worst, worst]:g}"
            )
        lowest = _lowest(stiffness)
        if lowest < -1e-9:
            raise self.fail(
                f"stiffness has a negative eigenvalue ({lowest:.3g} once scaled to unit diagonal)"
            )

    def _damping(self) -> None:
        damping = self.body.damping
        if np.abs(damping - damping.T).max() > 1e-9 * np.abs(damping).max():
            self.warn("damping is not symmetric; its antisymmetric part dissipates nothing")
        symmetric = (damping + damping.T) / 2
        lowest = float(np.linalg.eigvalsh(symmetric)[0])
        if lowest < -1e-9 * np.abs(symmetric).max():
            self.warn(f"damping feeds energy in: its lowest eigenvalue is {lowest:.3g}")

    def _independent(self) -> None:
        mass = np.diagonal(self.body.modal_mass)
        largest = mass.max(initial=0.0)
        if np.any(mass <= 1e-30 * largest):
            worst = int(np.argmin(mass))
            raise self.fail(f"mode {worst + 1} moves no mass: m_ee is singular")
        values, vectors = np.linalg.eigh(_unit_diagonal(self.body.modal_mass))
        if values[0] < DEPENDENT:
            modes = _named(vectors[:, 0])
            found = f"{values[0]:.1e}, limit {DEPENDENT:g}"
            raise self.fail(f"{modes} are linearly dependent: m_ee is singular ({found})")

    def _rigid(self) -> None:
        """A combination of shapes that is rigid doubles the floating frame's own motion."""
        columns = self.body._weighted / np.linalg.norm(self.body._weighted, axis=0)
        basis = self.body._rigid_basis
        elastic = columns - basis @ (basis.T @ columns)
        left = np.sum(elastic**2, axis=0)
        if np.any(left < RIGID):
            raise self.fail(
                f"mode {int(np.argmin(left)) + 1} is a rigid-body motion, which the floating frame "
                f"already has (only {left.min():.1e} of its modal mass is elastic); leave it out"
            )
        values, vectors = linalg.eigh(elastic.T @ elastic, columns.T @ columns)
        if values[0] < RIGID:
            raise self.fail(
                f"{_named(vectors[:, 0])} together make a rigid-body motion, which the floating "
                "frame already has"
            )

    def _orthogonal(self) -> None:
        report = self.body.report
        if report.worst_coupling > ORTHOGONAL:
            size = np.abs(report.coupling)
            i, j = sorted(np.unravel_index(int(np.argmax(size)), size.shape))
            self.warn(
                f"the shapes are not orthogonal: m_ee couples modes {i + 1} and {j + 1} with "
                f"{size[i, j]:.2g} of their modal masses; taken as given"
            )

    def _units(self) -> None:
        """Slips of a factor 1000 (grams, tonnes) show in the modal masses or in the density."""
        body = self.body
        if not body.mass:
            return
        if body.modes:
            diagonal = np.diagonal(body.modal_mass)
            power = 3 * round(float(np.log10(np.median(diagonal))) / 3)
            normal = np.all(np.abs(diagonal / 10.0**power - 1) < 1e-2)
            if power and normal and not np.isclose(body.mass, 10.0**power, rtol=0.1):
                self.warn(
                    f"every modal mass is 1e{power}, where 1 is usual: are the masses in kg "
                    f"(they sum to {body.mass:.4g})?"
                )
                return
        edges = np.ptp(body.positions, axis=0)
        volume = float(np.prod(np.maximum(edges, THINNEST * edges.max())))
        low, high = DENSITY
        if volume and not low <= body.mass / volume <= high:
            self.warn(
                f"a mass of {body.mass:.4g} kg within {_box(edges)} m is implausible: "
                f"{body.mass / volume:.3g} kg/m³, usual are {low:g} to {high:g}; are masses in kg "
                "and positions in m?"
            )


def _box(edges: Array) -> str:
    return " × ".join(f"{edge:.3g}" for edge in edges)


def _unit_diagonal(matrix: Array) -> Array:
    """A symmetric matrix scaled so that no unit shows; rows with a zero diagonal stay as they are."""
    diagonal = np.diagonal(matrix)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return np.asarray(matrix * np.outer(scale, scale))


def _lowest(matrix: Array) -> float:
    return float(np.linalg.eigvalsh(_unit_diagonal((matrix + matrix.T) / 2))[0])


def _named(vector: Any) -> str:
    """The modes that matter in a combination of them, counted from 1."""
    size = np.abs(vector) / np.abs(vector).max()
    return "modes " + ", ".join(str(i + 1) for i in np.flatnonzero(size > 1e-3))
