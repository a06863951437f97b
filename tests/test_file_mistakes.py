"""What is wrong with a robot, simulation or study file is said in one way: one line, the nearest key."""

from __future__ import annotations

import pytest

from gough.base.words import nearest, shown
from gough.description.catalogue import catalogue_text
from gough.description.mistakes import parsed
from gough.description.schema import RobotFile
from gough.errors import FileError
from gough.simulation.config import SimulationFile
from gough.studies.plan import StudyFile

KIM = catalogue_text("kim-ryu-2002")
SIMULATION = (
    'robot = "r"\nmotion = { hold = true }\ncontroller = { kind = "legs pd", stiffness = 1 }\n'
)
STUDY = 'robot = "r"\nmotions = ["m"]\nsampling = {}\n'


def said(model, text):
    with pytest.raises(FileError) as trouble:
        parsed(text, "a.toml", "file of this kind", model)
    message = str(trouble.value)
    assert message.startswith("a.toml: ")
    assert "\n" not in message
    return message.removeprefix("a.toml: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (KIM + "\n[platfrom]\nmass = 1\n", "unknown key platfrom; the nearest known key is platform"),
        (KIM.replace("length =", "lenght ="),
         "unknown key legs.lenght; the nearest known key is length"),
        (KIM + "\n[[platform.payload]]\nmas = 1\n",
         "unknown key platform.payload.0.mas; the nearest known key is mass"),
        (KIM.replace("[platform]\n", "[platform]\nxX = 1\n"),
         "unknown key platform.xX; the nearest known key is XX"),
        (KIM.replace('kind = "PUS"', ""), "missing key legs.kind"),
        (KIM.replace('kind = "PUS"', 'kind = "SUP"'), "legs.kind needs 'UPS' or 'PUS' or 'RUS'"),
        (KIM.replace("format = 1", ""), "missing key format"),
        ("x" * 200 + " = 1\n" + KIM, f"unknown key {'x' * 80}; "),
        ("a = " + "[" * 5000, "not a file of this kind: brackets nested too deep"),
        ("a = " + "9" * 5000, "a number that is not finite"),
        ("a", "not TOML"),
    ],
    ids=lambda one: one[:30].strip(),
)  # fmt: skip
def test_robot_files(text, words):
    assert said(RobotFile, text).startswith(words)


@pytest.mark.parametrize(
    ("model", "text", "words"),
    [
        (SimulationFile, SIMULATION + "[sensors]\nnoisy = 1\n",
         "unknown key sensors.noisy; the nearest known key is noise"),
        (SimulationFile, SIMULATION + '[[disturbance]]\nkind = "push"\nforse = 1\n',
         "unknown key disturbance.0.forse; the nearest known key is force"),
        (SimulationFile, SIMULATION + '[[disturbance]]\nkind = "pull"\n', "disturbance.0.kind: "),
        (StudyFile, STUDY + "[variables]\nm = { form = 1, to = 2 }\n",
         "unknown key variables.m.form; the nearest known key is from"),
        (StudyFile, STUDY + "[variables]\nunit = { form = 1, to = 2 }\n",
         "unknown key variables.unit.form; the nearest known key is from"),
        (StudyFile, STUDY + '[tolerances]\n"legs.base" = { nromal = 1 }\n',
         "unknown key tolerances.legs.base.nromal; the nearest known key is normal"),
        (StudyFile, STUDY + "[smapling]\n", "unknown key smapling; the nearest known key is sampling"),
        (StudyFile, STUDY, "nothing varies: needs [variables] or [tolerances]"),
    ],
)  # fmt: skip
def test_simulation_and_study_files(model, text, words):
    assert said(model, text).startswith(words)


def test_the_nearest_name_has_its_own_letters():
    assert nearest("XX", ("xy", "XX", "mass")) == "XX"
    assert nearest("MASS", ("xy", "XX", "mass")) == "mass"
    assert nearest("", ("a",)) == "a"
    assert nearest("a" * 100_000, ("a", "b")) == "a"
    assert shown("x" * 100) == repr("x" * 40 + "…")
