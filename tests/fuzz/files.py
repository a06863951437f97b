"""Sound files of every kind that gough reads, and what is done with each."""

from __future__ import annotations

import importlib.util
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gough
from cases.families import FAMILIES
from cases.mjcf import delta, stewart
from cases.studies import SWEEP
from fuzz.asked import one_more
from gough.calibration import read_poses
from gough.cueing import read_vehicle
from gough.data.columns import Columns
from gough.data.datasets import force_dataset, write_dataset
from gough.data.encoders import read_encoders
from gough.data.logs import read_log
from gough.data.motion_files import read_motion, write_motion
from gough.data.paper_motions import paper_motion
from gough.data.stiffness_tests import read_stiffness_tests
from gough.description.meshes import read_mesh
from gough.description.modal.bulk_data import bulk_data
from gough.description.modal.calculix import read_calculix
from gough.description.modal.meshed import Selection
from gough.description.modal.nastran import read_nastran
from gough.description.modal.npz import read_npz, write_npz
from gough.description.modal.plate import Material, plate_body
from gough.exchange.urdf import export_urdf
from gough.planning.path_files import read_path
from gough.show.report.result import read_result, result_page
from gough.simulation.config import read_config
from gough.studies.plan import make_plan, read_plan
from gough.studies.run import run
from gough.studies.store import read_study
from nastran_files import write_bdf, write_op2
from oracles.legs import KINDS
from oracles.random_robot import random_robot, toml_text

TIPS = np.array([[-0.3, -0.3, 0.0], [0.3, -0.3, 0.0], [0.3, 0.3, 0.0]])
WANTED = Selection(TIPS, None, None, 0.01)
SIMULATION = """
robot = "kim-ryu-2002"
duration = 0.01
[motion]
name = "kim-ryu-2002/circle-40rpm"
[start]
shift = [0, 0, 1e-3]
[controller]
kind = "computed torque"
frequency = 30.0
ratio = 0.7
[[disturbance]]
kind = "push"
force = [1, 0, 0]
start = 0.001
end = 0.005
[actuators]
force = 1000
lag = 0.001
[sensors]
resolution = 1e-6
noise = 1e-7
delay = 0.001
[simulation]
period = 1e-3
step = 5e-4
record = 1e-3
"""


class Seed(NamedTuple):
    """A sound file that is mutated, and what reads it."""

    path: Path
    text: bool
    read: Callable[[Path], object]
    """Takes the mutated file, which stands where the sound one was."""


def robot(path: Path) -> None:
    """Load a robot and ask it what a user would; all that comes back is finite or refused."""
    one = gough.load(path)
    home = one.home
    for answer in (
        one.inverse_kinematics(home).q,
        one.jacobian(home),
        one.rigid.inverse_dynamics(home).forces if not one.description.missing else np.zeros(1),
    ):
        assert np.isfinite(answer).all(), "an answer that is not finite"
    str(one)
    one_more(one, path.read_bytes())


def study_folder(path: Path) -> None:
    """Read the results of a study in which one file is spoiled."""
    folder = next(one for one in path.parents if one.suffix == ".zarr")
    dataset = read_study(folder)
    if "l" in dataset:  # it may be called otherwise now
        assert np.isfinite(dataset["l"]).all(), "inputs that are not finite"


def seeds(folder: Path, kind: str) -> list[Seed]:
    """Sound files of a kind, made in a folder; none where what reads them is not installed."""
    os.environ["GOUGH_ENGINE"] = "numpy"  # to compile each mutated robot takes too long
    return MAKERS[kind](folder)


