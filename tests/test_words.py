"""Numbers in words: bounds are rounded outward, what is counted has its plural."""

import numpy as np
import pytest

from gough.base.words import counted, lower, upper, within


@pytest.mark.parametrize("digits", [1, 2, 4])
def test_bounds_are_rounded_outward(digits):
    values = np.random.default_rng(1).normal(size=300) * 10.0 ** np.arange(-150, 150)
    for value in values.tolist():
        low, high = float(lower(value, digits)), float(upper(value, digits))
        assert low <= value <= high
        assert high - low <= 10.0 ** (1 - digits) * abs(value) * (1 + 1e-12)
    assert (lower(0.1, digits), upper(0.1, digits)) == ("0.1", "0.1")
    assert (lower(0.0, digits), upper(-0.0, digits).lstrip("-")) == ("0", "0")


def test_an_interval_as_written_holds_the_true_one():
    assert within(0.123449, 0.00012, 4, 1) == "0.1234 ± 0.0002"
    for value, error in np.random.default_rng(2).uniform(size=(300, 2)).tolist():
        middle, around = map(float, within(value, error / 100, 4, 1).split(" ± "))
        assert middle - around <= value - error / 100
        assert middle + around >= value + error / 100


def test_counts():
    assert [counted(n, "sample") for n in (0, 1, 2)] == ["0 samples", "1 sample", "2 samples"]
