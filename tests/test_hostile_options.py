"""Options of commands with numbers that nobody can mean: refused in one line, by name and limit."""

import errno
import os

import pytest

from cases import command
from fuzz import faults
from gough.__main__ import main
from gough.base.files import replacing
from gough.errors import FileError

KIM = "kim-ryu-2002"
CUE = f"cue {KIM} vehicle.csv -o cued.csv --classical --stroke 0.1 --speed 1 --force 1000"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("options")
    faults.inputs(made)
    return made


@pytest.mark.parametrize(("words", "said"), [
    (f"{CUE} --rotation 1e160", "rotation is 1e+160, must be 1e-06 to 1000"),
    (f"{CUE} --translation 1e308", "translation is 1e+308, must be 1e-06 to 1000"),
    (f"{CUE} --tilt-rate nan", "--tilt-rate is nan, must be finite"),
    (f"{CUE} --scale 1e308", "scale is 1e+308, must be 1e-06 to 1e+06"),
    (f"{CUE} --stroke 1e-320", "actuator 1 has a stroke of 0 within its limits, must be 1e-09 to"),
    (f"{CUE} --force 1e308", "actuator 1 has a force of 1e+308 within its limits"),
    (f"export washout {KIM} -o w --step 1e-12", "step is 1e-12 s, must be 0.0001 to 0.1875 s"),
    (f"export washout {KIM} -o w --gain 1e308", "gain is 1e+308"),
    (f"export washout {KIM} -o w --rotation 1e160", "rotation is 1e+160"),
    (f"stiffness {KIM} --stiffness 1e308", "stiffnesses over 0 N/m, 1e+18 at most"),
    (f"size {KIM} motion.csv --margin 1e308", "margin is 1e+308, must be above 0 and 1000 at most"),
    (f"size {KIM} --shift 0.1,,0.1", "--shift is '0.1,,0.1', needs numbers"),
    (f"retime {KIM} motion.csv -o r.csv --platform-speed 1e400", "--platform-speed is inf, must be"),
    (f"retime {KIM} motion.csv -o r.csv --speed 1e308", "speed is 1e+308, must be 1e-09 to 1e+15"),
    (f"retime {KIM} motion.csv -o r.csv --power 1e-320", "power is 9.99989e-321, must be 1e-09 to"),
    (f"kinematics {KIM} motion.csv -o k.nc --leg-radius 1e308", "leg_radius is 1e+308 m, must be"),
    (f"workspace {KIM} --leg-radius 1e308", "leg_radius is 1e+308 m, must be"),
    (f"workspace {KIM} --orientation 0,0,1e30", "needs angles of at most 360 degrees"),
    (f"draw {KIM} -o d.png --view 1e308,0", "needs angles of at most 360 degrees"),
    ("new hexaslide -o h.toml --rail-angle 1e308", "rail_angle is 1e+308 deg, must be at most 360"),
    ("study study.toml -o s.zarr --jobs 2147483648", "jobs is 2147483648, must be 1 to 1000"),
    (f"pose {KIM} log.csv -o p.csv --cutoff 1e-12", "cut-off 1e-12 Hz: must be in ["),
    (f"identify {KIM} log.csv --no-friction --cutoff 1e-12", "cut-off 1e-12 Hz: must be in ["),
])  # fmt: skip
def test_numbers_that_nobody_can_mean_are_refused(words, said, folder, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    before = sorted(folder.iterdir())
    assert said in command.refused(*words.split(), cwd=folder)
    assert sorted(folder.iterdir()) == before


def test_a_vehicle_faster_than_anything_is_refused(folder):
    (folder / "wild.csv").write_text(
        (folder / "vehicle.csv").read_text().replace("0.0\n", "1e200\n")
    )
    words = CUE.replace("vehicle", "wild").split()
    assert "rates of up to 1e+200: at most 1e+06" in command.refused(*words, cwd=folder)


@pytest.mark.parametrize(("words", "said"), [
    (f"draw {KIM} -o d.png --units mm", "about the columns of a motion file: none is given"),
    (f"report {KIM} -o r.html --map a=b", "about the columns of a motion file: none is given"),
    (f"singularities {KIM} --units mm", "about the columns of a motion file: none is given"),
    (f"size {KIM} --shift 0.1 --map a=b", "about the columns of a motion file: none is given"),
    (f"forces {KIM} {KIM}/circle-40rpm -o f.csv --units mm,deg", "a paper's motion, no file"),
    (f"calibrate {KIM} --plan 12 --prior legs=1 --units mm", "it takes no --prior, --units"),
])  # fmt: skip
def test_options_that_would_do_nothing_are_refused(words, said, folder):
    assert said in command.refused(*words.split(), cwd=folder)


def test_a_study_and_its_picture_or_table_have_two_names(folder):
    before = sorted(folder.iterdir())
    for words in ("study study.toml -o s.png", "study study.toml -o s.csv --csv s.csv"):
        assert "would be overwritten" in command.refused(*words.split(), cwd=folder)
    assert sorted(folder.iterdir()) == before


def test_a_full_standard_output_is_named(capfd, monkeypatch):
    monkeypatch.setattr("sys.argv", ["gough", "schema"])
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 2
    assert capfd.readouterr().err == "gough: standard output: No space left on device\n"


def test_a_disk_that_fails_when_it_is_asked_to_keep_a_file_is_told(tmp_path, monkeypatch):
    target = tmp_path / "kept.txt"
    target.write_text("before")

    def failing(handle):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    words = r"kept\.txt: Input/output error"
    with pytest.raises(FileError, match=words), replacing(target) as temporary:
        temporary.write_text("after")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]