def _robots(folder: Path) -> list[Seed]:
    made = []
    for source in sorted(
        (Path(gough.__file__).parent / "description" / "catalogue").glob("*.toml")
    ):
        shutil.copy(source, folder / source.name)
        made.append(Seed(folder / source.name, True, robot))
    for kind in KINDS:
        target = folder / f"{kind}.toml"
        text = toml_text(random_robot(np.random.default_rng(7), kind, friction=True))
        target.write_text(text, "utf-8")
        made.append(Seed(target, True, robot))
    for number, family in enumerate(FAMILIES.values()):
        text = toml_text(family.draw(np.random.default_rng(5)))
        made += _text(folder, f"family-{number}.toml", text, robot)
    for name, kind, legs in (("bending", "PUS", BENDING), ("shaped", "UPS", SHAPED)):
        data = random_robot(np.random.default_rng(3), kind)
        data["legs"] |= legs
        made += _text(folder, f"{name}.toml", toml_text(data), robot)
    return made


BENDING = {
    "drive": {"stiffness": 1e7, "damping": 100.0},
    "beams": {"modes": 2, "link": {"young": 2e11, "outer_diameter": 0.03, "inner_diameter": 0.02}},
}
SHAPED = {
    "cylinder": {
        "shape": "tube",
        "radius": 0.05,
        "inner_radius": 0.03,
        "length": 0.8,
        "density": 7850,
    },
    "rod": {"shape": "rod", "radius": 0.02, "length": 0.5, "mass": 2.0, "mesh": "box.stl"},
}


def _motion(folder: Path, kind: str) -> list[Seed]:
    write_motion(_circle(), folder / f"motion.{kind}")
    return [Seed(folder / f"motion.{kind}", kind == "csv", read_motion)]


def _circle() -> gough.Motion:
    return paper_motion("kim-ryu-2002/circle-40rpm").sample(60)


def _log(folder: Path) -> list[Seed]:
    kim, motion = gough.load("kim-ryu-2002"), _circle()
    names = ["time [s]"] + [f"{name} [{unit}]" for name, unit in LOG_COLUMNS]
    rows = [",".join(names)]
    for time, q in zip(motion.time, kim.inverse_kinematics(motion).q, strict=True):
        rows.append(",".join(repr(float(x)) for x in (time, *q, *(10 * q))))
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    return [Seed(folder / "log.csv", True, lambda path: read_log(kim, path))]


LOG_COLUMNS = [(f"q{i}", "m") for i in range(1, 7)] + [(f"force{i}", "N") for i in range(1, 7)]


def _encoders(folder: Path) -> list[Seed]:
    (log,) = _log(folder)
    kim = gough.load("kim-ryu-2002")
    return [log._replace(read=lambda path: read_encoders(kim, path))]


def _table(folder: Path, name: str, rows: dict[str, object], read) -> list[Seed]:
    columns = np.column_stack(np.broadcast_arrays(*(np.atleast_1d(one) for one in rows.values())))
    lines = [",".join(rows), *(",".join(repr(float(x)) for x in row) for row in columns)]
    return _text(folder, name, "\n".join(lines) + "\n", read)


def _poses(folder: Path) -> list[Seed]:
    kim, motion = gough.load("kim-ryu-2002"), _circle()
    q = kim.inverse_kinematics(motion).q
    rows = {f"q{i + 1} [mm]": 1e3 * q[:, i] for i in range(6)}
    rows |= {f"{axis} [m]": motion.position[:, i] for i, axis in enumerate("xyz")}
    return _table(folder, "poses.csv", rows, lambda path: read_poses(kim, path))


def _vehicle(folder: Path) -> list[Seed]:
    time = np.linspace(0, 1, 50)
    rows = {
        "time [ms]": 1e3 * time,
        "ax": np.sin(time),
        "ay": 0.0,
        "az": 0.1,
        "wx": 0.0,
        "wy [deg/s]": 1.0,
    }
    return _table(folder, "drive.csv", rows | {"wz": 0.0}, read_vehicle)


def _stiffness(folder: Path) -> list[Seed]:
    kim = gough.load("kim-ryu-2002")
    rows = {
        "fx [N]": np.arange(20.0),
        "fz [kN]": 1.0,
        "dx [mm]": 0.1,
        "dy [m]": 0.0,
        "dz [um]": 3.0,
    }
    return _table(folder, "tests.csv", rows, lambda path: read_stiffness_tests(kim, path))


