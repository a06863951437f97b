"""Modes of a thin plate by Kirchhoff's theory, with Argyris' triangles (scikit-fem).

    D ∫ (1−ν) w″:v″ + ν Δw Δv dA = ω² ∫ ρh w v + ρh³/12 ∇w·∇v dA,     D = E h³ / (12 (1−ν²))

The last term, rotary inertia, is optional. Argyris' element is a whole polynomial of degree five with
continuous slopes, as the theory wants. The nodes of the `ModalBody` are the quadrature points of
the elements with their share of the mass, so that its sums over nodes are the exact integrals of
the finite-element shapes. Lengths are scaled to the plate's own while solving.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from gough.base.arrays import Array, given_numbers
from gough.description.modal.argyris import clamped_edges, locate, lowest, null_space, probes
from gough.description.modal.attachment import tied
from gough.description.modal.body import ModalBody
from gough.description.modal.payload import Payload, carrying, points_of
from gough.description.modal.triangulation import triangulate
from gough.errors import InputError, MissingDataError, ModalBodyWarning

Boundary = Literal["free", "pinned", "clamped"]

CONVERGED = 1e-3
"""Refinement ends when it changes no frequency by more than this part; what is left is a tenth."""
FEWEST_UNKNOWNS = 100
MOST_UNKNOWNS = 10_000
MOST_MODES = 100
SPARE = 6
"""Modes computed beyond those asked for: a pair must not be cut before it is aligned."""
EQUAL = 1e-5
"""Relative difference of ω² below which modes are one symmetric pair (or more)."""
ON_PLATE = 1e-6
"""How far outside the plate a tip may lie, in parts of the plate's size."""
FEWEST_FACES = 300
THICK = 0.03
"""Error of the first frequency by Kirchhoff's theory from which a plate is warned of."""
PLATE_DENSITY = (20.0, 25_000.0)
"""Plausible densities, kg/m³: honeycomb to tungsten."""


class Material(NamedTuple):
    """What the plate is made of."""

    thickness: float
    """h, m."""
    density: float
    """ρ, kg/m³."""
    young: float
    """E, N/m²."""
    poisson: float = 0.3
    """ν."""

    @property
    def bending_stiffness(self) -> float:
        """D = E h³ / (12 (1 − ν²)), N m."""
        return self.young * self.thickness**3 / (12 * (1 - self.poisson**2))

    @property
    def surface_density(self) -> float:
        """ρ h, kg/m²."""
        return self.density * self.thickness


def regular_polygon(radius: float, sides: int) -> Array:
    """Vertices (sides, 2) on a circle, the first on the x axis."""
    angle = 2 * np.pi * np.arange(sides) / sides
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def plate_body(
    outline: ArrayLike,
    material: Material,
    tips: ArrayLike,
    modes: int = 10,
    *,
    damping_ratio: ArrayLike = 0.0,
    boundary: Boundary = "free",
    rotary_inertia: bool = False,
    triangles: ArrayLike | None = None,
    refinements: int | None = None,
    payload: Sequence[Payload] = (),
    name: str = "plate",
) -> ModalBody:
    """Elastic modes of a plate whose mid-surface is the platform frame's plane z = 0.

    `outline` (n, 2), m, is a simple polygon, or with `triangles` (m, 3) the vertices of a mesh.
    `tips` (legs, 3) lie on the plate. The edge is free, or the plate is pinned at the tips (it turns
    but does not move there), or its whole edge is clamped. Modes are mass-normalised and rise in
    frequency: stiffness is ω², damping 2 ζ ω. Of a pair of equal frequency the first mode is the
    one that is larger towards +x; a mode's sign is such that the first tip it moves goes up. Refined
    until the frequencies no longer change, or as often as `refinements` says.
    """
    _check(material, modes, boundary, name)
    points = np.array(given_numbers("outline", outline))
    joints = np.array(given_numbers("tips", tips)).reshape(-1, 3)
    if triangles is None and len(points) > 3 and np.array_equal(points[0], points[-1]):
        points = points[:-1]  # an outline that is closed on its first point
    try:
        corners = triangulate(points) if triangles is None else (points, np.asarray(triangles))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    plate = _Plate(corners[0], corners[1], material, joints, boundary, rotary_inertia, name)
    try:
        found = plate.converged(modes) if refinements is None else plate.solve(refinements, modes)
        found = plate.aligned(found)
    except np.linalg.LinAlgError:
        x, y, angle = plate.thinnest()
        raise InputError(
            f"{name}: the outline is too thin near ({x:.4g}, {y:.4g}) m: a triangle there has an angle "
            f"of {np.degrees(angle):.2g}°, and the modes cannot be computed. Remove the spike or slit"
        ) from None
    _warn_of_theory(material, corners, found.squares[:modes], name)
    return plate.body(found, modes, _damping(damping_ratio, found.squares[:modes], name), payload)


