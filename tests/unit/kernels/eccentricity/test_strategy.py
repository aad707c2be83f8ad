"""Which step is next: the choices of cores and of GPUs, written down as tables."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from kernels._cpu import near_steps
from kernels.eccentricity import CLUSTER, CORE, GPU, Facts, Strategy, choose_step
from kernels.eccentricity.searches.sweep import FEW_LANES, MANY_LANES

LETTERS = {"far": "f", "alternate": "a", "pairs": "p", "sweep": "s", "every": "e"}
N_SEARCHES = (3, 4, 12, 40, 200)
N_PENDING = (1, 4, 5, 7, 25, 30, 65, 600, 5000, 10**6)

DIAMETER = {"is_diameter": True}
PAIRS = {"is_diameter": True, "n_pairs": 1e6}
MANY_PAIRS = {"is_diameter": True, "n_pairs": 3e7}
KNOWN_PAIRS = {"is_diameter": True, "n_pairs": 3e7, "has_landmarks": True}
PAIRED = {"is_diameter": True, "has_landmarks": True, "is_paired": True}
OTHERS = {"is_diameter": False}

# A word for each number of searches, a letter for each number of pending nodes.
ON_CORES = [
    (DIAMETER, 10, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaassssss ffaassssss"),
    (DIAMETER, 40, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaaasss"),
    (DIAMETER, 300, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa"),
    (PAIRS, 10, "ffaaaaaaaa ffappppppp ffappppppp ffappppppp ffappppppp"),
    (PAIRS, 40, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaappppp ffaaappppp"),
    (PAIRS, 300, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa"),
    (MANY_PAIRS, 10, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaapppppp ffaapppppp"),
    (MANY_PAIRS, 40, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaapppp ffaaaapppp"),
    (KNOWN_PAIRS, 10, "ffaaaaaaaa ffaaaaaaaa ffaapppppp ffaapppppp ffaapppppp"),
    (KNOWN_PAIRS, 300, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaapppppp"),
    (PAIRED, 10, "ffaaaaaaaa fffsssssss fffsssssss fffsssssss fffsssssss"),
    (PAIRED, 40, "ffaaaaaaaa ffaaaaaaaa fffffsssss fffffsssss fffffsssss"),
    (PAIRED, 300, "ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa ffaaaaaaaa fffffffsss"),
    (OTHERS, 10, "aaaaaaaaaa aaaaasssss aaaaasssss aaaaasssss aaaaasssss"),
    (OTHERS, 40, "aaaaaaaaaa aaaaaaaaaa aaaaaaasss aaaaaaasss aaaaaaasss"),
    (OTHERS, 300, "aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaass"),
]


@pytest.mark.parametrize(("known", "longest", "expected"), ON_CORES)
def test_steps_on_cores(known, longest, expected):
    def step(n_searches: int, n_pending: int) -> str:
        numbers = {"n_searches": n_searches, "longest": longest, "n_pending": n_pending}
        return LETTERS[choose_step(Facts(**known, **numbers, search_ns=1e6), CORE)]

    words = ["".join(step(n, count) for count in N_PENDING) for n in N_SEARCHES]
    assert " ".join(words) == expected


# Searches before the question, pending at each of its choices, and the steps chosen.
ON_A_GPU = [
    (0, [10**6] * 12, "aaaaaassssss"),
    (9, [10**6] * 6, "aassss"),
    (0, [*range(10**6, 3 * 10**5, -(10**5)), 3 * 10**5, 3 * 10**5, 3 * 10**5], "aaaaaaaaas"),
    (1, [4000, 3900, 3800, 3700, 3600, 3500, 3500, 3400], "aaaaaaas"),
    (0, [200, 150, 100, 50, 30, 20, 10, 4, 3, 2], "aaaasssfff"),
    (4, [200, 100, 3, 1], "ssff"),
    (6, [2000, 1900, 1743, 1700, 1500, 1300, 1200, 1190, 1180, 900, 5, 4], "aaaaaaaasssf"),
    (2, [700, 600, 512, 300, 256, 200, 4], "aaaassf"),
    (0, [3, 2, 1], "fff"),
    (5, [5000, 5000, 5, 4], "aasf"),
]


def steps_on_a_gpu(n_searches: int, pending: list[int], thresholds=GPU) -> str:
    """As ``DeviceSolver.answer`` asks, where each step searches once."""
    left, steps = [], ""
    for n_pending in pending:
        left.append((n_searches, math.ceil(n_pending / GPU.many_lanes)))
        now = Facts(False, n_searches, 0, n_pending, left=left, has_swept="s" in steps)
        steps += LETTERS[choose_step(now, thresholds)]
        n_searches += 1
    return steps


@pytest.mark.parametrize(("n_searches", "pending", "expected"), ON_A_GPU)
def test_steps_on_a_gpu(n_searches, pending, expected):
    assert steps_on_a_gpu(n_searches, pending) == expected


def test_other_thresholds_choose_other_steps():
    pending = [10**6] * 8
    assert steps_on_a_gpu(0, pending, replace(GPU, n_first=2)) == "aaaassss"
    assert steps_on_a_gpu(0, pending, replace(GPU, patience=1, sweep_searches=0)) == "aaaaasss"
    assert steps_on_a_gpu(0, pending, replace(GPU, few=10**6)) == "ffffffff"
    now = Facts(False, 20, 10, 20)
    assert choose_step(now, CORE) == "alternate"
    assert choose_step(now, replace(CORE, many_lanes_searches=19)) == "sweep"


def test_prices_decide_where_they_are_known():
    now = Facts(True, 4, 10, 100, prices=(1.0, 0.9))
    assert choose_step(now, CLUSTER) == "sweep"
    assert choose_step(replace(now, strategy=Strategy(sweeps=False)), CLUSTER) == "alternate"
    assert choose_step(replace(now, prices=(1.0, 1.0)), CLUSTER) == "alternate"
    assert choose_step(replace(now, n_searches=3), CLUSTER) == "alternate"
    assert choose_step(replace(now, longest=20), CLUSTER) == "alternate"
    assert choose_step(replace(now, n_pending=4), CLUSTER) == "far"


def test_lanes_of_the_choices_are_those_of_the_sweeps():
    assert (CORE.few_lanes, CORE.many_lanes) == (FEW_LANES, MANY_LANES)
    assert near_steps.LANES == MANY_LANES
