"""Files that try to run code, to read other files, to hang or to fill the memory: none gets that far."""

import json
import os
import struct
import subprocess
import sys
import warnings
import zipfile
from functools import cache

import numpy as np
import pytest
import xarray

import gough
from cases import command
from cases.errors import refusal
from fuzz.files import MATERIAL, SQUARE, WANTED, write_brick
from gough.data.columns import Columns
from gough.data.logs import read_log
from gough.data.motion_files import read_motion
from gough.description.meshes import read_mesh
from gough.description.modal.bulk_data import bulk_data
from gough.description.modal.calculix import read_calculix
from gough.description.modal.meshed import Selection
from gough.description.modal.npz import read_npz, write_npz
from gough.description.modal.plate import plate_body
from gough.errors import FileError, GoughError
from gough.robot import load

FLEXIBLE = """
format = 1
name = "hostile"
home = {{ position = [0, 0, 1] }}
[legs]
kind = "UPS"
base = [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]]
platform = [[0.1, 0, 0], [0, 0.1, 0], [-0.1, 0, 0], [0, -0.1, 0], [0.1, 0.1, 0], [-0.1, 0.1, 0]]
[platform.modes]
file = "{file}"
geometry = "{geometry}"
"""
GRIDS = "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nCROD,1,1,1,2\nPROD,1,1,1.\nMAT1,1,1.,,.3,1.\n"
TIPS = Selection(np.zeros((6, 3)), None, None, 0.0)


def robot_with(folder, bdf):
    (folder / "robot.toml").write_text(FLEXIBLE.format(file="no.op2", geometry="m.bdf"))
    (folder / "m.bdf").write_text(bdf)
    return folder / "robot.toml"


# code


@pytest.mark.parametrize("header", ["$pyNastran: code-block=", "$ pyNastran : code_block = "])
def test_a_comment_of_a_bdf_is_not_run(tmp_path, header):
    marker = tmp_path / "marker"
    bdf = f"{header}open({str(marker)!r}, 'w')\n{GRIDS}"
    said = command.refused("show", robot_with(tmp_path, bdf))
    assert "no.op2" in said or "pyNastran" in said
    assert not marker.exists()


def test_equations_of_a_bdf_are_not_run(tmp_path):
    marker = tmp_path / "marker"
    equation = f"DEQATN  100     F(A)=OPEN({str(marker)!r},'w')\n"
    for bdf in (equation + GRIDS, GRIDS + equation, GRIDS + equation.lower()):
        command.refused("show", robot_with(tmp_path, bdf))
        assert "DEQATN" not in bulk_data(tmp_path / "m.bdf")
    assert not marker.exists()


@pytest.mark.parametrize(
    "line", ["INCLUDE '{}'", "  include {}", "SOL 103\nINCLUDE '{}'\nCEND\nBEGIN BULK"]
)
def test_a_bdf_reads_no_other_file(tmp_path, line):
    (tmp_path / "secret").write_text(GRIDS)
    path = robot_with(tmp_path, line.format(tmp_path / "secret") + "\n" + GRIDS)
    assert "INCLUDE is not followed" in command.refused("show", path)


def test_a_bdf_is_names_and_numbers(tmp_path):
    kept = bulk_data(robot_with(tmp_path, f"$ hello\nPARAM,POST,-1\n{GRIDS}").with_name("m.bdf"))
    assert kept == GRIDS + "ENDDATA\n"
    for card in ("GRID,7,,__import__('os'),0.,0.", "GRID,7,,0.,0.\n+,{x}", "CONM1,9,1", "CMASS2,9"):
        robot_with(tmp_path, f"{GRIDS}{card}\n")
        with refusal(FileError, "m.bdf"):
            bulk_data(tmp_path / "m.bdf")


@pytest.mark.parametrize(
    "line",
    ["NSM1,1,PROD,1,5.,1", "PARAM,WTMASS,.00259", "PARAM   WTMASS  2.0", "SPC,1,1\n GRDSET,,7"],
)
def test_a_bdf_leaves_no_mass_out_in_silence(tmp_path, line):
    (tmp_path / "m.bdf").write_text(f"{GRIDS}PARAM,WTMASS,1.0\nPARAM   WTMASS  1.\n")
    assert "GRID" in bulk_data(tmp_path / "m.bdf")
    (tmp_path / "m.bdf").write_text(f"{GRIDS}{line}\n")
    with pytest.raises(FileError, match=r"line [67]: .*(is not read|begins with a space)"):
        bulk_data(tmp_path / "m.bdf")


