"""Units of a robot file reach the places of meshes, the platform's and the legs', in any form."""

from __future__ import annotations

import numpy as np
import pytest

import gough
from gough.description.meshes import mesh_tables

PLACE = {"position": [100, 20, -3], "rotation_vector": [0, 0, 90]}
FORMS = {
    "one table": lambda mesh: mesh,
    "a list of tables": lambda mesh: [mesh, mesh],
    "a list a leg": lambda mesh: [[mesh]] * 3,
}


@pytest.mark.parametrize("form", FORMS)
def test_places_of_meshes_are_in_the_units_of_the_file(form):
    mesh = {"file": "body.stl", **PLACE, "scale": 0.001}
    angles = np.arange(3) * 2 * np.pi / 3
    circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)
    robot = gough.Robot.from_dict(
        {
            "format": 1,
            "name": "in mm",
            "units": {"length": "mm", "angle": "deg"},
            "home": {"position": [0, 0, 500]},
            "legs": {
                "kind": "UPS",
                "base": (300 * circle).tolist(),
                "platform": (100 * circle).tolist(),
                "axis": [0, 0, 1],
                "rod": {"mass": 1, "mesh": FORMS[form](mesh)},
                "friction": {"universal_coulomb": 5, "slider_viscous": 7},
            },
            "platform": {"mass": 1, "mobility": "translation", "mesh": mesh},
        }
    )
    tables = [table for body in mesh_tables(robot.file, robot.description) for table in body.tables]
    assert len(tables) == (7 if form == "a list of tables" else 4)
    for table in tables:
        np.testing.assert_allclose(table.position, [0.1, 0.02, -0.003], rtol=1e-15)
        np.testing.assert_allclose(table.rotation_vector, [0, 0, np.pi / 2], rtol=1e-15)
        assert table.scale == 0.001
    friction = robot.file.legs.friction
    assert (friction.universal_coulomb, friction.slider_viscous) == (0.005, 7)
