"""Groups that are left out, since nothing around them has changed, would stay where they are."""

import numpy as np
import pytest

from pipeline.infer.owners.election import settling
from pipeline.infer.owners.election.costs import Case, Costs, by_habit, cost_of
from pipeline.infer.owners.election.near import find_near
from pipeline.infer.owners.election.relations import relations_among
from pipeline.infer.owners.election.settling import settle_together
from pipeline.infer.owners.election.surroundings import (
    ADJACENCY,
    AIMED,
    AIMED_BROKEN,
    AIMED_PERHAPS,
    CROSSED,
    HOST,
    HOST_OR_ROUTER,
    PRIVATE,
    UNNUMBERED,
    Surroundings,
)
from pipeline.infer.rule import EVERY_RULE
from pipeline.model.columns.ragged import offsets
from pipeline.model.tables.registries import Registries

N_ASES, MOST, MOST_LOST = 12, 40, 100
ENDS = (HOST, HOST_OR_ROUTER, AIMED, AIMED_PERHAPS, AIMED_BROKEN)


def drawn(seed, siblings):
    """Routers linked at random, some listed at one end only, with hosts and destinations."""
    rng = np.random.default_rng(seed)
    n = 120
    true = rng.integers(0, N_ASES, n)
    entries = [[] for _ in range(n)]
    for _ in range(260):
        one, other = rng.choice(n, 2, replace=False).tolist()
        if rng.random() < 0.6:
            other = int(rng.choice(np.flatnonzero(true == true[one])))
        if one == other:
            continue
        by = int(rng.choice([true[one], true[other], true[other], rng.integers(0, N_ASES)]))
        kind = int(rng.choice([by, by, by, ADJACENCY, UNNUMBERED, PRIVATE, -1]))
        entries[one].append((other, kind))
        if kind != ADJACENCY or rng.random() < 0.7:
            entries[other].append((one, kind))
    for router in range(n):
        for _ in range(rng.integers(0, 3)):
            asn = int(rng.choice([true[router], rng.integers(0, N_ASES)]))
            entries[router].append((int(rng.choice(ENDS)), asn))
        if rng.random() < 0.3:
            entries[router].append((CROSSED, -1))
    ptr = offsets(np.array([len(rows) for rows in entries]))
    other, numbered = np.array([row for rows in entries for row in sorted(rows)]).T
    relations = relations_among(np.arange(1, N_ASES + 1), Registries())
    if siblings:
        relations.organisation[:6] = [0, 0, 1, 1, 2, 2]
    seen = np.array([[3.0, 9.0], [7.0, 3.0], [2.0, 6.0]])
    size = rng.integers(1, 90, N_ASES)
    carries = rng.random(N_ASES + 1) < 0.7
    carries[-1] = True
    return Case.of(
        Surroundings(ptr, other, numbered),
        rng.integers(0, N_ASES, n),
        size,
        N_ASES,
        by_habit(relations, seen),
        np.full(n, -1),
        Costs.of(EVERY_RULE),
        carries,
    )


def sweep(case):
    for _ in range(20):
        changed = False
        for group in np.flatnonzero(np.diff(case.ptr)):
            tried = case.near[: find_near(case, group, case.held[group])].copy()
            costs = [cost_of(case, group, row) for row in tried]
            best = tried[np.argmin(costs)]
            changed |= best != case.labels[group]
            case.labels[group] = best
        if not changed:
            return


def saved_by(case, group, to):
    return cost_of(case, group, case.labels[group]) - cost_of(case, group, to)


def grow(case, first, to):
    """Move a region from a group on, without any bound."""
    labels = case.labels
    before, region, ties = labels.copy(), [first], []
    saved = saved_by(case, first, to)
    labels[first] = to
    best, n_best = max(saved, 0), int(saved > 0)
    at = tie = 0
    while len(region) < MOST and (at < len(region) or tie < len(ties)):
        if at < len(region):
            here = region[at]
            at += 1
            for far in case.other[case.ptr[here] : case.ptr[here + 1]]:
                if far < 0 or far in region or labels[far] == to or len(region) == MOST:
                    continue
                more = saved_by(case, far, to)
                if more > 0:
                    saved += more
                    labels[far] = to
                    region.append(far)
                    if saved > best:
                        best, n_best = saved, len(region)
                elif more == 0 and len(ties) < MOST:
                    ties.append(far)
        else:
            far = ties[tie]
            tie += 1
            if far not in region and saved_by(case, far, to) == 0:
                labels[far] = to
                region.append(far)
    back = region[n_best:]
    labels[back] = before[back]


def plainly(case):
    """What ``settle_together`` does, with every group tried in every round."""
    fewest = len(case.labels) + 1
    for _ in range(20):
        sweep(case)
        before = case.labels.copy()
        for group in range(len(case.labels)):
            for to in case.near[1 : find_near(case, group, -1)].copy():
                if saved_by(case, group, to) >= -MOST_LOST:
                    grow(case, group, to)
        n_moved = int(np.count_nonzero(case.labels != before))
        if n_moved == 0 or n_moved >= fewest:
            return
        fewest = n_moved


@pytest.mark.parametrize("siblings", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_ases_as_if_every_group_were_tried_each_time(seed, siblings):
    case = drawn(seed, siblings)
    plain = case._replace(labels=case.labels.copy())
    plainly(plain)
    settle_together(case)
    np.testing.assert_array_equal(case.labels, plain.labels)
    assert settling.find_margins(case, -1).min() >= 0
