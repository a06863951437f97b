"""Many flexible robots in one kernel: each has the tables and matrices of its own modes."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cases.robots import random_flexible
from gough import Motion
from gough.engine.functions import VARIANT
from gough.engine.run import variants
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.engine.run.variants import CompiledVariants
from gough.engine.tree import leaves, replaced
from gough.mechanics import programs
from gough.mechanics.state import ELASTIC_FIELDS, RIGID_FIELDS
from gough.model.execution import fields_of

pytestmark = pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning")
ASKED = {
    programs.inverse_dynamics: ("wrench",),
    programs.direct_dynamics: ("forces", "wrench"),
    programs.bias: (),
    programs.energy: (),
}


def robots(kind, modes, general, count=3):
    """Mechanisms, the same as one, states (2 a robot) and which each belongs to."""
    rng = np.random.default_rng([modes, count])
    found = [random_flexible(rng, kind, modes, general=general) for _ in range(count)]
    each = [robot.mechanism for robot, _, _ in found]
    columns = zip(*(leaves(one) for one in each), strict=True)
    many = replaced(
        each[0], (np.concatenate([leaf.values for leaf in one], axis=-1) for one in columns)
    )
    motions = [Motion(**state) for _, _, state in found] * 2
    fields = {
        name: np.stack([getattr(one, name) for one in motions])
        for name in (*RIGID_FIELDS, *ELASTIC_FIELDS)
    }
    rows = 2 * count
    fields["wrench"] = 50 * rng.normal(size=(rows, 6))
    fields["forces"] = 50 * rng.normal(size=(rows, 6))
    return each, many, fields, np.tile(np.arange(count), 2)


@pytest.mark.parametrize("run", [CompiledVariants, NumPyExecutor])
@pytest.mark.parametrize(
    ("kind", "modes", "general"), [("UPS", 4, True), ("PUS", 3, False), ("PUS", 1, True)]
)
def test_each_robot_gets_what_it_gets_alone(run, kind, modes, general, monkeypatch):
    each, many, fields, which = robots(kind, modes, general)
    together = run(many, fields_of(many))
    for function, inputs in ASKED.items():
        given = {n: v for n, v in fields.items() if n in inputs or n in together.fields.shapes}
        found = together(function, len(which), given | {VARIANT: which})
        for k, one in enumerate(each):
            mine = which == k
            alone = CompiledExecutor(one, fields_of(one))
            expected = alone(function, 2, {n: v[mine] for n, v in given.items()})
            for name, value in expected.items():
                scale = np.abs(value).max(initial=1e-12)
                assert_allclose(found[name][mine], value, rtol=0, atol=1e-12 * scale)
        if run is CompiledVariants:
            monkeypatch.setattr(variants, "TOGETHER", 2)
            again = run(many, fields_of(many))(function, len(which), given | {VARIANT: which})
            monkeypatch.undo()
            for name, value in found.items():
                assert_array_equal(again[name], value)


def test_a_matrix_that_is_full_in_one_robot_is_full_in_all():
    each, _, fields, _ = robots("UPS", 4, True, count=2)
    platform = each[1].platform
    diagonal = platform.modes.couplings.stiffness * np.eye(4)[..., np.newaxis]
    pairs = replace(platform.modes.couplings, stiffness=diagonal, damping=0 * diagonal)
    platform = replace(platform, modes=replace(platform.modes, couplings=pairs))
    each[1] = each[1]._replace(platform=platform)
    columns = zip(*(leaves(one) for one in each), strict=True)
    many = replaced(
        each[0], (np.concatenate([leaf.values for leaf in one], axis=-1) for one in columns)
    )
    given = {n: v[:2] for n, v in fields.items() if n in fields_of(many).shapes}
    which = np.arange(2)
    found = CompiledVariants(many, fields_of(many))(programs.bias, 2, given | {VARIANT: which})
    for k, one in enumerate(each):
        alone = CompiledExecutor(one, fields_of(one))
        expected = alone(programs.bias, 1, {n: v[k : k + 1] for n, v in given.items()})
        assert_allclose(found["elastic"][k], expected["elastic"][0], rtol=1e-12)
