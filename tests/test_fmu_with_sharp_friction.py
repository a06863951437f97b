"""An FMU of a robot with Coulomb friction and no width runs in real time, held or pushed."""

from __future__ import annotations

import time
import zipfile

import pytest

import gough
from cases.exported import COMPILER
from gough.exchange.fmu import export_fmu
from gough.exchange.fmu.parameters import with_width

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed")

pytestmark = [
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine"),
]


def test_the_readmes_fmu_runs_in_real_time_and_says_its_width(tmp_path):
    """kim-ryu-2002 at rest under friction without width: it took 71 s for half a second."""
    import numpy as np

    path = export_fmu(gough.load("kim-ryu-2002"), tmp_path / "kim.fmu")
    begin = time.process_time()
    push = np.array(
        [(0.0, 0.0), (0.1, 30.0), (0.5, -30.0)], dtype=[("time", float), ("wrench[1]", float)]
    )
    run = fmpy.simulate_fmu(str(path), stop_time=0.5, output_interval=0.01, input=push)
    assert time.process_time() - begin < 0.5
    assert run["time"][-1] == pytest.approx(0.5)
    assert abs(run["position[1]"][-1]) > 1e-6
    text = zipfile.ZipFile(path).read("modelDescription.xml").decode()
    assert "has one of 0.001 m/s" in text


def test_a_width_of_the_file_stays_and_joints_of_chains_get_one():
    smooth = gough.load("kim-ryu-2002").edited({"legs.friction.width": 0.02})
    assert with_width(smooth) is smooth
    frictionless = gough.load("chablat-orthoglide-2003")
    assert with_width(frictionless) is frictionless
    joint = gough.load("shah-3rrr-2012").edited({"legs.0.joints.1.coulomb": 0.1})
    assert "width = 0.001" in with_width(joint).text
