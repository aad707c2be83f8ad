"""Weights by law: within it, seeded, and refused with what is taken."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.config.values import weight_law
from pipeline.errors import UsageError
from pipeline.generate import Parameters, generate


def weights(law: str, seed: int = 1) -> np.ndarray:
    given = Parameters(n_routers=2000, m=3, weights=law, seed=seed)
    topology = generate("ba", given)
    assert topology.weight_unit == "length"
    assert (topology.weight.dtype, len(topology.weight)) == (np.float32, topology.n_links)
    return topology.weight


def test_each_law_draws_from_its_range():
    whole = weights("whole:1:4")
    assert np.unique(whole).tolist() == [1, 2, 3, 4]
    assert np.abs(np.bincount(whole.astype(int))[1:] / len(whole) - 0.25).max() < 0.03
    uniform = weights("uniform:0.5:2")
    assert uniform.min() >= 0.5
    assert uniform.max() <= 2
    assert abs(uniform.mean() - 1.25) < 0.03
    exponential = weights("exponential:10")
    assert exponential.min() >= 0
    assert abs(exponential.mean() - 10) < 0.5


def test_the_seed_decides():
    assert np.array_equal(weights("whole:1:9", 5), weights("whole:1:9", 5))
    assert not np.array_equal(weights("whole:1:9", 5), weights("whole:1:9", 6))


@pytest.mark.parametrize(
    "law",
    [
        *("", "gauss:1:2", "whole:1", "whole:2:1", "whole:1.5:2", "uniform:-1:2"),
        *("exponential:0", "uniform:nan:1", "whole:1:1e9", "uniform:a:b", "exponential:inf"),
    ],
)
def test_a_wrong_law_is_refused(law):
    with pytest.raises(ValueError, match="whole:LOW:HIGH"):
        weight_law(law)
    with pytest.raises(UsageError, match=r"give whole:LOW:HIGH"):
        weights(law)