def _check(material: Material, modes: int, boundary: str, name: str) -> None:
    for key in ("thickness", "density", "young"):
        if not 0 < getattr(material, key) < np.inf:
            raise InputError(f"{name}: {key} must be positive, is {getattr(material, key)}")
    if not -1 < material.poisson <= 0.5:
        raise InputError(f"{name}: poisson must be in (−1, 0.5], is {material.poisson}")
    if boundary not in ("free", "pinned", "clamped"):
        raise InputError(f"{name}: boundary needs 'free', 'pinned' or 'clamped', has {boundary!r}")
    if not 0 <= modes <= MOST_MODES:
        raise InputError(f"{name}: modes must be 0 to {MOST_MODES}, is {modes}")


def _warn_of_theory(
    material: Material, corners: tuple[Array, Array], squares: Array, name: str
) -> None:
    """Warn where a thin plate without in-plane flexibility is not what has these dimensions.

    Mindlin's plate of wavenumber k, k⁴ = ω² ρh/D, has ω lower by (k h)²/24 (1 + 2/(κ (1 − ν))), κ = 5/6,
    to first order. The lowest in-plane mode is that of a free beam with the outline's second moments,
    22.37/L² √(E b²/12ρ), or the shear wave over its length, whichever is slower.
    """
    low, high = PLATE_DENSITY
    if not low <= material.density <= high:
        _warn(
            name,
            f"a density of {material.density:.4g} kg/m³ is implausible, usual are {low:g} to {high:g}",
        )
    if not len(squares):
        return
    ratio = material.surface_density / material.bending_stiffness
    thick = np.sqrt(squares[0] * ratio) * material.thickness**2 / 24
    thick *= 1 + 2 / (5 / 6 * (1 - material.poisson))
    if thick > THICK:
        _warn(
            name,
            f"the plate is thick: shear and rotary inertia, which Kirchhoff's theory leaves out, lower "
            f"the first frequency by about {100 * thick:.0f} %. Take solid elements (Nastran, CalculiX)",
        )
    x, y = np.moveaxis(corners[0][corners[1]], -1, 0)  # (triangles, 3)
    area = np.abs(
        (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    )
    points = np.stack([x, y], axis=-1)
    middle = area @ points.mean(axis=1) / area.sum()
    arm = np.concatenate(
        [points - middle, 3 * (points.mean(axis=1, keepdims=True) - middle)], axis=1
    )
    weight = np.array([1, 1, 1, 1]) / 12  # exact for the second moments of triangles
    second = np.einsum("t,k,tki,tkj->ij", area / area.sum(), weight, arm, arm)
    width, length = np.sqrt(12 * np.linalg.eigvalsh(second))
    beam = 22.37 / length**2 * width * np.sqrt(material.young / (12 * material.density))
    shear = material.young / (2 * (1 + material.poisson))
    wave = np.pi / length * np.sqrt(shear / material.density)
    lowest = 1 / np.hypot(1 / beam, 1 / wave)
    highest = np.sqrt(squares[-1])
    if lowest < highest:
        _warn(
            name,
            f"the plate bends in its plane, too, from about {lowest / (2 * np.pi):.3g} Hz, below its "
            f"highest mode ({highest / (2 * np.pi):.3g} Hz); the model has no in-plane modes. Take "
            "fewer modes, or shells (Nastran, CalculiX)",
        )


def _warn(name: str, message: str) -> None:
    warnings.warn(f"{name}: {message}", ModalBodyWarning, stacklevel=4)


def _damping(ratio: ArrayLike, squares: Array, name: str) -> Array:
    """2 ζ ω (N,)."""
    ratios = given_numbers("damping_ratio", ratio)
    if ratios.ndim and ratios.shape != squares.shape:
        raise InputError(
            f"{name}: damping_ratio has {ratios.size} values, there are {squares.size} modes"
        )
    if np.any(ratios < 0):
        raise InputError(f"{name}: damping_ratio is negative")
    return np.asarray(2 * ratios * np.sqrt(squares))


class _Solution(NamedTuple):
    basis: Any
    squares: Array
    """ω², rising, elastic modes only, with spares."""
    coefficients: Array
    """(unknowns, modes), ∫ w² dA = 1 in scaled lengths (rotary inertia included)."""


class _Plate:
    """A coarse mesh in scaled lengths, to be refined."""

    def __init__(
        self,
        points: Array,
        triangles: Array,
        material: Material,
        tips: Array,
        boundary: Boundary,
        rotary: bool,
        name: str,
    ) -> None:
        try:
            import skfem
        except ImportError:
            raise MissingDataError(
                f"{name}: a plate needs scikit-fem: pip install scikit-fem"
            ) from None
        self.skfem = skfem
        self.name = name
        self.material = material
        self.tips = tips
        self.boundary = boundary
        self.rotary = rotary
        self.center = (points.max(axis=0) + points.min(axis=0)) / 2
        self.size = float(np.linalg.norm(points - self.center, axis=1).max())
        scaled = (points - self.center) / self.size
        self.coarse = skfem.MeshTri(
            np.ascontiguousarray(scaled.T), np.ascontiguousarray(triangles.T.astype(np.int64))
        )
        self._check_tips()

    def _check_tips(self) -> None:
        half = self.material.thickness / 2
        for leg, tip in enumerate(self.tips, 1):
            if abs(tip[2]) > half * (1 + 1e-9):
                raise InputError(
                    f"{self.name}: the tip of leg {leg} is {abs(tip[2]):.4g} m off the plate's "
                    f"mid-surface z = 0; within the thickness are {half:.4g} m"
                )
            gap = locate(self.coarse, self._scaled(tip[np.newaxis]))[1][0] * self.size
            if gap > ON_PLATE * self.size:
                raise InputError(
                    f"{self.name}: the tip of leg {leg} at ({tip[0]:.6g}, {tip[1]:.6g}) is {gap:.3g} m "
                    "outside the plate"
                )

    def thinnest(self) -> tuple[float, float, float]:
        """Middle of the shortest edge of the triangle with the smallest angle, m; that angle, rad."""
        corners = np.moveaxis(self.coarse.p[:, self.coarse.t], 0, -1)  # (3, triangles, 2)
        one, other = (np.roll(corners, -k, axis=0) - corners for k in (1, 2))
        crossed = one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
        angles = np.arctan2(np.abs(crossed), np.sum(one * other, axis=-1))
        triangle = int(np.argmin(angles.min(axis=0)))
        shortest = int(np.argmin(np.linalg.norm(one[:, triangle], axis=1)))
        middle = corners[shortest, triangle] + one[shortest, triangle] / 2
        x, y = middle * self.size + self.center
        return float(x), float(y), float(angles.min())

    def _scaled(self, points: Array) -> Array:
        return np.asarray((points[:, :2] - self.center) / self.size)

    def converged(self, modes: int) -> _Solution:
        """Refine until no frequency changes any more."""
        level = 0
        unknowns = self._unknowns(self.coarse)
        while unknowns < max(FEWEST_UNKNOWNS, 8 * modes):
            level, unknowns = level + 1, 4 * unknowns
        found = self.solve(level, modes)
        if modes and 4 * found.basis.N > MOST_UNKNOWNS:
            warnings.warn(
                f"{self.name}: {found.basis.N} unknowns are not compared with a finer mesh's, which "
                f"would have over {MOST_UNKNOWNS}: has it many modes or short edges?",
                ModalBodyWarning,
                stacklevel=4,
            )
            return found
        while modes:
            finer = self.solve(level + 1, modes)
            change = np.abs(np.sqrt(found.squares[:modes] / finer.squares[:modes]) - 1).max()
            if change < CONVERGED or 4 * finer.basis.N > MOST_UNKNOWNS:
                if change > 10 * CONVERGED:
                    warnings.warn(
                        f"{self.name}: frequencies still change by {100 * change:.2g} % with "
                        f"{finer.basis.N} unknowns",
                        ModalBodyWarning,
                        stacklevel=4,
                    )
                return finer
            level, found = level + 1, finer
        return found

    @staticmethod
    def _unknowns(mesh: Any) -> int:
        return int(6 * mesh.p.shape[1] + mesh.facets.shape[1])

    def solve(self, level: int, modes: int) -> _Solution:
        """Elastic modes on the mesh refined `level` times."""
        from skfem.helpers import dd, ddot, dot, eye, grad, trace

        mesh = self.coarse.refined(level)
        basis = self.skfem.Basis(mesh, self.skfem.ElementTriArgyris(), intorder=10)
        poisson = self.material.poisson
        turning = (self.material.thickness / self.size) ** 2 / 12 if self.rotary else 0.0

        def bending(u: Any, v: Any, _: Any) -> Any:
            moments = (1 - poisson) * dd(u) + poisson * eye(trace(dd(u)), 2)
            return ddot(moments, dd(v))

        def inertia(u: Any, v: Any, _: Any) -> Any:
            return u * v + turning * dot(grad(u), grad(v)) if turning else u * v

        stiffness = self.skfem.BilinearForm(bending).assemble(basis).tocsc()
        mass = self.skfem.BilinearForm(inertia).assemble(basis).tocsc()
        held, rigid = self._constraints(basis)
        free = null_space(held)
        count = min(modes + SPARE, free.shape[1] - rigid)
        if count < modes:
            raise InputError(f"{self.name}: {modes} modes of {basis.N} unknowns; refine more")
        values, vectors = lowest(
            (free.T @ stiffness @ free).tocsc(), (free.T @ mass @ free).tocsc(), rigid + count
        )
        values, vectors = values[rigid:], free @ vectors[:, rigid:]
        scale = self.material.bending_stiffness / (self.material.surface_density * self.size**4)
        return _Solution(basis, values * scale, vectors)

    def _constraints(self, basis: Any) -> tuple[Any, int]:
        """Rows that must vanish, and how many rigid-body motions they leave."""
        if self.boundary == "clamped":
            return clamped_edges(basis), 0
        if self.boundary == "free" or not len(self.tips):
            return sparse.csr_matrix((0, basis.N)), 3
        points = self._scaled(self.tips)
        rigid = np.column_stack([np.ones(len(points)), points])
        return probes(basis, points)[0], 3 - int(np.linalg.matrix_rank(rigid, tol=1e-9))

    def aligned(self, found: _Solution) -> _Solution:
        """The same modes on any machine: pairs turned to the x axis, signs fixed."""
        basis, values, vectors = found
        skew = self.skfem.BilinearForm(lambda u, v, w: np.exp(w.x[0]) * u * v).assemble(basis)
        start = 0
        while start < len(values):
            end = start + 1
            while end < len(values) and values[end] - values[end - 1] < EQUAL * values[end]:
                end += 1
            group = vectors[:, start:end]
            weights, turn = linalg.eigh(group.T @ (skew @ group))
            vectors[:, start:end] = group @ turn[:, np.argsort(-weights)]
            values[start:end] = values[start:end].mean()
            start = end
        return _Solution(basis, values, vectors * self._signs(basis, vectors))

    def _signs(self, basis: Any, vectors: Array) -> Array:
        """+1 or −1: up at the first tip that moves by a hundredth of the mode's mean size."""
        signs = np.ones(vectors.shape[1])
        if len(self.tips):
            moves = probes(basis, self._scaled(self.tips))[0] @ vectors  # ∫ w² dA = 1, A ≈ 1
        else:
            moves = np.zeros((1, vectors.shape[1]))
        tilted = self.skfem.LinearForm(lambda v, w: np.exp(w.x[0] + 0.4 * w.x[1]) * v)
        fallback = tilted.assemble(basis) @ vectors
        for k in range(len(signs)):
            moving = moves[np.abs(moves[:, k]) > 1e-2, k]
            signs[k] = np.sign(moving[0] if len(moving) else fallback[k]) or 1.0
        return signs

    def body(
        self, found: _Solution, modes: int, damping: Array, payload: Sequence[Payload]
    ) -> ModalBody:
        """Quadrature points as nodes, and the vertices, without mass, to draw faces with."""
        basis, coefficients = found.basis, found.coefficients[:, :modes]
        coefficients = coefficients / np.sqrt(self.material.surface_density * self.size**2)
        mesh = basis.mesh
        shown = mesh
        while shown.t.shape[1] < FEWEST_FACES:
            shown = shown.refined(1)
        corner, corner_turn = self._at(basis, shown.p.T, np.zeros(shown.p.shape[1]), coefficients)
        places = basis.mapping.F(basis.X).reshape(2, -1).T
        fields = [basis.interpolate(column) for column in coefficients.T]
        bend = _stacked([np.asarray(field).ravel() for field in fields], (len(places),))
        slope = _stacked([field.grad.reshape(2, -1) for field in fields], (2, len(places)))
        masses = self.material.surface_density * self.size**2 * basis.dx.ravel()
        # Pairs of nodes through the thickness carry ρh³/12, single ones do not.
        height = self.material.thickness / np.sqrt(12)
        layers = (-height, height) if self.rotary else (0.0,)
        nodes = [(shown.p.T, 0.0, np.zeros(shown.p.shape[1]), corner, corner_turn)]
        for z in layers:
            shape, turn = self._displacement(bend, slope, np.full(len(places), z))
            nodes.append((places, z, masses / len(layers), shape, turn))
        positions = np.concatenate(
            [
                np.column_stack([at * self.size + self.center, np.full(len(at), z)])
                for at, z, *_ in nodes
            ]
        )
        heavy = np.concatenate([node[2] for node in nodes])
        moving = np.concatenate([node[3] for node in nodes])
        tip_shapes, tip_rotations = self._at(
            basis, self._scaled(self.tips), self.tips[:, 2], coefficients
        )
        shapes, turns = [], []
        for point in (np.zeros(3), *points_of(payload)):
            shape, turn = self._attached(basis, point, coefficients, (positions, heavy, moving))
            shapes.append(shape)
            turns.append(turn)
        origin = {"origin_shapes": shapes[0], "origin_rotations": turns[0]}
        with warnings.catch_warnings(action="ignore", category=ModalBodyWarning):
            # its own check of densities does not know the thickness; `_warn_of_theory` does
            body = ModalBody(
                positions=positions,
                masses=heavy,
                shapes=moving,
                rotations=np.concatenate([node[4] for node in nodes]),
                stiffness=found.squares[:modes],
                damping=damping,
                tip_positions=self.tips,
                tip_shapes=tip_shapes,
                tip_rotations=tip_rotations,
                faces=shown.t.T,
                name=self.name,
                **({} if np.isnan(shapes[0]).any() else origin),
            )
        size = (len(payload), 3, modes)
        return carrying(body, payload, np.reshape(shapes[1:], size), np.reshape(turns[1:], size))

    def _attached(
        self, basis: Any, point: Array, coefficients: Array, nodes: tuple[Array, Array, Array]
    ) -> tuple[Array, Array]:
        """Shape and rotation (3, modes) at a point on the plate, or tied to the nodes near it."""
        place = self._scaled(point[np.newaxis])
        if abs(point[2]) <= self.size and locate(basis.mesh, place)[1][0] < ON_PLATE:
            shape, turn = self._at(basis, place, point[2:], coefficients)
            return shape[0], turn[0]
        return tied(point, *nodes)

    def _at(
        self, basis: Any, points: Array, heights: Array, coefficients: Array
    ) -> tuple[Array, Array]:
        """Shapes and rotations (points, 3, modes) at scaled points of given height, m."""
        value, slope_x, slope_y = (probe @ coefficients for probe in probes(basis, points))
        return self._displacement(value, np.stack([slope_x, slope_y]), heights)

    def _displacement(self, bend: Array, slope: Array, z: Array) -> tuple[Array, Array]:
        """(−z w_x, −z w_y, w) and its ½ curl (w_y, −w_x, 0); slopes are in scaled lengths."""
        dx, dy = slope / self.size
        height = z[:, np.newaxis]
        shapes = np.stack([0.0 - height * dx, 0.0 - height * dy, bend], axis=1)
        return shapes, np.stack([dy, -dx, np.zeros_like(dx)], axis=1)


def _stacked(columns: Sequence[Array], shape: tuple[int, ...]) -> Array:
    """Modes along the last axis, also where there are none."""
    return np.stack(columns, axis=-1) if columns else np.zeros((*shape, 0))
