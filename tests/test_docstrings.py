"""The examples in the docstrings of what users call are true."""

import doctest
from importlib import import_module

import pytest

import gough

PLACES = ("model.calls", "model.described", "model.model", "motion", "results", "robot")


@pytest.mark.second_tier
@pytest.mark.filterwarnings("ignore::gough.errors.ImpossibleBodyWarning")
@pytest.mark.parametrize("name", [*PLACES])
def test_examples_give_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(import_module(f"gough.{name}"), extraglobs={"gough": gough})
    assert found.attempted > 0
    assert found.failed == 0