def test_a_bdf_of_nan_is_refused(tmp_path):
    pytest.importorskip("pyNastran", reason="pyNastran is not installed here")
    for old, new in (("1.,0.,0.\nCROD", "nan,0.,0.\nCROD"), ("PROD,1,1,1.", "PROD,1,1,1.E999")):
        path = robot_with(tmp_path, GRIDS.replace(old, new))
        assert "m.bdf" in command.refused("show", path)


def test_arrays_of_objects_are_not_unpickled(tmp_path):
    marker = tmp_path / "marker"

    class Trap:
        def __reduce__(self):
            return os.system, (f"touch {marker}",)

    names = ("positions", "masses", "shapes", "stiffness", "damping", "tip_positions", "tip_shapes")
    np.savez(tmp_path / "m.npz", **{name: np.array([Trap()], dtype=object) for name in names})
    with refusal(FileError, "pickled", "objects"):
        read_npz(tmp_path / "m.npz")
    assert not marker.exists()


# memory, time, and files that are none


def limited(code, *words, megabytes=1000, seconds=20):
    """What a process with little memory says that runs a line of Python."""
    limit = megabytes * 1_000_000 + 1_500_000_000  # libraries reserve much
    line = (
        f"import sys, resource\nresource.setrlimit(resource.RLIMIT_AS, ({limit},) * 2)\n"
        f"from gough.errors import GoughError\n{code}"
    )
    return subprocess.run(
        [sys.executable, "-c", line, *map(str, words)],
        capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip


READERS = {
    "robot": load,
    "motion.csv": read_motion,
    "motion.nc": read_motion,
    "body.npz": read_npz,
    "mesh.frd": lambda path: read_calculix(path, path, TIPS),
    "mesh.bdf": bulk_data,
    "log.csv": lambda path: read_log(load("kim-ryu-2002"), path),
}


@pytest.mark.parametrize("name", READERS)
def test_pipes_and_devices_are_refused_at_once(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with refusal(FileError, "regular", "file"):
        READERS[name](tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with refusal(FileError, "regular", "file"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("command_line", [
    ["simulate", "{}", "-o", "out.nc"],
    ["study", "{}"],
    ["kinematics", "kim-ryu-2002", "{}.csv", "-o", "out.nc"],
    ["report", "{}.nc", "-o", "out.html"],
    ["identify", "kim-ryu-2002", "{}.csv", "-o", "out.toml"],
])  # fmt: skip
def test_commands_refuse_pipes(tmp_path, command_line):
    for name in ("pipe", "pipe.csv", "pipe.nc"):
        os.mkfifo(tmp_path / name)
    words = [word.format("pipe") for word in command_line]
    assert "not a regular file" in command.refused(*words, cwd=tmp_path)


SETS = "*ELEMENT, TYPE=C3D4, ELSET=A\n1,1,2,3,4\n" + "*ELSET, ELSET=A\nA,A,A,A,A,A,A,A\n" * 30


@pytest.mark.parametrize(
    "inp",
    [SETS, "*ELSET,ELSET=A,GENERATE\n1,100000000\n", "*ELSET,ELSET=A,GENERATE\n1\n",
     "*ELSET,ELSET=A,GENERATE\n1,2,3,4\n", "*ELSET,ELSET=A,GENERATE\n1,2,0\n"],
)  # fmt: skip
def test_sets_of_an_inp_do_not_grow(tmp_path, inp):
    (tmp_path / "m.inp").write_text(inp)
    from gough.description.modal.calculix import _Inp

    with refusal(FileError, "m.inp"):
        _Inp(tmp_path / "m.inp").densities()


def test_a_bomb_of_an_npz_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,)}"
        count = 20_000_000  # 160 MB: more than a file of 0.2 MB may hold
        text = (head % count).ljust(117) + b"\n"
        with archive.open("masses.npy", "w", force_zip64=True) as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)
            for _ in range(count // 1_000_000):
                file.write(bytes(8_000_000))
    assert (tmp_path / "m.npz").stat().st_size < 200_000
    with refusal(FileError, "MB"):
        read_npz(tmp_path / "m.npz")


def test_a_file_of_columns_is_read_as_other_toml(tmp_path):
    (tmp_path / "map.toml").write_text("[columns]\n" + "a." * 20_000 + "b = 'q1'\n")
    with refusal(FileError, "nested", "deep"):
        Columns.of(names=str(tmp_path / "map.toml"))


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    "text", ["a." * 20_000 + "a = 1", "[" + "a." * 20_000 + "a]", "a = " + "[" * 5000]
)
def test_toml_is_not_nested_deep(tmp_path, text):
    path = tmp_path / "robot.toml"
    path.write_text(f"format = 1\nname = 'x'\n{text}\n")
    code = "import gough\ntry: gough.load(sys.argv[1])\nexcept GoughError as e: print(e)"
    said = limited(code, path, megabytes=300)
    assert "nested" in said.stdout, said


SIMULATION = """
robot = "kim-ryu-2002"
duration = 0.1
[motion]
hold = true
[controller]
kind = "computed torque"
frequency = 30.0
"""


@pytest.mark.parametrize("table", [
    "[simulation]\nstep = 1e-320", "[simulation]\nperiod = 1e-320", "[simulation]\nrecord = 1e300",
    "[sensors]\ndelay = 1e6", "[sensors]\ndelay = 1e147", "[sensors]\ndelay = 1e-320",
])  # fmt: skip
def test_absurd_times_of_a_simulation_are_refused(tmp_path, table):
    (tmp_path / "s.toml").write_text(SIMULATION + table)
    assert " s" in command.refused("simulate", tmp_path / "s.toml")


# meshes


def glb(nodes=({"mesh": 0},), parts=1, positions=None, data=b"", **more):
    """A GLB file of one triangle, or of what is given in its place."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + data
    description = {
        "scenes": [{"nodes": [0]}],
        "nodes": list(nodes),
        "meshes": [{"primitives": parts * [{"attributes": {"POSITION": 0}}]}],
        "accessors": [
            {"componentType": 5126, "count": 3, "type": "VEC3", "bufferView": 0} | (positions or {})
        ],
        "bufferViews": [{"buffer": 0, "byteLength": len(corners)}],
        "buffers": [{"byteLength": len(corners)}],
    } | more
    text = json.dumps(description).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text
    body += struct.pack("<I4s", len(corners), b"BIN\0") + corners
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


CORNERS = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
MESHES = {
    "shared nodes.glb": (glb([*({"children": [i + 1] * 2} for i in range(40)), {}]), "two places"),
    "one node.glb": (glb([{}], scenes=[{"nodes": [0] * 5_000_000}]), "two places"),
    "a circle.glb": (glb([{"children": [0], "mesh": 0}]), "two places"),
    "parts.glb": (glb(parts=30_000), "20001 parts"),
    "zeros.glb": (glb(positions={"count": 2**31}), "not there"),
    "no bytes.glb": (glb(accessors=[{"componentType": 5126, "count": 2**31}]), "compressed"),
    "sparse.glb": (glb(positions={"sparse": {"count": 2**31}}), "sparse"),
    "another file.glb": (glb(buffers=[{"uri": "/etc/passwd", "byteLength": 36}]), "another file"),
    "beyond its end.glb": (
        glb(positions={"count": 0, "byteOffset": 40}, bufferViews=[{"buffer": 0, "byteStride": 999}]),
        "not there",
    ),
    "scales of scales.glb": (
        glb([*({"scale": [1e9] * 3, "children": [i + 1]} for i in range(60)), {"mesh": 0}]),
        "placed with numbers over",
    ),
    "not a number.glb": (glb([{"mesh": 0, "matrix": [float("nan")] * 16}]), "needs 16 numbers"),
    "no index.glb": (glb([{"mesh": True}]), "not there"),
    "deep.glb": (b"glTF" + struct.pack("<III4s", 2, 0, 9000, b"JSON") + b"[" * 9000, "not GLB"),
    "far corner.obj": (CORNERS + b"f 1 2 999999999\n", "not there"),
    "before all.obj": (CORNERS + b"f -1 -2 -4\n", "not there"),
    "no number.obj": (CORNERS + b"f 1 2 x\n", "corner b'x'"),
    "infinite.obj": (b"v 1e999 0 0\n" + CORNERS + b"f 1 2 3\n", "not finite"),
    "a long face.obj": (CORNERS + b"f" + b" 1 2 3" * 4000, "corners of a face"),
    "many.stl": (bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(50), "no triangles"),
    "half.stl": (b"solid x\nvertex 0 0 0\nvertex 1 0 0\n", "part of one"),
}  # fmt: skip


@pytest.mark.parametrize("name", MESHES)
def test_meshes_that_are_bombs_are_refused(tmp_path, name):
    data, words = MESHES[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError, match=words):
        read_mesh(tmp_path / name)


def test_meshes_read_nothing_but_triangles(tmp_path):
    (tmp_path / "m.glb").write_bytes(
        glb([{"mesh": 0, "translation": [0, 0, 2], "scale": [3, 1, 1]}])
    )
    vertices, faces = read_mesh(tmp_path / "m.glb")
    np.testing.assert_array_equal(vertices, [[0, 0, 2], [3, 0, 2], [0, 1, 2]])
    np.testing.assert_array_equal(faces, [[0, 1, 2]])
    (tmp_path / "m.obj").write_bytes(
        b"mtllib /etc/passwd\n" + CORNERS + b"v 1 1 0\nf 1/1 2//3 -1 3\n"
    )
    np.testing.assert_array_equal(read_mesh(tmp_path / "m.obj")[1], [[0, 1, 3], [0, 3, 2]])
    (tmp_path / "m.stl").write_bytes(
        b"solid x\n" + CORNERS.replace(b"v", b"  vertex") + b"endsolid\n"
    )
    np.testing.assert_array_equal(
        read_mesh(tmp_path / "m.stl")[0], [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    )


def test_a_robot_of_too_many_triangles_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gough.description.meshes.MOST_FACES", 11)
    (tmp_path / "m.glb").write_bytes(glb())
    text = load("kim-ryu-2002").edited({"platform.mesh": ["m.glb"] * 12}).text
    with refusal(FileError, 11):
        _ = gough.Robot.from_text(text, "many", tmp_path).meshes
    far = load("kim-ryu-2002").edited({"platform.mesh": {"file": "m.glb", "scale": 1e11}}).text
    with refusal(FileError, "farther"):
        _ = gough.Robot.from_text(far, "far", tmp_path).meshes


# terminals


def test_texts_of_a_file_do_not_steer_the_terminal(tmp_path):
    robot = gough.load("kim-ryu-2002")
    evil = "\x1b]0;pwned\x07\x1b[2J\x9b31m"
    robot.edited({"source": f"a {evil}", "assumed": [f"b {evil}"]}).save(tmp_path / "r.toml")
    for words in (("show", "r.toml"), ("show", "r.toml", "--json")):
        answer = command.run(*words, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        said = answer.stdout + answer.stderr
        assert not {one for one in said if not (one.isprintable() or one == "\n")}


@pytest.mark.second_tier_from(3)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "< /dev/null >&-"])
@pytest.mark.parametrize("words", ["list", "--help", "show nowhere", "show kim-ryu-2002 --json"])
def test_closed_streams_are_no_trouble(tmp_path, closed, words):
    line = f"{sys.executable} -m gough {words} {closed}"
    answer = subprocess.run(
        line, shell=True, capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == (2 if "nowhere" in words else 0)
    assert "Traceback" not in answer.stderr + answer.stdout


# what once ended in a traceback


def brick(folder, **changes):
    """The files of one solid element, with pieces of text exchanged."""
    write_brick(folder / "m.frd", folder / "m.inp")
    for name in ("m.frd", "m.inp"):
        text = (folder / name).read_text()
        for old, new in changes.items():
            text = text.replace(old, new)
        (folder / name).write_text(text)
    return folder / "m.frd", folder / "m.inp"


def test_an_element_without_volume_is_refused(tmp_path):
    flat = {" 1.00000E-01": " 0.00000E+00"}  # the upper corners on the lower ones
    huge = {"3.00000E-01": "3.0000E+300"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(FileError, match=r"no volume|no mass"):
            read_calculix(*brick(tmp_path, **flat), WANTED)
        with pytest.raises(GoughError):
            read_calculix(*brick(tmp_path, **huge), WANTED)
        assert read_calculix(*brick(tmp_path), WANTED).modes == 3


@pytest.mark.parametrize("density", ["1e999", "nan", "1e300", "-1", "1e-320"])
def test_densities_that_are_none_are_refused(tmp_path, density):
    files = brick(tmp_path, **{"2700": density})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with pytest.raises(GoughError):
            read_calculix(*files, WANTED)


@cache
def body_of_npz():
    return plate_body(SQUARE, MATERIAL, np.array([[0.3, 0.3, 0.0]] * 3) * [[1], [-1], [0.5]], 2)


def npz(folder, array=b"", method=zipfile.ZIP_STORED):
    """A body.npz with one array of such bytes in place of `masses`."""
    write_npz(body_of_npz(), folder / "sound.npz")
    with (
        zipfile.ZipFile(folder / "sound.npz") as sound,
        zipfile.ZipFile(folder / "m.npz", "w") as made,
    ):
        for name in sound.namelist():
            given = array if name == "masses.npy" and array else sound.read(name)
            made.writestr(name, given, method)
    return folder / "m.npz"


def header(shape, kind="<f8", version=b"\x01\x00"):
    text = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return b"\x93NUMPY" + version + size + text


@pytest.mark.parametrize(
    "array",
    [
        header((2,), version=b"\x09\x00") + bytes(16),
        header((-1,)) + bytes(8),
        header((2**70,)) + bytes(8),
        header((1,) * 40) + bytes(8),
        header(("2",)) + bytes(16),
        header(((2,),)) + bytes(16),
        header((True,)) + bytes(8),
        header((2,), kind="<f8,<i4") + bytes(24),
        header((2,), kind="|O") + bytes(16),
        header((2,), kind="|V8") + bytes(16),
        header((2,), kind="no type") + bytes(16),
        b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16,
        b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 70_000,
        b"\x93NUMPY\x01",
        b"PK",
    ],
)
def test_odd_arrays_are_refused(tmp_path, array):
    with refusal(FileError, "masses", "m.npz"):
        read_npz(npz(tmp_path, array))


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_compressions_are_refused(tmp_path, method):
    with refusal(FileError, "compressed", "way"):
        read_npz(npz(tmp_path, method=method))
    assert read_npz(npz(tmp_path)).modes == 2


@pytest.mark.parametrize("rows", [0, 1, 2, 49])
def test_a_log_without_samples_is_refused(tmp_path, rows):
    kim = load("kim-ryu-2002")
    names = ",".join(["time", *(f"q{i}" for i in range(1, 7)), *(f"force{i}" for i in range(1, 7))])
    lines = [names, *(",".join(["0.1"] * 13) for _ in range(rows))]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    with refusal(FileError, "log.csv"):
        read_log(kim, tmp_path / "log.csv")
    dims = ("time", "leg")
    empty = {name: (dims, np.zeros((rows, 6))) for name in ("q", "force")}
    dataset = xarray.Dataset(empty, {"time": np.arange(rows, dtype=float), "leg": np.arange(1, 7)})
    dataset.to_netcdf(tmp_path / "log.nc", engine="scipy")
    with refusal(FileError, "log.nc"):
        read_log(kim, tmp_path / "log.nc")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "[" * 300])
def test_names_that_no_file_can_have_are_refused(name):
    from gough.data.paper_motions import motion_named

    for call in (lambda: load(name), lambda: motion_named(name, 5), lambda: read_motion(name)):
        with pytest.raises(GoughError):
            call()


@pytest.mark.parametrize("number", ["9" * 399, "1e308"])
@pytest.mark.parametrize("unit", ['length = "mm"', 'mass = "t"', 'inertia = "kg mm2"'])
def test_numbers_beyond_floats_are_refused_in_any_unit(tmp_path, unit, number):
    units = f"format = 1\nunits = {{ {unit} }}"
    body = f"[platform]\nmass = {number}\ncenter_of_mass = [0, 0, {number}]\ninertia = {number}\n"
    text = FLEXIBLE.replace("format = 1", units).partition("[platform.modes]")[0] + body
    (tmp_path / "huge.toml").write_text(text.replace("{{", "{").replace("}}", "}"))
    command.refused("show", tmp_path / "huge.toml")
