"""The papers' motions along which programs are compared, at a few samples."""

from __future__ import annotations

import numpy as np

import gough
from gough.data.paper_motions import kim_ryu_circle, paper_motion

SAMPLES = {
    "kim-ryu-2002/circle-40rpm": 61,
    "kim-ryu-2002/circle-120rpm": 61,
    "kim-ryu-2002/acceleration": 61,
    "sinatra-xi-staicu-2009/vertical": 31,
    "sinatra-xi-staicu-2009/horizontal": 31,
    "sinatra-xi-staicu-2009/rotation": 31,
    "long-khalil-martinet-2014/poses": 46,
}
"""Evenly over each motion; that of Long, Khalil & Martinet is taken with a rigid platform."""


def motion(case: str) -> gough.Motion:
    """The motion of a case; circles, which have no end, for 3 s as in the paper."""
    if "circle" in case:
        rpm = float(case.partition("circle-")[2].removesuffix("rpm"))
        return kim_ryu_circle(rpm)(np.linspace(0.0, 3.0, SAMPLES[case]))
    return paper_motion(case).sample(SAMPLES[case])


def robot(case: str) -> gough.Robot:
    """The rigid robot of a case."""
    return gough.load(case.partition("/")[0]).rigid


def flexible(case: str) -> gough.Robot:
    """The robot of a case as it is, flexible."""
    return gough.load(case.partition("/")[0])
