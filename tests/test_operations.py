"""Operation counts: the paper's table, met with fewer."""

from __future__ import annotations

import pytest

import gough
from cases.common import impossible_bodies
from gough.model.operation_count import PAPER, count, paper_robot
from gough.model.seven_processors import cut

TARGETS = {
    (52, "inverse"): 1458,
    (88, "inverse"): 1621,
    (52, "direct"): 2060,
    (88, "direct"): 2294,
}


@impossible_bodies
@pytest.mark.parametrize(("parameters", "model"), TARGETS)
def test_fewer_operations_than_the_paper(parameters, model):
    found = count(paper_robot(parameters), model, "lu")
    assert found.total < TARGETS[parameters, model]
    assert found.total < PAPER.get((model, parameters), 1e9)
    assert found.total == sum(found.kinds.values())
    assert min(found.kinematics, found.dynamics, found.solve) > 0


def test_an_accurate_solve_costs_three_hundred_more():
    robot = gough.load("kim-ryu-2002")
    accurate, fixed = count(robot, "inverse", "qr"), count(robot, "inverse", "lu")
    assert 200 < accurate.total - fixed.total < 400
    assert accurate.kinematics == fixed.kinematics


@impossible_bodies
@pytest.mark.parametrize(
    ("model", "solver", "stages", "paper"),
    [("inverse", "lu", (93, 207, 33, 164), 526), ("direct", "ldl", (60, 305, 138, 157), 801)],
)
def test_seven_processors(model, solver, stages, paper):
    """Stages sum to the critical path, all processors' work to the count on one."""
    robot = paper_robot(52)
    found = cut(robot, model, solver)
    assert (found.shared.total(), found.slowest.total()) == stages[:2]
    assert (found.gather.total(), found.solve.total()) == stages[2:]
    assert found.path.total() == sum(stages) < paper
    assert found.platform.total() < found.slowest.total()
    assert found.whole.total() == count(robot, model, solver).total
    least, *_, most = sorted(one.total() for one in found.legs)
    assert least == found.legs[0].total()  # leg 1 stands at both origins
    assert most == found.slowest.total()
