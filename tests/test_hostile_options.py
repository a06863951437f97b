"""Options of commands with numbers that nobody can mean: refused in one line, by name and limit."""

import errno
import json
import os

import numpy as np
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
    (f"stiffness {KIM} --stiffness 1e308", "stiffnesses of 1e-09 to 1e+18 N/m"),
    (f"size {KIM} motion.csv --margin 1e308", "margin is 1e+308, must be 0.001 to 1000"),
    (f"stiffness {KIM} --stiffness 1e-320", "stiffnesses of 1e-09 to 1e+18 N/m"),
    (f"stiffness {KIM} --stiffness 1e7 --load 1,1,1,1,1,1e308", "at most 1e+15 N, N m"),
    (f"stiffness {KIM} --stiffness 1e7 --errors leg=1e160", "tolerance leg is 1e+160, needs 0 to 1000"),
    (f"stiffness {KIM} --stiffness 1e7 --errors leg=1e-5,leg=2e-5", "--errors has leg twice"),
    (f"stiffness {KIM} --stiffness 1e7 --pose 0,0,0.8,0,0,1e30", "angles of at most 360 degrees"),
    (f"stiffness {KIM} --stiffness 1e7 -o m.png --slice z=1e160", "must be at most 1e+06 m"),
    (f"stiffness {KIM} --stiffness 1e7 -o m.png --points 2147483648", "needs 2 to 201"),
    (f"room {KIM} --at 1e160,0,0.7,0,0,0", "a position 1e+160 m from home"),
    (f"room {KIM} --at 0,0,0.7,0,0,1e30", "needs angles of at most 360 degrees"),
    (f"room {KIM} --pivot 1e30,0,0", "needs numbers of at most 1e+06 m"),
    (f"workspace {KIM} --point 1e160,0,0", "a position 1e+160 m from home"),
    (f"workspace {KIM} --bounds 0,1,0,1,0,1e30", "1e+06 m from the origin at most"),
    (f"workspace {KIM} --bounds 0,1,0,1,0,1e-320", "1e-09 m apart at least"),
    (f"workspace {KIM} --tolerance 0.9 -o w.png --slice z=1e160", "must be at most 1e+06"),
    ("postures dietmaier-1998 --quick --q 1e30,1e30,1e30,1e30,1e30,1e30", "over 10000 times what it"),
    (f"singularities {KIM} --length 1e308", "length is 1e+308, needs 1e-09 to 1e+06 m"),
    (f"size {KIM} motion.csv --lead 1e-320", "needs 1e-09 to 10 m a turn"),
    (f"size {KIM} motion.csv --lead 0.01 --efficiency 1e-320", "needs 0.001 to 1"),
    (f"size {KIM} motion.csv --lead 0.01 --back-efficiency -1e30", "needs -1000 to 1"),
    (f"size {KIM} motion.csv --lead 0.01 --rotor-inertia 1e-320", "needs 1e-15 to 1e+06 kg m², or 0"),
    (f"size {KIM} motion.csv --lead 0.01 --rated-torque 1e-320", "needs 1e-09 to 1e+15"),
    (f"size {KIM} motion.csv --margin 1e-320", "must be 0.001 to 1000"),
    (f"size {KIM} --turn 1e30", "turn needs three numbers of 0 to 3.14 rad"),
    (f"size {KIM} --twist 1e160", "twist bounds are not finite, or over 1e+15"),
    (f"calibrate {KIM} measured.csv --noise position=1e308", "needs a positive number, 1e-15 to 1000"),
    (f"calibrate {KIM} measured.csv --prior legs=1e-320", "needs a positive number, 1e-15 to 1000"),
    (f"calibrate {KIM} measured.csv --noise q=1e-5,q=1e-6", "--noise has q twice"),
    (f"excite {KIM} -o e.csv --rate 1e30", "make 1e+31 samples: at most 1e+07"),
    (f"excite {KIM} -o e.csv --period 1e6 --rate 1", "period is 1e+06, must be 0.001 to 100000"),
    (f"excite {KIM} -o e.csv --iterations {10**30}", "iterations is 1e+30, must be 0 to 1e+06"),
    (f"size {KIM} --shift 0.1,,0.1", "--shift is '0.1,,0.1', needs numbers"),
    (f"retime {KIM} motion.csv -o r.csv --platform-speed 1e400", "--platform-speed is inf, must be"),
    (f"retime {KIM} motion.csv -o r.csv --speed 1e308", "speed is 1e+308, must be 1e-09 to 1e+15"),
    (f"retime {KIM} motion.csv -o r.csv --power 1e-320", "power is 9.99989e-321, must be 1e-09 to"),
    (f"kinematics {KIM} motion.csv -o k.nc --leg-radius 1e308", "leg_radius is 1e+308 m, must be"),
    (f"workspace {KIM} --leg-radius 1e308", "leg_radius is 1e+308 m, must be"),
    (f"workspace {KIM} --orientation 0,0,1e30", "needs angles of at most 360 degrees"),
    (f"draw {KIM} -o d.png --pose rz=1e30", "needs angles of at most 360 degrees"),
    (f"draw {KIM} -o d.png --view 1e308,0", "needs angles of at most 360 degrees"),
    ("new hexaslide -o h.toml --rail-angle 1e308", "rail_angle is 1e+308 deg, must be at most 360"),
    (f"retime {KIM} motion.csv -o r.csv --platform-turn-rate 0", "needs a number above 0"),
    ("study study.toml --output=", "--output is empty; needs the name of a folder"),
    (f"export c {KIM} --output=", "'-o': empty; needs the name of a folder"),
    (f"export washout {KIM} --output=", "'-o': empty; needs the name of a folder"),
    ("reproduce all --output=", "'-o': empty; needs the name of a folder"),
    ("demo --output=", "'-o': empty; needs the name of a folder"),
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
    (f"forces {KIM} motion.csv -o f.csv --samples 9", "motion.csv has samples of its own"),
    (f"singularities {KIM} motion.csv --samples 9", "motion.csv has samples of its own"),
    (f"report {KIM} -o r.html --samples 9", "--samples is about a paper's motion: none is given"),
    (f"size {KIM} --shift 0.1 --samples 9", "--samples is about a paper's motion: none is given"),
    (f"singularities {KIM} --samples 9", "--samples is about a paper's motion: none is given"),
    (f"{CUE} --preview 5", "--preview is about the optimised cue: --classical makes none"),
    (f"workspace {KIM} --slice z=0.8", "--slice draws: needs -o with a name that ends in .png"),
    (f"workspace {KIM} --slice z=0.8 -o w.stl", "--slice draws: needs -o"),
    ("workspace shah-3rrr-2012 --leg-radius 0.1 --everywhere", "--leg-radius, --everywhere: need"),
    (f"stiffness {KIM} --stiffness 1e7 --slice z=0.8", "--slice and --points are about the map"),
    (f"stiffness {KIM} --measured motion.csv --load 1,1,1,1,1,1", "leave --load out"),
    (f"calibrate {KIM} measured.csv --turn 10", "they go with --plan"),
    (f"calibrate {KIM} --plan 12 --hold-back 0.5", "it takes no --hold-back"),
    (f"calibrate {KIM} a.csv --validate b.csv --hold-back 0.5", "give one of them"),
    (f"calibrate {KIM} measured.csv --fix legs.length --prior legs.length=1", "it takes no prior"),
    (f"identify {KIM} log.csv --no-friction --reference motion.csv", "for the method instrumental"),
    (f"size {KIM} motion.csv --efficiency 0.5", "need the screw's --lead or the gear's --ratio"),
    (f"size {KIM} motion.csv --steps 5", "--steps is about a region: none is given"),
    (f"size {KIM} --shift 0 --no-friction", "--no-friction and --commanded are about motions"),
    (f"size {KIM} --shift 0 --lead 0.01 --rated-torque 3", "rated_torque needs a motion, whose"),
    (f"size {KIM} --shift 0 --lead 0.01 --top-speed 9", "needs a motion or a region with twists"),
    (f"calibrate {KIM} --plan 12 --prior legs=1 --units mm", "it takes no --prior, --units"),
])  # fmt: skip
def test_options_that_would_do_nothing_are_refused(words, said, folder, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    assert said in command.refused(*words.split(), cwd=folder)


def test_a_calibration_may_look_for_the_frames_alone(folder, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    done = command.run("calibrate", KIM, "measured.csv", "--fix", "legs", "--json", cwd=folder)
    assert done.returncode == 0, done
    assert {(one["told"], one["unknowns"]) for one in json.loads(done.stdout)["per_leg"]} == {
        (0, 0)
    }


def test_units_of_a_log_are_those_of_its_reference_too(tmp_path):
    command.run("new", "motion", KIM, "-o", "motion.csv", cwd=tmp_path)
    command.run("new", "log", KIM, "-o", "log.csv", cwd=tmp_path)
    words = (
        f"identify {KIM} log.csv --no-friction --json --method instrumental --reference motion.csv"
    )
    plain = command.run(*words.split(), cwd=tmp_path)
    assert plain.returncode == 0, plain
    for name in ("motion.csv", "log.csv"):
        head, *rows = (tmp_path / name).read_text("utf-8").splitlines()
        assert head.startswith("time [s],")
        seconds = (row.split(",", 1) for row in rows)
        lines = [f"{1000 * float(time)!r},{rest}" for time, rest in seconds]
        text = "\n".join([head.replace("time [s]", "time"), *lines, ""])
        (tmp_path / name).write_text(text, "utf-8")
    scaled = command.run(*words.split(), "--units", "ms", cwd=tmp_path)
    assert scaled.returncode == 0, scaled
    values, expected = (
        [one["value"] for one in json.loads(done.stdout)["parameters"]] for done in (scaled, plain)
    )
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-6 * max(map(abs, expected)))
    other = command.run(*words.split()[:-1], "log.csv", "--units", "ms", cwd=tmp_path)
    assert "gough: log.csv: is a log with forces, not a motion" in other.stderr


def test_a_long_text_is_shortened(folder):
    said = command.refused("workspace", KIM, "--slice", "9" * 100_000, cwd=folder)
    assert "--slice has '999" in said
    assert said.endswith("names out of x, y, z\n")
    assert len(said) < 3000


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
