"""Kernels are kept for the function itself: never another one's of the same name, never a stale one."""

import importlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import gough
from gough.base import sources
from gough.engine.functions import Fields
from gough.engine.run import compiled, identity
from gough.engine.run.compiled import CompiledExecutor

FIELDS = Fields({"x": (2,)}, lambda arrays: arrays["x"])
ROWS = {"x": np.array([[1.0, 2.0], [3.0, 5.0]])}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_kernels", {})
    identity.content_digest.cache_clear()
    yield tmp_path / "cache"
    identity.content_digest.cache_clear()


def made(factor):
    """A function called bias, one of many."""

    def bias(numbers, x):
        return {"bias": factor * x * numbers[0]}

    return bias


def ask(function, number=2.0):
    return CompiledExecutor((np.array([number]),), FIELDS)(function, 2, ROWS)["bias"]


def test_two_functions_of_one_name_have_two_kernels(folder):
    first, second = made(10.0), made(100.0)
    assert first.__qualname__ == second.__qualname__
    run = CompiledExecutor((np.array([2.0]),), FIELDS)
    for _ in range(2):
        np.testing.assert_array_equal(run(first, 2, ROWS)["bias"], 20 * ROWS["x"])
        np.testing.assert_array_equal(run(second, 2, ROWS)["bias"], 200 * ROWS["x"])
    assert len(list(folder.glob("*.kernel"))) == 2


def test_the_same_function_made_again_finds_its_kernel_on_disk(folder):
    ask(made(10.0))
    compiled._kernels.clear()
    ask(made(10.0))
    (kernel,) = compiled._kernels.values()
    assert kernel.from_disk
    assert len(list(folder.glob("*.kernel"))) == 1


def test_what_nobody_can_compare_is_not_kept(folder):
    class Gain:
        value = 10.0

    gain = Gain()

    def bias(numbers, x):
        return {"bias": gain.value * x * numbers[0]}

    assert identity.identity(bias) is None
    np.testing.assert_array_equal(ask(bias), 20 * ROWS["x"])
    assert not list(folder.glob("*.kernel"))


def changed(*constants):
    """Identities of functions that differ in one thing each."""

    def plain(numbers, x):
        return {"bias": x * 2.0}

    def constant(numbers, x):
        return {"bias": x * 3.0}

    def called(numbers, x):
        return {"bias": np.sqrt(x) * 2.0}

    def other(numbers, x):
        return {"bias": np.abs(x) * 2.0}

    def default(numbers, x, times=2.0):
        return {"bias": x * times}

    def another_default(numbers, x, times=3.0):
        return {"bias": x * times}

    def nested(numbers, x):
        return {"bias": sum(y * 2.0 for y in x)}

    def otherwise_nested(numbers, x):
        return {"bias": sum(y * 3.0 for y in x)}

    functions = [plain, constant, called, other, default, another_default, nested, otherwise_nested]
    functions += [made(value) for value in (1.0, 2.0, (1, 2), (2, 1), np.ones(2), np.zeros(2))]
    functions += [made(made(1.0)), made(made(2.0))]
    for one in functions:
        one.__qualname__ = "bias"
    return [identity.identity(one) for one in functions]


def test_code_constants_names_defaults_and_closures_tell_functions_apart():
    found = changed()
    assert None not in found
    assert len(set(found)) == len(found)
    assert found == changed()


SCRIPT = """
    import json, sys
    import numpy as np
    from gough.engine.functions import Fields
    from gough.engine.run import compiled
    from bias_of_somebody import bias, state

    run = compiled.CompiledExecutor((np.array([2.0]),), Fields({"x": (2,)}, state))
    found = run(bias, 2, {"x": np.array([[1.0, 2.0], [3.0, 5.0]])})["bias"]
    (kernel,) = compiled._kernels.values()
    print(json.dumps([found.tolist(), kernel.from_disk]))
"""
MODULE = """
    from gains import gain

    def state(arrays):
        return arrays["x"]

    def bias(numbers, x):
        return {"bias": gain(x) * numbers[0]}
"""


def run(place, folder):
    """Answer, and whether the kernel was on disk, of a process of its own."""
    result = subprocess.run(
        [sys.executable, "-B", "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=place,
        env={**os.environ, "GOUGH_CACHE": str(folder)},
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def write(place, factor, time):
    place.mkdir(exist_ok=True)
    (place / "bias_of_somebody.py").write_text(textwrap.dedent(MODULE))
    (place / "gains.py").write_text(f"def gain(x):\n    return {factor} * x\n")
    for file in place.glob("*.py"):
        os.utime(file, (time, time))


def test_another_process_gets_its_own_function_and_never_another_one(tmp_path, folder):
    """Two modules of one name in two folders, and one whose neighbour is edited."""
    write(tmp_path / "one", 10.0, 1000)
    write(tmp_path / "two", 30.0, 1000)
    x = ROWS["x"]
    assert run(tmp_path / "one", folder) == [(20 * x).tolist(), False]
    assert run(tmp_path / "two", folder) == [(60 * x).tolist(), False]
    assert run(tmp_path / "one", folder) == [(20 * x).tolist(), True]
    write(tmp_path / "one", 40.0, 2000)
    assert run(tmp_path / "one", folder) == [(80 * x).tolist(), False]
    assert run(tmp_path / "two", folder) == [(60 * x).tolist(), True]


ROOT = Path(gough.__file__).parent
DEPENDS = {
    "gough.mechanics.programs.inverse_dynamics": {"mechanics", "legs", "engine"},
    "gough.model.derivative_programs.inverse_forward": {"mechanics", "legs", "engine", "model"},
    "gough.simulation.programs.rates": {"mechanics", "legs", "engine", "simulation"},
}


@pytest.mark.parametrize("name", DEPENDS)
def test_a_kernel_depends_on_its_equations_and_the_engine_and_not_on_the_command_line(
    name, monkeypatch
):
    """An edited file changes exactly the kernels that it may have changed."""
    module, function = name.rsplit(".", 1)
    program = getattr(importlib.import_module(module), function)
    mechanism = gough.load("kim-ryu-2002").mechanism
    asked = []
    monkeypatch.setattr(compiled.disk, "load_or_make", lambda key, *_: asked.append(key))

    def key():
        compiled._kernels.clear()
        compiled.kernel_for(
            program, mechanism, compiled.structure(mechanism), FIELDS._replace(make=program), {}
        )
        return asked[-1]

    before = key()
    assert before is not None
    true_text = sources.text_of
    areas = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())
    touched = set()
    for area in areas:
        edited = str(next(iter(sorted((ROOT / area).glob("*.py")))))

        def text_of(path, edited=edited):
            return true_text(path) + (b"#" if path == edited else b"")

        identity.content_digest.cache_clear()
        monkeypatch.setattr(sources, "text_of", text_of)
        if key() != before:
            touched.add(area)
        monkeypatch.setattr(sources, "text_of", true_text)
    identity.content_digest.cache_clear()
    assert key() == before
    assert touched == DEPENDS[name]
    assert "cli" in areas