PATH = """
start = [0, 0, 0.8, 0, 0, 0]
[[pieces]]
line = [0.02, 0, 0]
blend = 0.002
[[pieces]]
turn = [0, 0, 0.05]
about = [0, 0, 0.1]
[[pieces]]
center = [0.01, 0, 0]
axis = [0, 0, 1]
angle = 1.5
[[pieces]]
rest = 0.1
"""
COLUMNS = 'units = "mm,deg,ms"\n[columns]\nL1 = "q1 [mm]"\n"L 2" = "q2"\n'


def _path(folder: Path) -> list[Seed]:
    kim = gough.load("kim-ryu-2002")
    return _text(folder, "path.toml", PATH, lambda path: read_path(path, kim))


def _text(folder: Path, name: str, text: str, read: Callable[[Path], object]) -> list[Seed]:
    (folder / name).write_text(text)
    return [Seed(folder / name, True, read)]


def _study_folder(folder: Path) -> list[Seed]:
    store = run(make_plan(SWEEP.format(points=100)), folder / "study.zarr")
    files = sorted(one for one in store.path.rglob("*") if one.is_file() and one.name != ".lock")
    return [Seed(one, one.name.startswith("."), study_folder) for one in files]


def _result(folder: Path) -> list[Seed]:
    kim, motion = gough.load("kim-ryu-2002"), _circle()
    found = force_dataset(kim, motion, kim.inverse_dynamics(motion), None, None)
    write_dataset(found, folder / "result.nc")
    return [Seed(folder / "result.nc", False, lambda path: result_page(read_result(path)).html())]


def _npz(folder: Path) -> list[Seed]:
    write_npz(plate_body(SQUARE, MATERIAL, TIPS, 2, refinements=0), folder / "body.npz")
    return [Seed(folder / "body.npz", False, read_npz)]


MATERIAL = Material(0.01, 2700.0, 7e10, 0.3)
SQUARE = np.array([[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]])


def _calculix(folder: Path) -> list[Seed]:
    frd, inp = folder / "mesh.frd", folder / "mesh.inp"
    write_brick(frd, inp)
    return [Seed(one, True, lambda _: read_calculix(frd, inp, WANTED)) for one in (frd, inp)]


def _bulk_data(folder: Path) -> list[Seed]:
    line = np.linspace(-0.3, 0.3, 3)
    points = np.array([[x, y, 0.0] for x in line for y in line])
    quads = [
        [3 * i + j, 3 * i + 3 + j, 3 * i + 4 + j, 3 * i + 1 + j] for i in (0, 1) for j in (0, 1)
    ]
    more = "CONM2,9001,1,,2.5,.01,.02,.03\nCORD2R,7,,0.,0.,0.,0.,0.,1.\n+,1.,0.,0."
    write_bdf(folder / "mesh.bdf", points, quads, MATERIAL, more)
    return [Seed(folder / "mesh.bdf", True, bulk_data)]


def _nastran(folder: Path) -> list[Seed]:
    if importlib.util.find_spec("pyNastran") is None:
        return []
    (geometry,) = _bulk_data(folder)
    line = np.linspace(-0.3, 0.3, 3)
    body = plate_body(SQUARE, MATERIAL, np.array([[x, y, 0.0] for x in line for y in line]), 3)
    modes = np.concatenate([body.tip_shapes, body.tip_rotations], axis=1).transpose(2, 0, 1)
    bdf, op2 = geometry.path, folder / "mesh.op2"
    write_op2(op2, modes, np.diagonal(body.stiffness))

    def read(_: Path) -> None:
        read_nastran(op2, bdf, WANTED)

    return [Seed(bdf, True, read), Seed(op2, False, read)]


