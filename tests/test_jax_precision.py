"""JAX functions refuse single precision at each trace, whenever and however it was chosen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import gough
from gough.errors import InputError

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.usefixtures("on_numpy", "in_double")


@pytest.fixture
def in_double() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("program", ["inverse_kinematics", "mass_matrix"])
def test_a_function_refuses_single_precision_that_comes_later(program: str) -> None:
    robot = gough.load("kim-ryu-2002")
    made = robot.to_jax(program)
    fast = jax.jit(made)
    pose = {"position": robot.home.position, "rotation": robot.home.rotation}
    poses = {name: np.stack([value, value]) for name, value in pose.items()}
    assert {value.dtype.name for value in fast(pose).values()} == {"float64"}
    with jax.enable_x64(False), pytest.raises(InputError, match="single precision"):
        made(pose)
    jax.config.update("jax_enable_x64", False)
    for function in (made, fast, jax.jit(made)):
        with pytest.raises(InputError, match=r"single precision.*jax_enable_x64"):
            function(pose)
    with pytest.raises(InputError, match="single precision"):
        jax.vmap(made)(poses)
    jax.config.update("jax_enable_x64", True)
    assert {value.dtype.name for value in fast(pose).values()} == {"float64"}
