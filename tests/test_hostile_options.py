"""Options of commands with numbers that nobody can mean: refused in one line, by name and limit."""

import pytest

from cases import command
from fuzz import faults

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
    (f"{CUE} --tilt-rate nan", "tilt_rate is nan"),
    (f"{CUE} --scale 1e308", "scale is 1e+308, must be 1e-06 to 1e+06"),
    (f"export washout {KIM} -o w --step 1e-12", "step is 1e-12 s, must be 0.0001 to 0.1875 s"),
    (f"export washout {KIM} -o w --gain 1e308", "gain is 1e+308"),
    (f"export washout {KIM} -o w --rotation 1e160", "rotation is 1e+160"),
    (f"stiffness {KIM} --stiffness 1e308", "stiffnesses over 0 N/m, 1e+18 at most"),
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