def write_brick(frd: Path, inp: Path) -> None:
    """One solid element with three modes, as CalculiX writes it."""
    corners = [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)]
    nodes = [(x, y, z) for z in (0.0, 0.1) for x, y in corners]
    rng = np.random.default_rng(1)

    def rows(values) -> list[str]:
        return [
            f" -1{i:10d}" + "".join(f"{x:12.5E}" for x in row) for i, row in enumerate(values, 1)
        ]

    lines = ["    1C", f"    2C{8:30d}{1:38d}", *rows(nodes), " -3", f"    3C{1:30d}{1:38d}"]
    lines += [
        f" -1{1:10d}{1:5d}{0:5d}{1:5d}",
        " -2" + "".join(f"{i:10d}" for i in range(1, 9)),
        " -3",
    ]
    for k in (1, 2, 3):
        lines.append(f"  100CL  10{k}{100.0 * k:12.5E}{8:12d}{'':20}2{k:5d}MODAL{1:7d}")
        lines += [" -4  DISP        4    1", *rows(rng.normal(size=(8, 3))), " -3"]
    frd.write_text("\n".join([*lines, " 9999", ""]))
    deck = ["*NODE", *(f"{i}, {x}, {y}, {z}" for i, (x, y, z) in enumerate(nodes, 1))]
    deck += [
        "*ELEMENT, TYPE=C3D8, ELSET=E",
        "1, 1, 2, 3, 4, 5, 6, 7, 8",
        "*ELSET, ELSET=A, GENERATE",
        "1, 1, 1",
    ]
    deck += [
        "*ELSET, ELSET=B",
        "A",
        "*MATERIAL, NAME=M",
        "*DENSITY",
        "2700",
        "*SOLID SECTION, ELSET=B, MATERIAL=M",
    ]
    inp.write_text("\n".join([*deck, ""]))


def _mjcf(folder: Path) -> list[Seed]:
    if importlib.util.find_spec("mujoco") is None:
        return []
    texts = {"hexapod.xml": stewart(), "delta.xml": delta()}
    return [one for name, text in texts.items() for one in _text(folder, name, text, robot)]


def _urdf(folder: Path) -> list[Seed]:
    if importlib.util.find_spec("yaml") is None:
        return []
    made = []
    for name in ("plaza-hexaglide-2019", "shah-3rrr-2012"):
        export_urdf(gough.load(name), folder / f"{name}.urdf")
        made.append(Seed(folder / f"{name}.urdf", True, robot))
        loops = Seed(folder / f"{name}.yaml", True, lambda path: robot(path.with_suffix(".urdf")))
        made.append(loops)
    return made


def _meshes(folder: Path) -> list[Seed]:
    if importlib.util.find_spec("trimesh") is None:
        return []
    import trimesh

    made = []
    for ending in ("stl", "obj", "glb"):
        trimesh.creation.box().export(folder / f"box.{ending}")
        made.append(Seed(folder / f"box.{ending}", ending == "obj", read_mesh))
    return made


MAKERS: dict[str, Callable[[Path], list[Seed]]] = {
    "robot": _robots,
    "motion csv": lambda folder: _motion(folder, "csv"),
    "motion nc": lambda folder: _motion(folder, "nc"),
    "log": _log,
    "simulation": lambda folder: _text(folder, "simulation.toml", SIMULATION, read_config),
    "study": lambda folder: _text(folder, "study.toml", SWEEP.format(points=100), read_plan),
    "study folder": _study_folder,
    "result": _result,
    "npz": _npz,
    "calculix": _calculix,
    "bulk data": _bulk_data,
    "nastran": _nastran,
    "mjcf": _mjcf,
    "urdf": _urdf,
    "mesh": _meshes,
    "encoders": _encoders,
    "calibration poses": _poses,
    "vehicle": _vehicle,
    "stiffness tests": _stiffness,
    "path": _path,
    "columns": lambda folder: _text(
        folder, "columns.toml", COLUMNS, lambda path: Columns.of(names=path)
    ),
}


def quiet(read: Callable[[Path], object], path: Path) -> None:
    """Read a file; warnings are no failures."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        read(path)
