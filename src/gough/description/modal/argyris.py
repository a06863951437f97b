"""Argyris' triangles at work: values at any point, constraints, eigenvalues (with scikit-fem).

Unknowns are w, its two slopes and three curvatures at each vertex and the normal slope at the middle
of each edge; `basis` is scikit-fem's, of a mesh in the plane.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import eigsh

from gough.base.arrays import Array

DENSE = 200
"""Unknowns up to which the eigenproblem is solved as a dense one."""


def locate(mesh: Any, points: Array) -> tuple[Array, Array]:
    """The triangle (n,) that holds or is nearest to each point, and how far outside it is (n,)."""
    a, b, c = np.moveaxis(mesh.p[:, mesh.t], 1, 0)  # (2, triangles)
    to_local = np.linalg.inv(np.stack([b - a, c - a], axis=-1).transpose(1, 0, 2))
    best = np.empty(len(points), dtype=np.int64)
    gap = np.empty(len(points))
    for i, point in enumerate(points):
        local = np.einsum("tij,tj->ti", to_local, point - a.T)
        nearest = np.clip(local, 0.0, 1.0)
        nearest /= np.maximum(nearest.sum(axis=1, keepdims=True), 1.0)
        missed = np.einsum("tij,tj->ti", np.linalg.inv(to_local), local - nearest)
        distance = np.linalg.norm(missed, axis=1)
        best[i] = int(np.argmin(distance))
        gap[i] = distance[best[i]]
    return best, gap


def probes(basis: Any, points: Array) -> tuple[Any, Any, Any]:
    """Sparse matrices (points, unknowns) that give value and slopes at points (n, 2)."""
    cells = locate(basis.mesh, points)[0]
    local = basis.mapping.invF(points.T[:, :, np.newaxis], tind=cells)
    fields = [basis.elem.gbasis(basis.mapping, local, k, tind=cells)[0] for k in range(basis.Nbfun)]
    rows = np.tile(np.arange(len(points)), basis.Nbfun)
    columns = basis.element_dofs[:, cells].ravel()

    def matrix(values: Array) -> Any:
        return sparse.csr_matrix((values.ravel(), (rows, columns)), (len(points), basis.N))

    return (
        matrix(np.stack([np.asarray(field)[:, 0] for field in fields])),
        matrix(np.stack([field.grad[0, :, 0] for field in fields])),
        matrix(np.stack([field.grad[1, :, 0] for field in fields])),
    )


def clamped_edges(basis: Any) -> Any:
    """Rows (constraints, unknowns): w and its slope vanish along the edges of the plate.

    Along a straight edge with tangent t and normal n that is w, ∇w, t·w″t and t·w″n at its ends and
    the normal slope at its middle; n·w″n stays free.
    """
    mesh = basis.mesh
    rows: list[tuple[Array, list[float]]] = []
    for facet in mesh.boundary_facets():
        ends = mesh.facets[:, facet]
        tx, ty = np.diff(mesh.p[:, ends], axis=1)[:, 0]
        length = np.hypot(tx, ty)
        tx, ty = tx / length, ty / length
        for unknowns in basis.nodal_dofs[:, ends].T:
            rows += [(unknowns[i : i + 1], [1.0]) for i in range(3)]
            rows.append((unknowns[3:], [tx * tx, 2 * tx * ty, ty * ty]))
            rows.append((unknowns[3:], [-tx * ty, tx * tx - ty * ty, tx * ty]))
        rows.append((basis.facet_dofs[:, facet], [1.0]))
    number = np.repeat(np.arange(len(rows)), [len(values) for _, values in rows])
    columns = np.concatenate([unknowns for unknowns, _ in rows])
    values = np.concatenate([values for _, values in rows])
    return sparse.csr_matrix((values, (number, columns)), (len(rows), basis.N))


def null_space(rows: Any) -> Any:
    """Sparse columns that span what satisfies rows · x = 0; a few unknowns follow from the rest."""
    size, rows = rows.shape[1], rows.copy()
    rows.eliminate_zeros()
    rows = rows[np.diff(rows.indptr) > 0]
    follow = sparse.lil_matrix((size, size))
    is_slave = np.zeros(size, dtype=bool)
    for some, columns in _apart(rows):
        _, upper, order = linalg.qr(
            rows[some][:, columns].toarray(), mode="economic", pivoting=True
        )
        rank = int(np.sum(np.abs(np.diagonal(upper)) > 1e-9 * abs(upper[0, 0])))
        slaves, masters = columns[order[:rank]], columns[order[rank:]]
        is_slave[slaves] = True
        if len(masters):
            part = linalg.solve_triangular(upper[:rank, :rank], -upper[:rank, rank:])
            follow[np.ix_(slaves, masters)] = part
    kept = np.flatnonzero(~is_slave)
    return (sparse.identity(size, format="csc") + follow.tocsc())[:, kept]


def _apart(rows: Any) -> Iterator[tuple[Array, Array]]:
    """Rows and the unknowns in them, in groups that share none: each is solved by itself."""
    joined = sparse.csgraph.connected_components(abs(rows).T @ abs(rows), directed=False)[1]
    used = np.unique(rows.indices)
    used = used[np.argsort(joined[used], kind="stable")]
    first = joined[rows.indices[rows.indptr[:-1]]]
    order = np.argsort(first, kind="stable")
    for group in np.unique(joined[used]):
        yield (
            order[slice(*np.searchsorted(first[order], [group, group + 1]))],
            used[slice(*np.searchsorted(joined[used], [group, group + 1]))],
        )


def lowest(stiffness: Any, mass: Any, count: int) -> tuple[Array, Array]:
    """Lowest eigenvalues and vectors of K x = λ M x."""
    size = stiffness.shape[0]
    if size <= DENSE or count > size // 3:
        values, vectors = linalg.eigh(
            stiffness.toarray(), mass.toarray(), subset_by_index=[0, count - 1]
        )
    else:
        values, vectors = eigsh(stiffness, count, mass, sigma=-1.0, v0=np.ones(size))
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return np.asarray(values), np.asarray(vectors)
