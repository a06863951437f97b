"""Plates say where the theory of thin plates without in-plane flexibility ends."""

import re
import warnings

import numpy as np
import pytest

from calculix_files import BrickPlate
from gough.description.modal.plate import Material, plate_body
from gough.errors import ModalBodyWarning

NO_TIPS = np.zeros((0, 3))


def rectangle(x, y):
    return np.array([[-x, -y], [x, -y], [x, y], [-x, y]]) / 2


def body_and_warning(outline, material, modes):
    with pytest.warns(ModalBodyWarning) as caught:
        body = plate_body(outline, material, NO_TIPS, modes)
    return body, str(caught[0].message)


def test_a_thick_plate_is_off_by_about_what_the_warning_says(tmp_path):
    steel = Material(0.2, 7850.0, 2.1e11, 0.3)
    solid = BrickPlate((1.0, 1.0), (4, 4), steel).modes(tmp_path, "thick", 8)
    body, message = body_and_warning(rectangle(1, 1), steel, 1)
    truth = body.frequencies[0] / solid[solid > 10][0] - 1
    said = float(re.search(r"about (\d+) %", message)[1]) / 100
    assert 0.5 * truth < said < 1.5 * truth


def test_a_slender_plate_bends_in_its_plane_where_the_warning_says(tmp_path):
    steel = Material(0.03, 7850.0, 2.1e11, 0.3)
    plate = BrickPlate((2.0, 0.2), (20, 2), steel)
    solid = plate.modes(tmp_path, "slender", 14)
    body, message = body_and_warning(rectangle(2.0, 0.2), steel, 8)
    said = float(re.search(r"from about (\S+) Hz", message)[1])
    elastic = solid[solid > 5]
    # the mode of the solid that the plate has not
    lacking = [f for f in elastic if np.abs(body.frequencies / f - 1).min() > 0.04]
    assert abs(said / lacking[0] - 1) < 0.1


def test_thin_plates_are_not_warned_of_and_densities_of_grams_are():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plate_body(rectangle(1, 0.8), Material(0.02, 7850.0, 2.1e11, 0.3), NO_TIPS, 10)
    _, message = body_and_warning(rectangle(1, 0.8), Material(0.02, 7.85, 2.1e11, 0.3), 2)
    assert "density of 7.85" in message
