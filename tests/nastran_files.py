"""Small Nastran files for the tests: a square plate's modes as Nastran would write them."""

import numpy as np


def write_bdf(path, points, quads, material, extra=""):
    """A .bdf of CQUAD4 elements between points (n, 3), numbered from 1."""
    lines = ["SOL 103", "CEND", "BEGIN BULK"]
    lines += [
        f"GRID*   {i:16d}{0:16d}{x:16.9E}{y:16.9E}\n*       {z:16.9E}"
        for i, (x, y, z) in enumerate(points, 1)
    ]
    lines += [
        f"CQUAD4  {i:8d}{1:8d}" + "".join(f"{n + 1:8d}" for n in quad)
        for i, quad in enumerate(quads, 1)
    ]
    lines.append(f"PSHELL,1,1,{material.thickness},1")
    lines.append(f"MAT1,1,{material.young:.6E},,{material.poisson},{material.density:.6E}")
    path.write_text("\n".join([*lines, *extra.splitlines(), "ENDDATA", ""]))


def write_op2(path, displacements, squares):
    """An .op2 with eigenvectors (modes, n, 6) of the nodes 1 to n."""
    from gough.description.modal.nastran import _pynastran

    _, op2 = _pynastran()
    from pyNastran.op2.tables.oug.oug_eigenvectors import RealEigenvectorArray

    modes, count, _ = displacements.shape
    grid = np.column_stack([np.arange(1, count + 1), np.ones(count, int)]).astype("int32")
    vectors = RealEigenvectorArray.add_modal_case(
        "OUGV1", grid, displacements.astype("float32"), 1, np.arange(1, modes + 1, dtype="int32"),
        squares, np.sqrt(squares) / (2 * np.pi),
    )  # fmt: skip
    vectors.table_code = 7  # eigenvectors
    model = op2.OP2(debug=None)
    model.set_as_msc()
    model.eigenvectors[1] = vectors
    model.write_op2(str(path), post=-1, nastran_format="msc")
