"""A short, always equal part of the campaign that `make fuzz` runs for as long as one likes."""

import random
import tomllib

import numpy as np
import pytest

from fuzz import states, trees
from fuzz.files import MAKERS, seeds
from fuzz.mutations import minimised, mutated
from fuzz.worker import OTHERS, case, run

CASES = {
    "robot": 12,
    "result": 3,
    "nastran": 12,
    "mjcf": 20,
    "urdf": 20,
    "call": 150,
    "command line": 12,
    "state": 0,
    "fault": 0,
    "signal": 0,
}
"""Cases of each kind, 40 of the others: seconds in all. Faults are in `test_faults.py`."""


@pytest.mark.second_tier
@pytest.mark.parametrize("kind", [*MAKERS, *OTHERS])
def test_no_case_ends_otherwise_than_in_an_error_of_gough(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    monkeypatch.setattr("fuzz.worker.MEGABYTES", 1e9)  # other tests' memory is in this process too
    run(kind, 0, 60.0, tmp_path / "failures", tmp_path / "current", CASES.get(kind, 40))
    assert "FAILED" not in capsys.readouterr().out
    assert not (tmp_path / "failures").exists()


@pytest.mark.second_tier
@pytest.mark.parametrize("kind", MAKERS)
def test_sound_files_are_read_and_mutations_come_again(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    monkeypatch.setattr("fuzz.worker.MEGABYTES", 1e9)
    for seed in seeds(tmp_path, kind):
        data = seed.path.read_bytes()
        assert case(data, seed) == ""
        first, second = (mutated(data, random.Random(5), seed.text) for _ in range(2))
        assert first == second


@pytest.mark.second_tier_from(2)
@pytest.mark.parametrize("seed", [0, 6, 12, 14, 17, 19])
def test_answers_agree_with_sixty_digits_or_are_refused(seed, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    error, where, refused = states.errors(seed, 6)
    assert error < states.LIMIT, where
    assert refused < 18


@pytest.mark.parametrize("seed", [71546, 71749])
def test_reactions_are_refused_where_forces_can_be_told_but_they_cannot(seed, monkeypatch):
    """Robots far from the world's origin: drives carry more than the legs push the platform with."""
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    error, where, _ = states.errors(seed, 500)
    assert error < states.LIMIT, where


def test_trees_come_again_and_most_are_toml_that_is_another(tmp_path):
    data = b'format = 1\nname = "x"\n[legs]\nbase = [[0, 1.5, 2], [3, 4, 5]]\nsmall = {a = true}\n'
    assert tomllib.loads(trees.text(tomllib.loads(data.decode()))) == tomllib.loads(data.decode())
    made = [trees.changed(data, data, random.Random(i)) for i in range(50)]
    assert made == [trees.changed(data, data, random.Random(i)) for i in range(50)]
    assert len({*made}) > 40
    for one in made:
        tomllib.loads(one.decode())


def test_failures_are_minimised():
    data = np.random.default_rng(0).bytes(2000) + b"needle" + bytes(500)
    assert minimised(data, lambda some: b"needle" in some) == b"needle"
