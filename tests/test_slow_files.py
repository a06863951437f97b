"""Files that are made to take minutes or gigabytes: all are refused, or read, in seconds."""

import contextlib
import struct
import time
import tomllib

import numpy as np
import pytest

from cases.errors import refusal
from gough.cli.file_kinds import sort_of
from gough.data.motion_files import read_motion
from gough.description.modal.bulk_data import bulk_data
from gough.description.modal.calculix import _Inp
from gough.description.modal.elements import FAMILIES, Solid, nodal_rotations
from gough.description.modal.meshed import Mesh, refuse_many
from gough.description.modal.nastran import _geometry
from gough.description.modal.npz import read_npz
from gough.errors import FileError
from gough.exchange.incoming.mjcf import read_mjcf
from gough.exchange.incoming.mjcf_text import harmless
from gough.exchange.incoming.urdf import sidecar
from gough.robot import Robot, load
from gough.studies.plan import read_plan


@contextlib.contextmanager
def soon(seconds=10):
    """While something is done that takes little of the processor's time."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds


SOLIDS = "*ELEMENT, TYPE=C3D4, ELSET=A\n" + "".join(f"{i},1,2,3,4\n" for i in range(100_000))
DENSE = "*MATERIAL, NAME=M\n*DENSITY\n1\n"


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    ("inp", "words"),
    [
        ("*ELSET, ELSET=B, GENERATE\n" + "9,8\n" * 40_000, ("SOLID", "SECTION")),
        ("*ELSET, ELSET=B, GENERATE\n" + "0,99999,99999\n" * 40_000, (20000000,)),
        (DENSE + "*SOLID SECTION, ELSET=A, MATERIAL=M\n" * 40_000, (20000000,)),
    ],
)
def test_sets_of_an_inp_take_little_time(tmp_path, inp, words):
    (tmp_path / "m.inp").write_text(SOLIDS + inp)
    with soon(20), refusal(FileError, *words):
        _Inp(tmp_path / "m.inp").densities()


def test_plies_of_a_bdf_are_summed_once(tmp_path):
    grids = "GRID,1,,0.,0.,0.\nGRID,2,,2.,0.,0.\nGRID,3,,2.,1.,0.\nGRID,4,,0.,1.,0.\n"
    plates = "".join(f"CQUAD4,{i},1,1,2,3,4\n" for i in range(1, 10_001))
    plies = "MAT1,1,7.e10,,.3,3000.\nPCOMP,1\n" + ",1,.001,0.,,1,.001,0.,\n" * 10_000
    (tmp_path / "m.bdf").write_text(f"BEGIN BULK\n{grids}{plates}{plies}ENDDATA\n")
    with soon(20):
        found = _geometry(tmp_path / "m.bdf")
    np.testing.assert_allclose(sum(mass for _, _, mass in found.lumps), 10_000 * 2 * 20 * 3000)


def tower(storeys, foot=0):
    """Frames, each 1 m along x of the one below, a quarter turn about its z; a plate on the top one."""
    frames = "".join(
        f"CORD2R,{i},{i - 1 or foot},1.,0.,0.,1.,0.,1.,\n,1.,1.,0.\n" for i in range(1, storeys + 1)
    )
    corners = enumerate([(0, 0), (2, 0), (2, 1), (0, 1)], 1)
    grids = "".join(f"GRID,{i},{storeys},{x}.,{y}.,0.\n" for i, (x, y) in corners)
    plate = "CQUAD4,1,1,1,2,3,4\nMAT1,1,7.e10,,.3,3000.\nPSHELL,1,1,.01,1\n"
    return f"BEGIN BULK\n{frames}{grids}{plate}ENDDATA\n"


def test_frames_of_a_bdf_are_set_up_once(tmp_path):
    for storeys, turn in [(1, 1j), (50, 1j**50)]:
        (tmp_path / "m.bdf").write_text(tower(storeys))
        with soon():
            found = _geometry(tmp_path / "m.bdf")
        origin = sum(1j**i for i in range(storeys))
        wanted = [origin + turn * corner for corner in (0, 2, 2 + 1j, 1j)]
        np.testing.assert_allclose(found.positions[:, 0] + 1j * found.positions[:, 1], wanted)


FRAME = "CORD2R,{},,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\n"


@pytest.mark.parametrize(
    ("bdf", "words"),
    [
        ("PCOMP,1" + "\n,1,.1,0.,YES" * 100_000, (20000,)),
        ("".join(map(FRAME.format, range(1, 50_000))), (10000,)),
    ],
    ids=["plies", "frames"],
)
def test_cards_of_a_bdf_are_not_endless(tmp_path, bdf, words):
    (tmp_path / "m.bdf").write_text(bdf)
    with soon(), refusal(FileError, *words):
        bulk_data(tmp_path / "m.bdf")


def test_modes_that_fill_the_memory_are_refused(tmp_path):
    few = np.zeros((0, 3))
    many = np.ones(100_000, np.int8)  # as a matrix 80 GB
    body = dict(positions=few, masses=few[:, 0], tip_positions=few, stiffness=many, damping=many)
    shapes = np.zeros((0, 3, len(many)))
    np.savez(tmp_path / "m.npz", **body, shapes=shapes, tip_shapes=shapes)
    with soon(), refusal(FileError, 100000, 300):
        read_npz(tmp_path / "m.npz")
    (tmp_path / "m.frd").write_text("")
    mesh = Mesh(str(tmp_path / "m.frd"), *4 * [np.zeros(5000)])
    refuse_many(mesh, 1000)
    with refusal(FileError, "points", "MB", 5000, 100000, 12010):
        refuse_many(mesh, 100_000)


def test_elements_at_one_tip_take_little_time():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    solid = Solid(FAMILIES["C3D4"], np.tile(np.arange(4), (60_000, 1)), np.ones(60_000))
    turn = np.cross([[0.1, 0.2, 0.3]], corners)[..., np.newaxis]
    with soon(3):
        found = nodal_rotations([solid], corners, turn, np.arange(4))
    np.testing.assert_allclose(found[..., 0], np.tile([0.1, 0.2, 0.3], (4, 1)), rtol=1e-9)


@pytest.mark.parametrize(("storeys", "foot"), [(51, 0), (1, 1), (3, 2)])
def test_frames_of_a_bdf_end(tmp_path, storeys, foot):
    (tmp_path / "m.bdf").write_text(tower(storeys, foot))
    with soon(), refusal(FileError, 50):
        _geometry(tmp_path / "m.bdf")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("".join(f"[a{i}.b.c.d.e.f.g.h.i]\n" for i in range(9)), ("nested", "deep")),
        ("x = 0x" + "f" * 900_000, (400,)),
        ("#" * 1_100_000, ("MB", 1)),
        ('"\\"".' * 150_000 + "a = 1", ("nested", "deep")),
        ("a = '" + '\\"' * 100_000, ("TOML",)),
        ("units = { length = 'mm' }\n" + "a = [" + "1," * 200_000 + "]", (100,)),
    ],
)
def test_toml_takes_little_time_and_memory(tmp_path, text, words):
    (tmp_path / "r.toml").write_text(text)
    with soon(), refusal(FileError, *words):
        load(tmp_path / "r.toml")


def rows(count):
    return [[i % 7, i % 5, i % 3] for i in range(count)]


UPS = {"kind": "UPS", "base": rows(2), "platform": rows(2)}
CHAIN = {"kind": "chain", "position": rows(3)}
PLATE = {"thickness": 0.01, "density": 2700.0, "young": 7e10}
COMB = [[0.35, 0], [0, 0], *([0.001 * i, 1 if i % 2 else 0.001] for i in range(350))]
LARGE = {
    "legs or more; limit 200": {"legs": UPS | {"base": rows(500), "platform": rows(500)}},
    "500 groups of legs": {"legs": [UPS] * 500},
    "at most 20 items": {"legs": CHAIN | {"joints": [{"type": "prismatic", "axis": [0, 0, 1]}] * 2000}},
    "at most 1000 items": {"platform": {"payload": [{"mass": 1.0}] * 5000}},
    "assumed: .* at most 1000": {"assumed": ["a"] * 5000},
    "2000 corners; limit 360": {
        "platform": {"plate": PLATE | {"outline": [one[:2] for one in rows(2000)]}}
    },
    "cannot be filled": {"platform": {"plate": PLATE | {"outline": COMB}}},
}  # fmt: skip


@pytest.mark.parametrize("words", LARGE)
def test_a_robot_of_very_many_parts_is_refused(words):
    sound = load("kim-ryu-2002")
    data = tomllib.loads(sound.text) | LARGE[words]
    with soon(), pytest.raises(FileError, match=words):
        Robot.from_dict(data)


def test_what_says_which_sort_a_file_is_has_the_limits_of_toml(tmp_path):
    for text in ("[legs]\n" + "a." * 20_000 + "b = 1", "[legs]\n" + "#" * 1_100_000):
        (tmp_path / "r.toml").write_text(text)
        assert sort_of(tmp_path / "r.toml") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t [s],x" + " " * 100_000 + "]\n0,0\n", ("unknown", "column")),
        ("x,y,z\n0,0," + "1" * 200_000 + "z\n", ("number",)),
        ("x,y,z" + ",e" * 10_000, (10003, 10000)),
    ],
)
def test_a_table_takes_little_time(tmp_path, text, words):
    (tmp_path / "m.csv").write_text(text)
    with soon(), refusal(FileError, *words):
        read_motion(tmp_path / "m.csv")


STUDY = """
robot = "kim-ryu-2002"
motions = [{motions}]
samples = 400000
measures = ["peak_force"]
[variables]
l = {{ from = 0.8, to = 1, steps = {steps} }}
{others}
[set]
"legs.length" = "l{added}"
[sampling]
kind = "grid"
"""


@pytest.mark.parametrize(
    ("motions", "others", "steps", "words"),
    [
        (3, 0, 9, ("motions", "samples", "kim-ryu-2002", 1200000, 1000000)),
        (3000, 0, 9, ("motions", 100)),
        (1, 2000, 9, ("variables", 1000)),
        (1, 20, 10**7, ("points", 10000000, 21, 100000000)),
    ],
)
def test_a_study_takes_little_time_and_memory(tmp_path, motions, others, steps, words):
    text = STUDY.format(
        motions=",".join(['"kim-ryu-2002/circle-40rpm"'] * motions),
        steps=steps,
        others="\n".join(f"v{i} = {{ values = [0] }}" for i in range(others)),
        added="".join(f" + v{i}" for i in range(others)),
    )
    (tmp_path / "s.toml").write_text(text)
    with soon(), refusal(FileError, *words):
        read_plan(tmp_path / "s.toml")


def netcdf(dims, variables, data, attribute=b""):
    """A NetCDF-3 file whose variables (name, numbers of dimensions) all begin at the same byte."""

    def name(text):
        return struct.pack(">i", len(text)) + text.encode().ljust(-(-len(text) // 4) * 4, b"\0")

    def table(tag, entries):
        return struct.pack(">ii", tag, len(entries)) + b"".join(entries)

    about = struct.pack(">ii", 12, 1) + attribute if attribute else bytes(8)
    kind = 2 if attribute else 6

    def described(start):
        one = struct.pack(">iii", kind, len(data), start)
        return table(11, [
            name(text) + struct.pack(f">{len(own) + 1}i", len(own), *own) + about + one
            for text, own in variables
        ])  # fmt: skip

    head = b"CDF\x01" + bytes(4) + table(10, [name(t) + struct.pack(">i", n) for t, n in dims])
    head += bytes(8)
    return head + described(len(head) + len(described(0))) + data


ENCODED = b"\0\0\0\x09_Encoding\0\0\0\0\0\0\x02\0\0\0\x08punycode"
LONG = [("time", 100_000)]
NETCDF = {
    "more than": netcdf(LONG, [(f"v{i}", (0,)) for i in range(1000)], bytes(800_000)),
    "over 100000 entries": netcdf(LONG, [(f"v{i}", ()) for i in range(20_000)], bytes(8)),
    "same dimension twice": netcdf(
        [("time", 3), ("axis", 3)], [("position", (0, 0, 1))], bytes(216)
    ),
    "texts in 'punycode'": netcdf(LONG, [("position", (0,))], b"a-".ljust(100_000, b"b"), ENCODED),
}


@pytest.mark.parametrize("words", NETCDF)
def test_netcdf_takes_little_time_and_memory(tmp_path, words):
    (tmp_path / "m.nc").write_bytes(NETCDF[words])
    with soon(), pytest.raises(FileError, match=words):
        read_motion(tmp_path / "m.nc")


CLASSES = "".join(f'<default class="c{i}"/>' for i in range(2000))
WIDE = " ".join(f'a{i}=""' for i in range(300))
MANY = "<joint/>" * 49_000 + "<camera/>" * 49_000
MJCF = {
    "more than 200 attributes": f"<default><geom {WIDE}/></default>",
    "classes of defaults; limit 500": f"<default>{CLASSES}</default>",
    "has 49000 bodies, joints": f"<worldbody>{MANY}</worldbody>",
}


@pytest.mark.parametrize("words", MJCF)
def test_mjcf_takes_little_time_and_memory(tmp_path, words):
    (tmp_path / "r.xml").write_text(f"<mujoco>{MJCF[words]}</mujoco>")
    with soon(), pytest.raises(FileError, match=words):
        harmless(tmp_path / "r.xml", meshes=False)


def test_sites_of_an_mjcf_take_little_time(tmp_path):
    pytest.importorskip("mujoco")
    bodies = "".join("<body><site/><site/></body>" for _ in range(2900))
    (tmp_path / "r.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    with soon():
        assert len(read_mjcf(tmp_path / "r.xml", meshes=True).parts) == 2901


def test_mujoco_simulates_nothing_while_it_reads(tmp_path):
    text = '<compiler angle="radian"><lengthrange inttotal="1e12" timestep="1e-9"/></compiler>'
    (tmp_path / "r.xml").write_text(f"<mujoco>{text}</mujoco>")
    found = harmless(tmp_path / "r.xml", meshes=False).text
    assert "radian" in found
    assert "lengthrange" not in found


@pytest.mark.parametrize("text", ["[" * 90_000, "{a: " * 20_000, "- " * 20_000])
def test_yaml_of_loops_is_not_nested_deep(tmp_path, text):
    (tmp_path / "r.yaml").write_text(text)
    with soon(), refusal(FileError, 20):
        sidecar(tmp_path / "r.urdf")
